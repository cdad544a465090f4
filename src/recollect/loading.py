"""Loading the modules of a program before its threads begin.

Parts load what they need when they need it, so that a command starts fast. In Python 3.11 two threads that do so at the
same moment can fail where a package loads its own modules: one of them gets an error, or waits for good. A program that
has threads therefore loads first, in one.
"""

import pkgutil
from importlib import import_module

PARTS = (
    "context",
    "feed",
    "forgetting",
    "history",
    "jobs",
    "knowledge",
    "learnings",
    "librarian",
    "lineage",
    "mind",
    "notes",
    "recall",
    "runs",
    "scopes",
)
"""Not those that stand for libraries which may never be needed: databases, models, the kits of providers."""


def load_parts() -> None:
    for part in PARTS:
        load_package(f"recollect.{part}")


def load_package(name: str) -> None:
    package = import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
