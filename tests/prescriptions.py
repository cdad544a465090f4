"""Finds scripts in a prompt (N6): sentences that tell an agent what to do at which moment, instead of what there is.

    prescriptions("Your notes are always at hand.")                     → []
    prescriptions("When the user comes back, ask how the day was.")     → ["condition: When the user …"]

It reads English and knows shapes, not meanings: "when X, do Y" in many orders, checklists, numbered procedures,
questions to put to somebody, and nagging about a status that is old. Prose that describes is let through, and so is the
form of a marker.
"""

import re

_ACTION = (
    r"(?:"
    r"acknowledge|add|alert|announce|answer|apologise|apologize|append|ask|assume|avoid|begin|bring|"
    r"call|capture|change|check|choose|clarify|close|compare|confirm|congratulate|consider|consult|"
    r"continue|copy|create|cross-check|delete|describe|double-check|end|ensure|explain|fetch|figure|"
    r"fill|find|finish|follow|gather|get|give|go|greet|guess|inform|inquire|invoke|keep|leave|list|"
    r"load|log|look|make|mark|mention|move|note|notify|offer|open|pick|point|prefer|prompt|propose|"
    r"query|quote|raise|read|recap|recite|record|refer|refresh|refuse|remember|remind|remove|repeat|"
    r"replace|reply|report|respond|review|revisit|run|save|say|scan|search|send|set|share|skip|"
    r"start|state|stop|store|submit|suggest|summarise|summarize|switch|take|tell|thank|think|"
    r"transcribe|trigger|try|update|use|verify|visit|wait|warn|welcome|wish|write|be|comfort|"
    r"do|encourage|escalate|flag|handle|help|nudge|plan|praise|probe|schedule|stay|support|treat"
    r")"
)
"""What an agent can be told to do."""
_NOUN_SUBJECT = (
    r"(?!\s+(?:is|are|was|were|has|had|can|could|will|would|may|might|does|takes|finds|covers|goes|works|stays|knows"
    r"|shows|reads|reaches|looks|gives|tells|says|brings|keeps|comes|means|holds|and\s+\w+\s+(?:is|are))\b)(?!['’-])"
)
"""Behind a word that could be a verb: then it was the subject of the sentence."""
_SOFTENED = (
    r"(?:(?:then|please|always|never|first|just|also|simply|immediately|at once|only|kindly|gently|briefly|proactively"
    r"|quickly|do|do not|don['’]t|be sure to|make sure to|it is time to|it['’]s time to|so)\s+,?\s*)*"
)
_COMMAND = rf"{_SOFTENED}{_ACTION}\b{_NOUN_SUBJECT}"
_OBJECT = (
    r"\s+(?:the|a|an|your|his|her|their|its|my|our|any|every|each|all|it|them|him|us|this|that|these|those|for|with"
    r"|to|at|into|in|through|back|up|out|about|after|whether|if|how|what|who|which|when|again|both|no|one|only|X"
    r"|search_memory|update_status|notes?|memory|status|archive|users?|people|old|new|some|something|anything)\b"
)
"""Behind a word that could be a verb: then it was one."""
_MOMENT = (
    r"(?:when(?:ever)?|while|if|before|after|once|as soon as|as long as|until|unless|in case|should the|should you"
    r"|every time|each time|any time|anytime|the moment|at the (?:start|beginning|end|top)|first thing|last thing"
    r"|on (?:start|startup|waking|wake|every|each|a|an|the)|upon|during|in the (?:morning|afternoon|evening)"
    r"|every (?:\w+ )?(?:turn|day|morning|evening|night|hour|week|session|message|reply|answer|conversation|time)"
    r"|each (?:\w+ )?(?:turn|day|morning|evening|night|hour|week|session|message|reply|answer|conversation|time)"
    r"|given|where)"
)
_LEADING = (
    rf"(?:{_MOMENT}|for|to|with|instead of|rather than|in|at|by default|without|from time to time|otherwise|else)"
)
_FREE = r"(?:(?!\byou (?:can|may|could|might|have|are|know)\b)[^,;:—–→])"
"""A clause that grants nothing: what follows "you can" is a list of abilities."""

RULES: dict[str, str] = {
    "condition": rf"(?:^|[,;:—–(] |\b(?:and|but|so|or) ){_LEADING}\b{_FREE}*(?:[,;:—–→]{_FREE}*){{0,2}}"
    rf"(?:[,;:—–→]|->|\bthen\b)\s*{_COMMAND}",
    "command at a moment": rf"^(?:and |but |or )?{_COMMAND}.*\b{_MOMENT}\b",
    "command": rf"^(?:and |but |or |instead, |rather, )?{_COMMAND}{_OBJECT}"
    r"|^(?:ask|congratulate|greet|inform|notify|remind|tell|thank|warn|wish) (?-i:[A-Z])",
    "duty": r"\byou(?:['’]ll)? (?:must|should|shall|ought|need to|needs? not|have to|had better|are (?:not )?"
    r"(?:to|expected|required|supposed|obliged)\b|will want to|want to (?:always|never|first))",
    "passive duty": r"\b(?:must|should|shall|(?:has|have|needs?|is|are) to) (?:\w+ )?(?:not )?be \w+(?:ed|en|t|n)\b",
    "agent's duty": rf"\b(?:the |every |an? )?(?:agent|assistant|model|claude|it|they) (?:must|should|shall|"
    rf"(?:has|needs?|have) to|ought to) (?:\w+ )?{_ACTION}\b",
    "reminder": r"\b(?:make sure|be sure to|remember to|(?:don['’]t|do not|never) forget|make (?:it )?a (?:habit|point)"
    r"|it is (?:important|essential|best|vital|good practice|mandatory) to"
    r"|your (?:task|job|duty|responsibility|goal|role) (?:here )?is to)\b",
    "always or never": rf"(?:^|[,;:—–] |\b(?:and|but|you) )(?:always|never)\s+{_ACTION}\b{_NOUN_SUBJECT}",
    "order of steps": rf"\bstep (?:\d+|one|two|three)\b|^(?:first|firstly|second|secondly|third|next|then|finally"
    rf"|lastly|afterwards)\b(?: of all)?,?\s*{_COMMAND}",
    "opening": r"^(?:start|begin|open|end|close|finish) (?:by \w+ing\b|with (?:a|an|the|your)\b|every |each |off )",
    "arrow": rf"(?:→|->|=>)\s*{_COMMAND}",
    "checklist": r"^\[[ xX✓]?\](?: |$)|^[☐☑☒✅]|\bcheck-?list\b|\bto-?do list for you\b",
    "scripted question": r"\b(?:ask|say|greet|reply|respond|answer|open|begin|start|inquire|write|send|try)(?:ing)?\b"
    r".*[\"“‘«][^\"”’»]*\?[\"”’»]|\b(?:questions?|things?|topics?) (?:for you |you (?:can|could|should|may) )?to "
    r"(?:ask|raise|bring up)\b|\bquestions? you (?:can|could|should|may) ask\b",
    "nagging": r"\b(?:last|not|n['’]t|never|been) (?:been )?(?:updated|changed|touched|refreshed|written)\b.*\b"
    r"(?:ago|old|since|for \w+ (?:minutes?|hours?|days?|weeks?)|in \w+ (?:minutes?|hours?|days?|weeks?)|yet|today)\b"
    r"|\b(?:status|notes?|page|field|entry|entries|information|data|board|diary)\b.*\b(?:stale|out of date|outdated"
    r"|overdue|too old|needs? (?:an )?updat\w+)\b|\b(?:stale|outdated|out-of-date|overdue)\b.*\b(?:status|notes?|page"
    r"|fields?|entry|entries|information|data|board|diary)\b|\bno (?:status|diary|entry|update)\b.*\byet\b"
    r"|\byou (?:have not|haven['’]t) (?:\w+ )?(?:updated|written|checked|reported)\b|^reminder\b"
    r"|\b(?:status|diary|entry|note|page|board) (?:is|was) (?:\w+ )?\d+ (?:minutes?|hours?|days?|weeks?) old\b",
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES.items()}
_MARKER = "[REMEMBER]"
_MAY_TEACH = ("command", "condition")
"""Shapes in which the form of a marker may be told: "To keep something, write a line that begins …"."""
_MOMENT_FIRST = re.compile(rf"(?:^|[,;:—–] |\b(?:and|but|so|or) ){_MOMENT}\b", re.IGNORECASE)

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*+•]|#+|>)\s+")
_NUMBER = re.compile(r"^\s*(?:\d+|[a-z])[.)]\s+", re.IGNORECASE)
_LABEL = re.compile(rf"^\W*[\w’' ]{{1,40}}(?::|—|–| -)\W*\s+{_COMMAND}{_OBJECT}", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)*]*\s+(?=[\"“‘(*\[]*[A-Z])")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")


def prescriptions(text: str) -> list[str]:
    """What is a script in this text: the rule it breaks and the sentence, in the order of the text."""
    found: list[str] = []
    steps: list[str] = []
    for is_numbered, is_item, unit in _units(_CODE.sub(_plain_code, text)):
        sentences = [sentence.strip() for sentence in _SENTENCE_END.split(unit) if sentence.strip()]
        broken = [(rule, sentence) for sentence in sentences for rule in _broken(sentence)[:1]]
        if not broken and is_item and _LABEL.match(unit):
            broken = [("labelled command", unit)]
        found += [f"{rule}: {sentence}" for rule, sentence in broken]
        steps = [*steps, unit] if is_numbered and re.match(_COMMAND, unit, re.IGNORECASE) else []
        if len(steps) == 2:
            found.append(f"numbered procedure: {steps[0]} {steps[1]}")
    return found


def _broken(sentence: str) -> list[str]:
    rules = [name for name, pattern in _COMPILED.items() if pattern.search(sentence)]
    if _MARKER in sentence and not _MOMENT_FIRST.search(sentence):
        return [name for name in rules if name not in _MAY_TEACH]
    return rules


def _plain_code(found: re.Match[str]) -> str:
    """What stands in code is no sentence; that it is a marker has to be known."""
    return _MARKER if _MARKER in found.group() else "X"


def _units(text: str) -> list[tuple[bool, bool, str]]:
    """Paragraphs and items, each on one line: whether it has a number, whether it is an item, its words."""
    units: list[tuple[bool, bool, str]] = []
    is_open = False
    for line in text.splitlines():
        is_numbered, is_item = bool(_NUMBER.match(line)), bool(_BULLET.match(line))
        bare = _EMPHASIS.sub("", _BULLET.sub("", _NUMBER.sub("", line))).strip()
        if is_open and bare and not is_numbered and not is_item:
            number, item, before = units[-1]
            units[-1] = (number, item, f"{before} {bare}")
        elif bare:
            units.append((is_numbered, is_numbered or is_item, bare))
        is_open = bool(bare) and not line.lstrip().startswith("#")
    return units
