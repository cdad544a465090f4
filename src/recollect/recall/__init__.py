"""Search over everything that was said. Derived from history, and rebuildable from it at any time."""
