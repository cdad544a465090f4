"""A process that works on the index of a home, to be killed by tests.

    python tests/indexing.py HOME DATABASE follow|deepen|rebuild

Small batches: many commits, and as many moments between them. It says `ready` when its work begins.
"""

import sys
from pathlib import Path

from house_of_words import WordVectors

import recollect
from recollect.recall import Material
from recollect.recall.index import deepening, following, generations, open_index

STATIC = WordVectors("static-16", 16)
DEEP = WordVectors("deep-8", 8)


def work(home: Path, address: str, task: str) -> None:
    with recollect.open(home=home, database=address) as memory:
        index = open_index(memory.database, memory.settings.house)
        material = Material(memory.feed, memory.history, memory.knowledge, memory.notes)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if task == "follow":
            index.follow(material, STATIC)
        elif task == "deepen":
            index.deepen(material, DEEP)
        elif task == "rebuild":
            index.rebuild(material, STATIC)
        index.close()


if __name__ == "__main__":
    following.BATCH_DOCUMENTS = following.LOADED_THINGS = 64
    deepening.COMMITTED_DOCUMENTS = 32
    generations.DELETED_ROWS = 2_000
    work(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
