"""Fetch what `make test-model` and benchmarks/serve_model.py run: a server for models, and weights (1.2 GB, once).

python scripts/fetch_weights.py [smollm2] [qwen]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from model.weights import KNOWN, SERVER, fetch, install_server, is_server_installed, missing


def main(names: list[str]) -> None:
    if unknown := set(names) - set(KNOWN):
        sys.exit(f"No such model: {', '.join(sorted(unknown))}. There are: {', '.join(KNOWN)}.")
    if not is_server_installed():
        print(f"Installing {SERVER}", flush=True)
        install_server()
    for weights in (KNOWN[name] for name in names or KNOWN):
        if missing(weights):
            print(f"Fetching {weights.name} ({weights.size_bytes / 1e6:,.0f} MB, once)", flush=True)
            fetch(weights)
        print(f"{weights.name}: ready", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
