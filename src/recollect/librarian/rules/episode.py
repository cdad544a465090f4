"""The title and the few lines that tell what a conversation was about, as sentences that were said in it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from recollect.knowledge import Kind
from recollect.librarian.items import About, EpisodeLine, Item, Quote, Turn
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Sentence, opening_of, sentences_of
from recollect.librarian.speech.filters import is_fragment, is_question, is_trivial, why_not

ASKED, FOUND, DECIDED, DONE, OPEN = "Asked", "Found", "Decided", "Done", "Open"
MOST_LINES = 6
MOST_DECIDED = 2
MOST_TITLE_CHARACTERS = 70
FEWEST_WORDS = 3
LAST_TURNS = 4
"""Turns at the end in which the assistant says what was finished and what is left."""
MOST_SENTENCES = 60
"""Of one message of the assistant. Its point is made before."""

_DULL_TITLE = re.compile(
    r"(?i)\s*(?:new (?:chat|conversation|session|thread)|untitled\b.*|conversation|chat|session|no title|hi"
    r"|hello|hey|test|warmup|\W*|[0-9a-f-]{8,}|.*[/\\].*[/\\].*)\s*$"
)
_CHATTER = re.compile(
    r"(?i)(?:now,? (?:let|i|update|the|we)|i (?:now )?(?:have (?:a|enough|the|all|now)|understand|can see"
    r"|found (?:it|the relevant|some)|want to|think i|ran|did not run)|running|using|reading|searching|still"
    r"|ok(?:ay)?|next|first|on (?:main|master|it)|clean|done exploring|let me|let's|i'll|i will|i'm going to"
    r"|now i|first,? i|i need to|i should|sure|of course|certainly|great|perfect|good (?:idea|question|point"
    r"|luck)|you're (?:right|welcome|absolutely)|absolutely|here(?:'s| is| are)|would you like|do you want"
    r"|shall i|should i|feel free|happy to|i'd be happy|glad|thank|sorry|i apologi[sz]e|i understand|i see"
    r"|looking at|checking|that's (?:great|wonderful|awesome)|congratulations|enjoy|have a|take care|noted"
    r"|understood|got it|welcome|hello|hi|what a|sounds|i hope|if you|remember to|note that|please"
    r"|by following|in (?:conclusion|summary|short)|overall|natürlich|gerne|klar|lass mich|ich werde|claro"
    r"|por supuesto|voy a|bien sûr|je vais|d'accord|avec plaisir)\b"
)
_CAUSE = re.compile(
    r"(?i)\b(?:(?:root )?cause (?:is|was)|the (?:problem|issue|bug|reason|culprit|error|failure) (?:is|was"
    r"|comes|came|lies|turned out)|found (?:it|the (?:bug|problem|issue|cause))|turns out|is caused by"
    r"|was caused by|comes from|because|due to|the fix (?:is|was)|das problem (?:ist|war|liegt)|die ursache"
    r"|der grund|weil|el problema (?:es|era)|la causa|porque|le problème (?:est|vient)|la cause|parce que)\b"
)
_FINISHED = re.compile(
    r"""(?ix)(?:\W*(?:done|fixed|added|changed|created|implemented|committed|pushed|deployed|renamed|removed|moved
        |updated|converted|wrote|written|refactored|migrated|tagged|released|installed|configured|built
        |finished|completed|merged|resolved|replaced|set\sup|fertig|erledigt|behoben|angelegt|geändert|hecho
        |listo|añadido|arreglado|terminé|fait|terminé|ajouté|corrigé|fatto|feito|klaar|gedaan|готово)\b
    | (?:i(?:'ve|\shave)|we(?:'ve|\shave))\s(?:now\s|also\s|successfully\s|just\s)?(?:added|fixed|created
        |implemented|changed|updated|removed|written|built|committed|pushed|set\sup|moved|replaced|refactored
        |completed|finished|migrated|configured|installed|deployed|renamed|merged|resolved)\b
    | (?:all\s)?(?:tests?|checks?|builds?)\b.{0,30}\b(?:pass|passes|passing|green|succeed|succeeds)\b
        | .{3,60}\bis\s(?:now\s)?(?:in\splace|ready|done|complete|finished|fixed|live|deployed|working)\b
        | die\s.{3,60}\b(?:jetzt|nun)\b )"""
)
_LEFT = re.compile(
    r"(?i)\b(?:still (?:open|to do|missing|needs?|left|pending)|todo|to-do|next steps?|left to do|not (?:yet"
    r"|done yet)|remaining|remains|for later|follow[- ]up|you(?:'ll| will| still)? need to|offen|noch nicht"
    r"|fehlt noch|nächster schritt|pendiente|falta|siguiente paso|reste à|il reste|prochaine étape)\b"
)
_ASK_LEAD = re.compile(
    r"(?i)^(?:(?:hi|hello|hey|ok(?:ay)?|so|please|pls|morning|good morning|hallo|hola|salut|bonjour"
    r"|ciao)[\s,!.]+)*(?:(?:can|could|would|will) you(?: please)?|please|pls|i(?:'d| would) like (?:you )?to"
    r"|i (?:want|need)(?: you)? to|help me(?: to)?|kannst du(?: bitte)?|bitte|puedes|peux-tu|tu peux)\s+"
)


def title_of(about: About, asked: Sentence | None) -> tuple[str, tuple[Quote, ...]]:
    """The conversation's own, when it is good; else the first request, short."""
    own = wording.clean(about.title).strip(" .\"'")
    lead, _ = opening_of(own)
    own = own[lead:]
    is_good = own and not _DULL_TITLE.match(own) and not is_trivial(own) and len(own.split()) > 1
    if is_good and len(own) <= MOST_TITLE_CHARACTERS and not own.startswith(("<", "[", "{", "(", "/")):
        return own[:1].upper() + own[1:], ()
    if not asked:
        return "", ()
    text = _ASK_LEAD.sub("", wording.clean(asked.text))
    short = wording.trimmed(text.rstrip(" .!?"), MOST_TITLE_CHARACTERS).removesuffix(" …").rstrip(" ,;:")
    if sum(map(str.isalpha, short)) < FEWEST_WORDS:
        return "", ()
    return short[:1].upper() + short[1:], (asked.quote,)


def asked_in(turns: Sequence[Turn], tongue: str) -> Sentence | None:
    """The first thing that the user wants."""
    first: Sentence | None = None
    for turn in turns:
        if turn.author != "user":
            continue
        sentences = [one for one in sentences_of(turn, tongue) if _says_something(one)]
        wanted = next((one for one in sentences if is_question(one.text) or _is_order(one.text)), None)
        if wanted or sentences:
            return wanted or first or sentences[0]
    return first


def lines_of(turns: Sequence[Turn], items: Iterable[Item], asked: Sentence | None, tongue: str) -> list[EpisodeLine]:
    lines: list[EpisodeLine] = []
    if asked:
        lines.append(_line(ASKED, asked))
    told = [turn for turn in turns if turn.author == "assistant" and turn.text.strip()]
    done = _last(told[-LAST_TURNS:], _FINISHED.match, tongue)
    left = _last(told[-2:], _LEFT.search, tongue)
    found = _cause(told, tongue, {one.text for one in (done, left) if one})
    if found:
        lines.append(_line(FOUND, found))
    decided = [one for one in items if one.kind is Kind.DECISION][-MOST_DECIDED:]
    lines += [EpisodeLine(label=DECIDED, text=one.text, quotes=one.quotes) for one in decided]
    lines += [_line(label, one) for label, one in ((DONE, done), (OPEN, left)) if one and one is not found]
    return _distinct(lines)[:MOST_LINES]


def _distinct(lines: list[EpisodeLine]) -> list[EpisodeLine]:
    seen: dict[str, EpisodeLine] = {}
    for line in lines:
        if line.text:
            seen.setdefault(line.text.lower(), line)
    return list(seen.values())


def _line(label: str, sentence: Sentence) -> EpisodeLine:
    text = wording.clean(sentence.text)
    lead, _ = opening_of(text)
    text = wording.trimmed(text[lead:].strip(" -–—*:"))
    return EpisodeLine(label=label, text=text[:1].upper() + text[1:], quotes=(sentence.quote,))


def _says_something(sentence: Sentence) -> bool:
    text = sentence.text
    words = text.split()
    is_long = len(words) >= FEWEST_WORDS or sentence.tongue in ("zh", "ja")
    reason = why_not(text)
    return (
        is_long
        and not is_trivial(text)
        and reason not in ("secret", "instruction to a machine", "negated request", "passing")
    )


def _is_order(text: str) -> bool:
    return bool(
        re.match(
            r"(?i)\W*(?:(?:hi|hello|hey|ok|so|please|pls|now|then|also|morning)[\s,!.]+)*(?:add|fix|make|write"
            r"|create|build|find|show|explain|help|set|update|change|remove|delete|refactor|rename|move|implement"
            r"|test|run|check|look|review|read|fetch|translate|summari[sz]e|plan|design|draft|give|tell|suggest"
            r"|recommend|list|compare|convert|generate|install|configure|deploy|bump|need|i need|i want|i'd like|can"
            r"|could|erklär\w*|schreib\w*|zeig\w*|mach\w*|hilf|ich brauche|necesito|quiero|ayúda\w*|escribe|haz"
            r"|aide\w*|écris|fais|j'ai besoin|je veux)\b",
            text,
        )
    )


def _good(turn: Turn, tongue: str) -> Iterator[Sentence]:
    """Sentences of the assistant that tell something: no chatter, no question, no piece of code."""
    for sentence in islice(sentences_of(turn, tongue), MOST_SENTENCES):
        text = wording.clean(sentence.text)
        lead, _ = opening_of(text)
        is_long = len(text.split()) >= FEWEST_WORDS or tongue in ("zh", "ja")
        if is_long and not is_fragment(text) and not text.endswith(("?", ":")) and not _CHATTER.match(text[lead:]):
            yield sentence


def _is_safe(sentence: Sentence) -> bool:
    return why_not(sentence.text) not in ("secret", "instruction to a machine", "negated request", "quoted")


def _last(turns: Sequence[Turn], is_it: Callable[[str], object], tongue: str) -> Sentence | None:
    for turn in reversed(turns):
        for sentence in _good(turn, tongue):
            if is_it(wording.clean(sentence.text)) and _is_safe(sentence):
                return sentence
    return None


def _cause(turns: Sequence[Turn], tongue: str, told: set[str]) -> Sentence | None:
    """A cause that is stated; else the first plain answer."""
    for turn in turns:
        if _CAUSE.search(turn.text):
            for sentence in _good(turn, tongue):
                if sentence.text not in told and _CAUSE.search(sentence.text) and _is_safe(sentence):
                    return sentence
    for turn in turns[:LAST_TURNS]:
        for sentence in _good(turn, tongue):
            if sentence.text not in told and not _FINISHED.match(wording.clean(sentence.text)) and _is_safe(sentence):
                return sentence
    return None
