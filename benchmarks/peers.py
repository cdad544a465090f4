"""What a user would pick instead, given the same texts, the same questions and the same static embedder.

Chroma and mem0 (`infer=False`) with their defaults, in an environment of their own that is made here with pip and kept
between runs. Each is run by this same file in that environment. Both get whole messages, one vector each: cutting into
passages is Recollect's own doing. mem0 takes one message at a time, as its interface does; Chroma takes 5,000 at once.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGES = ("chromadb", "mem0ai")
SOURCE = Path(__file__).resolve().parents[1] / "src"
BATCH = 5_000
ADDING_SECONDS = 600
"""Longer than this nobody is waited for: what is in by then is searched, and the figures say how much that is."""

Texts = Sequence[str]


def compare(cache: Path, texts: Iterator[str], questions: Texts) -> dict[str, Any]:
    """Each peer's figures; for one that cannot be had, why."""
    from recollect.embedding.installed import static_files

    python, problem = _environment(cache / "peers")
    if problem:
        return {"skipped": problem}
    with tempfile.TemporaryDirectory(dir=cache) as name:
        folder = Path(name)
        with (folder / "texts.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
        (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
        (folder / "model.json").write_text(json.dumps([str(path) for path in static_files()]), encoding="utf-8")
        found: dict[str, Any] = {}
        for peer in PEERS:
            found[peer] = _run(python, peer, folder)
            print(f"  {peer} {found[peer]}", file=sys.stderr)
        return found


def _environment(folder: Path) -> tuple[Path, str]:
    """A Python that has the peers, and why there is none."""
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "-q", *PACKAGES], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return python, f"pip cannot install {', '.join(PACKAGES)}: {done.stderr.strip()[-300:]}"
        ready.touch()
    return python, ""


def _run(python: Path, peer: str, folder: Path) -> dict[str, Any]:
    # Neither may call home while it is measured.
    quiet = {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0-home")}
    environment = {**os.environ, **quiet, "PYTHONPATH": str(SOURCE), "OPENAI_API_KEY": "unused"}
    command = [str(python), __file__, peer, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"skipped": done.stderr.strip()[-300:]}
    return json.loads(done.stdout.splitlines()[-1])


# In the environment of the peers


def chroma(folder: Path, texts: Texts, embed: Callable[[Texts], Any]) -> tuple[int, float, Callable[[str], Any]]:
    import chromadb

    class Static(chromadb.EmbeddingFunction[Any]):
        def __init__(self) -> None:
            pass

        def __call__(self, input: Any) -> Any:  # noqa: A002
            return list(embed(input))

    client = chromadb.PersistentClient(path=str(folder / "chroma"))
    collection = client.create_collection(
        "messages", embedding_function=Static(), configuration={"hnsw": {"space": "cosine"}}
    )
    started = time.perf_counter()
    added = 0
    for start in range(0, len(texts), BATCH):
        part = list(texts[start : start + BATCH])
        collection.add(ids=[str(start + number) for number in range(len(part))], documents=part)
        added += len(part)
        if time.perf_counter() - started > ADDING_SECONDS:
            break
    seconds = time.perf_counter() - started
    return added, seconds, lambda text: collection.query(query_texts=[text], n_results=10)


def mem0(folder: Path, texts: Texts, embed: Callable[[Texts], Any]) -> tuple[int, float, Callable[[str], Any]]:
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase
    from mem0.utils.factory import EmbedderFactory

    class Static(EmbeddingBase):
        def embed(self, text: str, memory_action: Any = None) -> list[float]:
            return embed([text])[0].tolist()

    EmbedderFactory.create = classmethod(lambda *_: Static())
    dimensions = len(embed(["a"])[0])
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": dimensions, "on_disk": True}
    memory = Memory.from_config(
        {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
    )
    started = time.perf_counter()
    added = 0
    for text in texts:
        memory.add([{"role": "user", "content": text}], user_id="ada", infer=False)
        added += 1
        if time.perf_counter() - started > ADDING_SECONDS:
            break
    seconds = time.perf_counter() - started
    return added, seconds, lambda text: memory.search(text, filters={"user_id": "ada"}, top_k=10)


PEERS = {"chroma": chroma, "mem0": mem0}


def main(peer: str, folder: Path) -> None:
    from recollect.embedding.static import StaticEmbedder

    model = StaticEmbedder(*(Path(path) for path in json.loads((folder / "model.json").read_text(encoding="utf-8"))))
    with (folder / "texts.jsonl").open(encoding="utf-8") as file:
        texts = [json.loads(line) for line in file]
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    own = folder / peer
    own.mkdir()
    added, seconds, search = PEERS[peer](own, texts, model.passages)
    for text in questions[:10]:
        search(text)
    taken: list[float] = []
    for text in questions:
        started = time.perf_counter()
        search(text)
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    figures = {
        "messages": added,
        "microseconds_per_message": round(seconds * 1e6 / added, 1),
        "p50": round(taken[len(taken) // 2], 2),
        "p95": round(taken[len(taken) * 95 // 100], 2),
        "megabytes": sum(path.stat().st_size for path in own.rglob("*") if path.is_file()) // 1_000_000,
    }
    print(json.dumps(figures))
    sys.stdout.flush()
    os._exit(0)  # Their threads need not be waited for.


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
