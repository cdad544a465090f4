"""The librarian without a model: rules that find what was said outright, each with the words that say it.

One module for each thing that is found. Only what a person says in their own words counts, and of the assistant what it
found, finished or proposed with the person's consent. When in doubt it is left out: what is said again is found again.
"""

from recollect.librarian.rules.reader import READER, extract

__all__ = ["READER", "extract"]
