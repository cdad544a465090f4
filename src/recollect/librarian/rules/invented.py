"""Conversations in which something is made up together: a poem, a story, a game. What is told there of others is
invented until somebody says otherwise; what people say of themselves still counts."""

import re
from collections.abc import Sequence

from recollect.librarian.items import Item, Shelf, Turn

_MADE_UP = re.compile(
    r"(?i)\b(?:verses?|stanzas?|poems?|limericks?|rhym(?:e|es|ing)|lyrics|haikus?|sonnets?|ballads?|novel(?:la|ist)?"
    r"|short stor(?:y|ies)|bedtime story|story about|fan ?fic(?:tion)?|screenplay|protagonist|villain|npcs?|side ?quest"
    r"|lore|dungeon|backstory|character (?:sheet|arc)|world-?building|fantasy (?:world|setting|village|kingdom)"
    r"|(?:some|a few|more) lines for|dialogues?|punchline|strophen?|gedicht|reimt?|kurzgeschichte|liedtext|romanfigur"
    r"|estrofas?|poema|rima|novela|cuento|personajes?"
    r"|poème|strophes?|chanson sur|personnages?|poesia|romanzo|personaggi[oe]?|personagens?|conto|kort verhaal"
    r"|personages?|стих\w*|рассказ|персонаж\w*)\b|写诗|诗|小说|俳句|物語|小説|キャラ"
)
_OWN = re.compile(
    r"(?i)\b(?:i|i'm|i've|i'll|i'd|im|my|mine|me|we|we're|we've|our|us|ich|mein\w*|mir|mich|wir|unser\w*|yo|mi|mis|nosotros"
    r"|nuestr\w+|je|j'\w+|mon|ma|mes|moi|nous|notre|nos|io|mio|mia|miei|noi|nostr\w+|eu|meu|minha|nós|ik|mijn|wij|ons|onze"
    r"|я|мой|моя|мне|мы|наш\w*)\b|我|私|僕|俺|うち"
)

_OWN_PEOPLE = re.compile(
    r"(?i)\b(?:my|our|mein\w*|unser\w*|mi|mis|nuestr\w+|mon|ma|mes|notre|nos|mio|mia|miei|nostr\w+|meu|minha|mijn|ons|onze"
    r"|мой|моя|наш\w*)\b|我|私の|うちの"
)


def is_made_up(turns: Sequence[Turn]) -> bool:
    return any(turn.author == "user" and _MADE_UP.search(turn.text) for turn in turns)


def is_own(item: Item) -> bool:
    """Whether somebody says it of themselves, or asked for it to be remembered."""
    pattern = _OWN_PEOPLE if item.shelf is Shelf.PERSON else _OWN
    return "remember" in item.tags or any(pattern.search(quote.words) for quote in item.quotes)
