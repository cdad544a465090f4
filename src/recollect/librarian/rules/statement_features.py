"""What a clause looks like to the reader of statements: numbers of words, openings, endings and shapes.

Each feature is hashed to one of `WIDTH` places, so that no list of words is kept and every language has its share. The
same text gives the same numbers everywhere and always: weights are trained with them. Change anything here and train
again (`scripts/train_statements.py`).
"""

import re
import unicodedata
from zlib import crc32

from recollect.librarian.speech.wordset import wordset

WIDTH = 1 << 16
"""Places. With some thousand sentences few features share one; the file of weights stays small."""
MOST_CHARACTERS = 400
OPENING_WORDS = 3
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]+|[^\W\d_{_WIDE}]+(?:'[^\W\d_]+)*|\d+|[?!:;,…]")
_IS_WIDE = re.compile(f"[{_WIDE}]")
_CODE = re.compile(r"`|\w\(\)|\w_\w|[a-z][A-Z]|\w\.(?:py|js|ts|go|rs|json|ya?ml|md|sh|sql|html|css)\b|\w/\w+/|[{}<>=]")
_NAME = re.compile(r"(?<=[^\W_] )[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё]+")
_TIME = re.compile(r"\d[:h.]\d\d|\d ?(?:am|pm|uhr|h)\b", re.IGNORECASE)
_SHAPES = {
    "first": wordset("""
        i i'm i've i'll i'd im ive my me mine myself we we're we've our ours us ich mein meine meinen meinem meiner mir
        mich wir unser unsere uns yo mi mis me nosotros nuestro nuestra je j'ai mon ma mes moi nous notre nos io mio mia
        miei mie noi nostro eu meu minha meus nós nosso ik mijn wij ons onze я мой моя моё мои мне меня мы наш наша нас
    """),
    "second": wordset("""
        you your yours you're you've du dir dich dein deine sie ihnen tú tu te usted vous toi votre jij je jouw você ты
        тебе тебя вы вам
    """),
    "here": wordset("""
        this that these those it it's its here now today currently dies diese dieser dieses das es hier jetzt heute esto
        esta este eso aquí ahora hoy ceci cela ça ce cette ici maintenant questo questa qui ora oggi isso isto aqui
        agora dit dat hier nu vandaag это этот эта здесь сейчас сегодня
    """),
    "always": wordset("""
        always never usually every each immer nie niemals jeden jede stets siempre nunca cada todos toujours jamais
        chaque tous sempre mai ogni altijd nooit elke всегда никогда каждый
    """),
}
_LENGTHS = (3, 5, 8, 12, 18, 26, 40)


def features_of(said: str) -> list[int]:
    """The places of a clause's features, each once, in order."""
    plain = unicodedata.normalize("NFKC", said[:MOST_CHARACTERS]).replace("’", "'")
    tokens = _TOKEN.findall(plain)
    words = [_folded(token) for token in tokens]
    found = {f"w {word}" for word in words}
    found.update(f"b {one} {two}" for one, two in zip(["^", *words], [*words, "$"], strict=True))
    found.update(f"t {' '.join(words[at : at + 3])}" for at in range(len(words) - 2))
    found.update(f"o {at} {word}" for at, word in enumerate(words[:OPENING_WORDS]))
    for word in words:
        if _IS_WIDE.match(word):
            found.update(f"c {word[at : at + size]}" for size in (1, 2, 3) for at in range(len(word) - size + 1))
        elif len(word) > 5:
            found.update((f"p {word[:5]}", f"s {word[-3:]}"))
    found.update(_shapes(plain, words))
    return sorted({crc32(name.encode()) % WIDTH for name in found})


def _folded(token: str) -> str:
    """Lower case; of a number only how long it is."""
    return "0" * min(len(token), 5) if token.isdigit() else token.lower()


def _shapes(plain: str, words: list[str]) -> list[str]:
    count = len(words) if not _IS_WIDE.search(plain) else len(plain) // 2
    found = [f"length {sum(count > most for most in _LENGTHS)}"]
    found += [f"has {name}" for name, known in _SHAPES.items() if not known.isdisjoint(words)]
    found += [f"begins {name}" for name, known in _SHAPES.items() if words and words[0] in known]
    found += [
        f"is {name}" for name, pattern in (("code", _CODE), ("name", _NAME), ("time", _TIME)) if pattern.search(plain)
    ]
    return found
