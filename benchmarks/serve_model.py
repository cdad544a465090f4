"""A real small model on this computer, behind OpenAI's API, for as long as this runs (Ctrl-C ends it).

    .venv/bin/python scripts/fetch_weights.py qwen
    .venv/bin/python benchmarks/serve_model.py qwen --port 18080
    .venv/bin/python benchmarks/librarian.py benchmarks/librarian/test --model http://127.0.0.1:18080/v1#qwen

`qwen` is Qwen2.5-Coder-1.5B-Instruct (1.1 GB, some 2 GB of memory): the smallest that files usable facts. `smollm2` is
SmolLM2-135M-Instruct, which keeps to a schema and understands nothing.
"""

import argparse
import sys
import threading
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from model.servers import THREADS, NotServed, served
from model.weights import KNOWN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=list(KNOWN))
    parser.add_argument("--port", type=int, default=18_080)
    parser.add_argument("--threads", type=int, default=THREADS)
    chosen = parser.parse_args()
    try:
        with served(chosen.name, port=chosen.port, threads=chosen.threads) as model:
            print(model.setting, flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    except NotServed as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
