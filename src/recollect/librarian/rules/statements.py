"""Statements that no form knows: what a clause most likely is, told by weights that were trained on labelled sentences.

Tried last, on what the other finders left of a sentence. A clause must be meant (`filters`), must stand alone without
what was said before it, and must look lasting enough for its label; in a project more so, as most that is said there is
about the work at hand.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from recollect.knowledge import Kind
from recollect.librarian.items import Item, Shelf
from recollect.librarian.rules import corrections, wording
from recollect.librarian.rules.clauses import Clause, Sentence, clauses_of
from recollect.librarian.rules.dates import Day, find_day
from recollect.librarian.rules.forms import LIKELY, Reading, day_of, item, text_of
from recollect.librarian.rules.standing import is_event, is_planned, stands_alone
from recollect.librarian.rules.statement_model import Guess, load

FACTS = frozenset({"user", "person", "project"})
LEAST = {
    "user": 0.6,
    "person": 0.7,
    "preference": 0.5,
    "rule": 0.7,
    "project": 0.65,
    "decision": 0.6,
    "commitment": 0.5,
    "insight": 0.5,
    "milestone": 0.7,
}
"""How lasting a clause must look, by what it looks like most."""
LEAST_OF_FORMS = 0.03
"""How lasting a clause that a form knows must look. Forms see how it begins; the weights see all of it."""
MORE_IN_PROJECTS = 0.05
LESS_FOR_ROLES = 0.1
"""`As a nurse, …` says what its author is, and nothing else."""
LEAST_CLEARNESS = 0.4
CLEAR = 0.8
"""From here on a day in a fact does not make it something to be done."""
MOST_TOLD_CHARACTERS = 1_200
"""Of a message in which something may be said of others alone: what is longer has parts that were written elsewhere."""
ONCE = frozenset({"decision", "insight", "milestone"})
"""What happens once and stays."""
_TAIL = re.compile(
    r"(?i)\s*(?:,|;|\s[-–—]|\s\()\s*(?:so |and |but |then |now |also )?(?=(?:can|could|would|will|should|what|how|which"
    r"|where|when|why|who|is|are|do|does|any|please|pls|help|give|suggest|tell|make|write|find|show|need|was|wie|kannst"
    r"|welche|bitte|gib|qué|cómo|puedes|dame|que|comment|peux|donne|cosa|come|puoi|como|pode|wat|hoe|kun|что|как)\b)"
)
"""Where a request begins behind a statement: `we have a toddler, what can we cook`."""
_ROLE = re.compile(r"(?i)as (?P<what>an? [^,]{3,60}?)(?:,|(?= (?:i|i'm|i've|my|we|what|how|can|could|which|is|do)\b))")
_OPENS = re.compile(
    r"(?i)(?:since|because|given that|given|seeing as|now that|considering(?: that)?|as)\s+(?=\w)"
    r"|\W*(?:for (?:future reference|later|the future)|let's agree|important|denk dran|merke|wichtig|importante)"
    r"\s*[:,]\s*(?=\w)"
)
_SECRET = re.compile(
    r"(?i)\b(?:pass(?:word|code|phrase)|pwd|pin(?: code| is)|api[- _]?key|token|secret|credentials?|passwort|kennwort"
    r"|contraseña|mot de passe|parola d'ordine|senha|wachtwoord|пароль)\b|密码|パスワード|暗証"
)
"""Whatever stands beside such a word is not kept, masked or not."""
_MINE = re.compile(
    r"(?i)(?<![\w'])(?:i|i'm|i've|i'll|im|my|me|mine|ich|mein\w*|mir|mich|yo|mis?|me|je|j'\w+|mon|ma|mes|moi|io|mi[oae]i?"
    r"|eu|meu|minha|ik|mijn|я|мо[йяеи]|мне|меня)(?![\w])|[我私僕]"
)
_OURS = re.compile(
    r"(?i)\b(?:we|we're|we've|us|our|wir|uns\w*|nosotr[oa]s|nuestr[oa]s?|nous|notre|nos|on|noi|nostr[oaie]|nós|noss[oa]s?"
    r"|wij|ons|onze|мы|наш\w*|нас)\b|我们|私たち"
)
_TELLING = (
    (
        "decision",
        re.compile(
            r"(?i).*\b(?:(?:i|we|team) (?:'ve |have )?(?:decided|agreed on|settled on|chose|opted|voted)|decided"
            r"|entschieden|beschlossen|decidido|decidimos|décidé|deciso|gekozen|besloten|решили|решил)\b|.*(?:决定|決め)"
        ),
    ),
    (
        "preference",
        re.compile(
            r"(?i)i (?:never|always|avoid|refuse to|don't do|only ever)\b|(?:i|ich|yo|je|я)? ?"
            r"(?:(?:really|absolutely|much|always|don't|do not|no|ne|не|me) )*"
            r"(?:prefer|like|love|hate|enjoy|dislike|want|mag|hasse|liebe|bevorzuge|prefiero|odio|gustan?|encantan?|préfère|déteste|adore|aime"
            r"|preferisco|amo|prefiro|detesto|gosto|haat|люблю|ненавижу|предпочитаю)\b|我?(?:喜欢|讨厌|不喜欢)|.*(?:が好き|が嫌い|が苦手)"
        ),
    ),
)
_RECURS = re.compile(
    r"(?i)\b(?:every|each|always|usually|since|born|birthday|turns?|turned|\w+days|jeden|jede|immer|seit|geboren"
    r"|geburtstag|cada|siempre|desde|cumple\w*|chaque|toujours|depuis|né|née|anniversaire|ogni|sempre|elke|sinds|каждый)\b"
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|has had|cost|went|used|did|took|came|war|waren|fue|était|è stato|foi|был\w?)\b"
)
_TOO = re.compile(r"(?i)\b(?:too|zu|trop|demasiado|troppo|demais|слишком) (?!many\b)\w+(?=\W|$)|太|すぎ")
"""What is too much is to be changed."""
_DUTY = re.compile(
    r"(?i)\b(?:must|have to|has to|needs? to|owes?|promised?|due|deadline|easter|christmas|muss|müssen|versprochen|soll"
    r"|ostern|weihnachten|tengo que|hay que|debo|prometí|dois|doit|promis|devo|dobbiamo|promesso|preciso|tenho que"
    r"|prometi|moet|beloofd|должн\w+|нужно|надо|обещал\w?)\b|[要得]|必须|なければ|ないと|約束"
)
_REPORTED = re.compile(
    r"(?i)\b(?:says|said|writes|wrote|claims|claimed|according to|per the|dice|diz|disse|dit|zegt|volgens|sagt|schreibt"
    r"|steht|laut|selon|según|secondo|segundo|говорит|по словам)\b|[「『«“]"
)
"""Somebody else's words. Nobody knows whether they are true."""
_OF_A_DRAFT = re.compile(
    r"(?i)\b(?:so far|(?:first|second|third|last|shorter|longer) (?:one|part|sentence|paragraph|version|half|draft)"
    r"|wording of|noch nicht|as they say|la segunda|la deuxième|die (?:zweite|kürzere))\b"
)
"""A choice among what is on the table now, or none yet."""
_ASKED = re.compile(
    r"(?i)(?:write|make|give|draft|create|compose|describe|generate|translate|imagine|show|list|explain|rewrite|summari[sz]e"
    r"|schreib\w*|gib|mach|erklär\w*|escribe|haz|dame|écris|fais|donne|scrivi|fammi|escreva|faça|finge|schrijf|maak"
    r"|напиши|сделай)\b"
)
_ORDER = re.compile(
    r"(?i)(?:please|always|never|don't|do not|use|run|keep|write|ask|put|no|immer|nie|bitte|siempre|nunca|toujours"
    r"|jamais|sempre|mai|altijd|nooit|всегда|никогда)\b"
)
_NAME = re.compile(r"[A-ZÀ-ÞА-ЯЁ][\w'-]+")


def find(sentence: Sentence, kept: Sequence[Item], reading: Reading, why_not: Callable[[Clause], str]) -> list[Item]:
    """Adds what it finds to the reading. `kept`: what the forms found in this sentence, which is not said twice."""
    found: list[Item] = []
    for clause in _candidates(sentence):
        if _is_told(clause, kept) or not stands_alone(clause.said):
            continue
        guess = load().guess(_as_said_alone(clause))
        if not _is_sure(guess, clause, reading) or not _may_be(label := _label(guess, clause), clause):
            continue
        reason = "secret" if _SECRET.search(clause.sentence) else why_not(clause)
        if reason:
            reading.dropped[reason] += 1
            continue
        one = _item(clause, label, reading)
        corrections.settle(clause, one, reading)
        reading.items.append(one)
        found.append(one)
    return found


def is_unlikely(clause: Clause) -> bool:
    """A form knows it, and hardly anything that looks so is lasting. What puts something right is kept all the same."""
    if corrections.is_correction(clause):
        return False
    return bool(_OF_A_DRAFT.search(clause.said)) or load().guess(clause.said).share < LEAST_OF_FORMS


def _is_sure(guess: Guess, clause: Clause, reading: Reading) -> bool:
    least = LEAST[guess.label] + bool(reading.project) * MORE_IN_PROJECTS
    least -= (_as_said_alone(clause) != clause.said) * LESS_FOR_ROLES
    return guess.share >= least and guess.clearness >= LEAST_CLEARNESS


def _may_be(label: str, clause: Clause) -> bool:
    """A fact is nobody's plan, and what happened once is none; a long message speaks of its author only as I or we."""
    if label not in ONCE and is_event(clause.said):
        return False
    if label in FACTS and (is_planned(clause.said) or _ASKED.match(clause.said) or _REPORTED.search(clause.said)):
        return False
    if label in FACTS and _TOO.search(clause.said) and not _MINE.search(clause.said):
        return False
    if label == "commitment" and (_PAST.search(clause.said) or not (_day(clause) or _DUTY.search(clause.said))):
        return False
    return len(clause.turn.text) <= MOST_TOLD_CHARACTERS or bool(_MINE.search(clause.said) or _OURS.search(clause.said))


def _label(guess: Guess, clause: Clause) -> str:
    """Some words, and a day to come, say what a statement is whatever the weights say."""
    if guess.label == "rule" and _TELLING[0][1].match(clause.said):
        return "decision"
    if guess.label not in FACTS:
        return guess.label
    told = next((label for label, pattern in _TELLING if pattern.match(clause.said)), "")
    return told or ("commitment" if guess.clearness < CLEAR and _is_dated(clause) else guess.label)


def _is_dated(clause: Clause) -> bool:
    day = _day(clause)
    return bool(day and day.is_exact and not _RECURS.search(clause.said))


def _day(clause: Clause) -> Day | None:
    today = day_of(clause.turn)
    return find_day(clause.said, today) if today else None


def _candidates(sentence: Sentence) -> Iterator[Clause]:
    """Each clause without the request behind it and the word that ties it to the rest."""
    for clause in clauses_of(sentence):
        tail = _TAIL.search(clause.text)
        end = clause.start + tail.start() if tail and tail.start() > 0 else clause.end
        opens = _OPENS.match(clause.text)
        is_role = _ROLE.match(clause.text)
        start = clause.start + opens.end() if opens and not is_role else clause.start
        if is_role:
            end = clause.start + is_role.end("what")
        yield clause if (start, end) == (clause.start, clause.end) else sentence.part(start, end)


def _is_told(clause: Clause, kept: Sequence[Item]) -> bool:
    quotes = [quote.words for one in kept for quote in one.quotes]
    return any(clause.text in words or words in clause.text for words in quotes)


def _item(clause: Clause, label: str, reading: Reading) -> Item:
    if label in FACTS:
        return _fact(clause, label, reading)
    if label == "commitment":
        day = _day(clause)
        return item(clause, Kind.COMMITMENT, value=day.on.isoformat() if day else "", importance=0.6)
    if label == "preference":
        return item(clause, Kind.PREFERENCE)
    kind, shelf = {
        "rule": (Kind.PREFERENCE if _ORDER.match(clause.said) else Kind.PROCEDURE, reading.home_shelf),
        "decision": (Kind.DECISION, reading.home_shelf),
        "insight": (Kind.LEARNING, Shelf.INSIGHT),
        "milestone": (Kind.FACT, Shelf.MILESTONE),
    }[label]
    return item(clause, kind, shelf, subject=reading.home_subject, confidence=LIKELY)


def _fact(clause: Clause, label: str, reading: Reading) -> Item:
    """Of a person whose name is known, of the project where the speaker does not speak of themselves, or of them."""
    name = _known_name(clause, reading) if label == "person" else ""
    if name:
        return item(clause, Kind.FACT, Shelf.PERSON, subject=name)
    if reading.project and not _MINE.search(clause.said):
        return item(clause, Kind.FACT, Shelf.PROJECT, subject=reading.project)
    return item(clause, Kind.FACT, text=_text(clause))


def _known_name(clause: Clause, reading: Reading) -> str:
    named = (reading.people.get(word.lower()) for word in _NAME.findall(clause.said))
    return next((person.name for person in named if person), "")


def _as_said_alone(clause: Clause) -> str:
    """`as a nurse`, said for itself."""
    role = _ROLE.fullmatch(clause.said + ",")
    return f"I'm {role['what']}" if role else clause.said


def _text(clause: Clause) -> str:
    alone = _as_said_alone(clause)
    return text_of(clause) if alone == clause.said else wording.third_person(alone)
