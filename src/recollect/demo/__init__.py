"""A small made-up house, shown when no agent of this computer has written anything yet. Nobody's real words."""

from importlib.resources import files
from pathlib import Path


def demo_transcripts() -> Path:
    """The folder of the demo's transcripts, laid out as Claude Code lays out its own."""
    return Path(str(files("recollect.demo").joinpath("projects")))
