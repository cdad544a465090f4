"""Names of people, projects and texts as names of files. Pure.

A slug is the same on every system and in every order in which names appear: it is made of the name alone. Names that
differ only in case, width or in what separates their words are one name. Where another name could have the same slug,
the slug ends with a few digits that are made of the name.
"""

import hashlib
import re
import unicodedata

from recollect.lineage import folded
from recollect.notes.paths import is_name

MOST_CHARACTERS = 40
"""Of a slug without its digits: in no script more than 160 bytes, and a name may have 200."""
MOST_WORDS = 7
"""Of a text in the name of its note: enough to know it by."""
DIGITS = 6
_SEPARATORS = re.compile(r"[\s_-]+")


def name_key(name: str) -> str:
    """Equal for what counts as the same name; the key of a key is the key."""
    while (key := _SEPARATORS.sub("-", folded(name)).strip("-")) != name:
        name = key
    return key


def name_slug(name: str) -> str:
    """Different names (`name_key`) have different slugs."""
    key = name_key(name)
    slug = _plain(key)[:MOST_CHARACTERS].strip("-")
    if slug == key and is_name(slug) and not _ends_like_ours(slug):
        return slug
    digits = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    return f"{slug}-{digits}" if slug else f"name-{digits}"


def text_slug(text: str) -> str:
    """The first words of a text. Two texts may have the same: their notes hold both."""
    words = _plain(folded(text)).split("-")[:MOST_WORDS]
    while len("-".join(words)) > MOST_CHARACTERS and len(words) > 1:
        words.pop()
    slug = "-".join(words)[:MOST_CHARACTERS].strip("-") or "untitled"
    return slug if is_name(slug) else f"text-{slug}"


def _plain(text: str) -> str:
    """Letters, marks on them and digits of any script in lower case, all else a hyphen."""
    letters = unicodedata.normalize("NFC", text)
    kept = (sign if unicodedata.category(sign)[0] in "LMN" and sign == sign.casefold() else "-" for sign in letters)
    return re.sub(r"-\W*|-+", "-", "".join(kept)).strip("-")


def _ends_like_ours(slug: str) -> bool:
    """Whether it could be another name's slug with its digits."""
    return bool(re.search(rf"-[0-9a-f]{{{DIGITS}}}$", slug))
