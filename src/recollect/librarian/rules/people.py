"""People that somebody speaks of: who they are to the speaker, and what is said about them."""

import re
from collections.abc import Callable, Iterator

from recollect.knowledge import Kind
from recollect.librarian.items import Doubt, Item, Mention, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import HIGH, LIKELY, SURE, USUAL, Reading, item
from recollect.librarian.rules.people_patterns import ENGLISH_PATTERNS, JOB, NAME, PATTERNS, ROLE, UNNAMED
from recollect.librarian.rules.tongues import ENGLISH
from recollect.librarian.speech.wordset import wordset

_ABOUT = re.compile(
    r"""(?ix)\s*(?:,\s)?(?:who\s)?(?P<said>(?:just\s|also\s|really\s|now\s|always\s|never\s|recently\s|still\s
        |usually\s|absolutely\s|only\s|currently\s)*
    (?:lives?|works?|is|'s|was|isn't|has|likes?|loves?|hates?|prefers?|enjoys?|adores|dislikes|doesn't
        |does\snot|can't|cannot|won't|never|turns|turned|moved|speaks|plays|studies|studied|got|had|teaches
        |runs|owns|drives|started|starts|wants|needs|uses|collects|eats|drinks|was\sborn|picks|set|manages
        |leads|comes|grew|knows|retired|graduated|joined|left|quit|sings|paints|helps|'s\sbirthday|handles
        |takes\scare|reports)\b.*)"""
)
_NOT_LASTING = re.compile(
    r"(?i)\b(?:today|tonight|right now|at the moment|just now|yesterday|this (?:morning|afternoon|evening)"
    r"|said|says|told|asked|thinks|thought|sent me|called me|texted|wrote|is (?:here|coming|sick|ill|tired"
    r"|late|right|wrong|busy|fine|ok|okay|sleeping|asleep|angry|upset|mad|waiting|calling|sad|happy|back|out"
    r"|away|home|on (?:the phone|vacation|holiday|leave))|was (?:here|there|right|wrong|late|sick|angry"
    r"|upset)|wants (?:me|to (?:know|see|talk|come|have|get|try))|needs (?:to|help|a (?:new|present|gift))"
    r"|has (?:to|been|asked|sent|said|told)|had (?:to|a (?:look|question|good|bad|great|rough))|got (?:back"
    r"|here|home|it|me|a (?:cold|bit))|doesn't (?:know|think|understand|want|work|seem|feel)|can't (?:come"
    r"|make|find|see|decide|believe|wait|remember|do|sleep|stop)|doing (?:great|well|fine|ok|okay|good"
    r"|better|a|some|really)|is (?:trying|looking|asking|going|having|getting|thinking|planning|visiting"
    r"|staying|being|not sure|worried|excited|curious|interested))\b"
)
_SHE = re.compile(r"(?i)(?P<who>she|he|they)(?=\s|'s|'re)")
_ROLE_PHRASE = re.compile(
    r"(?i)(?:'s|is) (?:my|our|the) (?P<role>[\w -]{3,40}?)(?= (?:at|of|for|here|there|and|who|from)\b|[,.;!?]|$)"
)
_FOREIGN_ABOUT = re.compile(
    r"""(?ix)\s*(?:,\s)?(?:
      (?:wohnt|lebt|arbeitet|ist|hat|mag|liebt|hasst|isst|trinkt|spielt|studiert|spricht|heißt|wird|verträgt
        |bevorzugt|kann\skeine?n?)\b.*
    | (?:vive|trabaja|es|tiene|cumple|le\sgustan?|le\sencantan?|odia|prefiere|no\scome|no\spuede|estudia|habla
        |toca|juega|se\smudó|nació|ama|adora)\b.*
    | (?:habite|vit|travaille|est|a\s(?:\w+\sans|une?\sallergie|horreur)|aime|adore|déteste|préfère|ne\smange
        |ne\sboit|ne\speut|étudie|parle|joue|n'aime|fête)\b.*
    | (?:abita|vive|lavora|è|ha|ama|odia|preferisce|non\smangia|compie|studia|suona|mora|trabalha|é|tem|faz
        |gosta|adora|odeia|não\scome|faz\sanos)\b.*
    | (?:woont|werkt|is|heeft|houdt|haat|eet|drinkt|wordt|studeert|speelt)\b.* | (?:живёт|живет|работает|любит
        |не\sест|не\sлюбит|учится|играет|ненавидит)\b.* )"""
)
_WIDE_ABOUT = re.compile(r"(?:も|は|が|喜欢|不喜欢|讨厌|住在|在|是|对|有|不吃).{2,}")
_IT = re.compile(
    r"(?i)(?:le (?:gustan?|encantan?)|(?:ella|él) |(?:elle|il) (?:adore|aime|déteste|préfère|est|travaille"
    r"|habite|a \d+ ans)|(?:sie|er) (?:ist|mag|liebt|hasst|wohnt|arbeitet|hat|isst)|彼女は|彼は|她|他)"
)
_ACTOR = re.compile(
    rf"{NAME} (?:picks?|picked|called|told|asked|thinks|wrote|texted|visited|helped|helps|invited|gave"
    r"|showed|introduced|recommended|confirmed|says|said|wants|cooked|brought|brings|drives|offered"
    r"|promised)\b"
)
_LY_NAMES = wordset("""
    emily kelly sally molly lily polly billy carly holly willy beverly kimberly ely nelly lilly
""")
_NOT_NAMES = wordset("""
    claude chatgpt gemini copilot siri alexa docker kubernetes redis slack jira notion figma stripe aws azure
    support customers users meanwhile thanks hello hey hi well sure okay yes next first last additionally
    speaking also whenever while since though although before after until unless everyone someone nobody i the a
    an my our you your it this that monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december english german french spanish and but so just
    then now today tomorrow yesterday christmas easter god is was has he she they we if when what where how why
    there here dr google github apple amazon microsoft python java rust django react linux windows macos docker
    postgres postgresql ich wir sie er es der die das und el la los las un una le les des et is are in on at of
    for to from with about not no who which whose while because although however also would could should can
    will api app url html css json sql
""")


_BEGINS = re.compile(rf"(?i:(?:my|our|cousin|aunt|uncle|the other) )?{NAME}")
_MAY_NAME = re.compile(r"(?-i:[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё])|^(?:she|he|they|sie|er|le|elle|il|ella|él)\b|[\u3040-\u9fff]")


def _of_unnamed(clause: Clause) -> Item | None:
    """`My mother lives in Graz`: she has no page of her own, so that it stands with what is known of the speaker."""
    pattern = UNNAMED.get(clause.tongue)
    match = pattern.match(clause.said) if pattern else None
    if not match:
        return None
    rest = clause.said[match.end() :].strip()
    is_lasting = _LASTS.match(rest) if clause.tongue == ENGLISH else _FOREIGN_LASTS.match(rest)
    if not is_lasting or _NOT_LASTING.search(rest) or NAMED_AFTER.match(rest):
        return None
    is_taste = re.match(r"(?i)(?:\w+ )?(?:likes?|loves?|hates?|prefers?|enjoys|adores)\b", rest)
    return item(clause, Kind.PREFERENCE if is_taste else Kind.FACT, confidence=LIKELY)


NAMED_AFTER = re.compile(r"(?:is|ist|es|est)? ?[A-ZÀ-Þ][a-zà-ÿ]+\b")
_FOREIGN_LASTS = re.compile(
    r"(?i)(?:wohnt|lebt|arbeitet|mag|liebt|hasst|isst|trinkt|darf|verträgt|wird .*\b\d{2}|ist (?:allergisch"
    r"|vegan|vegetarier|\d|lehrer|arzt)"
    r"|vive|trabaja|no (?:puede|come|bebe)|es (?:alérgic|vegan|vegetarian|hipertens|diabétic|médic|profesor)"
    r"|tiene|le gusta|odia|prefiere|cumple"
    r"|habite|vit|travaille|ne (?:mange|boit|peut)|est (?:allergique|végan|végétarien|intolérant|diabétique"
    r"|médecin)|a \d+ ans|adore|déteste)\b"
)


def may_name(clause: Clause, reading: Reading) -> bool:
    """A quick look, so that most clauses need no further one."""
    said = clause.said
    if _MAY_NAME.search(said) or (clause.tongue in UNNAMED and UNNAMED[clause.tongue].match(said)):
        return True
    return any(name in said.lower() for name in reading.people) or " is our " in said or " is my " in said


def find(clause: Clause, reading: Reading, is_meant: Callable[[Clause], bool]) -> list[Item]:
    """Notes whom the clause names, and gives what it says about them. `is_meant` is asked where it names one."""
    named = list(_named(clause, reading))
    begins = _BEGINS.match(clause.said)
    is_later = _SHE.match(clause.said) or _IT.match(clause.said) or (begins and is_name(begins["name"]))
    is_later = is_later or clause.said.split(" ", 1)[0].strip("',").removesuffix("'s").lower() in reading.people
    unnamed = None if named else _of_unnamed(clause)
    if not (named or is_later or unnamed) or not is_meant(clause):
        return []
    if unnamed:
        return [unnamed]
    items: list[Item] = []
    for name, role, end in named:
        is_new = _note(clause, reading, name, role)
        about = _about(clause, name, end)
        if about:
            items.append(about)
        elif role and is_new:
            items.append(_role_item(clause, name, role, end))
    names = {name for name, _, _ in named}
    actor = _ACTOR.match(clause.said) if clause.tongue == ENGLISH and not named else None
    if actor and is_name(actor["name"]):
        reading.last_person = actor["name"]
    if len(names) == 1:
        reading.last_person = names.pop()
    elif len(names) > 1:
        reading.last_person = ""
    return items or ([] if named else _of_known(clause, reading) or _of_pronoun(clause, reading))


def _named(clause: Clause, reading: Reading) -> Iterator[tuple[str, str, int]]:
    seen: set[str] = set()
    said = clause.said
    for pattern in PATTERNS.get(clause.tongue, ENGLISH_PATTERNS):
        for match in pattern.finditer(said):
            groups = match.groupdict()
            name = groups.get("name") or _known(groups.get("low") or "", reading)
            name = re.sub(r"['’]s$", "", (name or "").strip())
            if not is_name(name) or name.lower() in seen:
                continue
            seen.add(name.lower())
            yield name, _role(groups.get("role") or ""), match.end()


def is_name(name: str) -> bool:
    first = re.split(r"[ '’]", name.replace(".", ""), maxsplit=1)[0].lower()
    if first.endswith("ly") and first not in _LY_NAMES:
        return False
    return bool(name) and (first not in _NOT_NAMES or first in ("dr",)) and len(name) <= 60


def _known(name: str, reading: Reading) -> str:
    """As it was written with a capital before, or at the start of a clause that says who they are."""
    if not name or name.lower() in _NOT_NAMES or name.lower() in _COMMON:
        return ""
    mention = reading.people.get(name.lower())
    return (
        mention.name
        if mention
        else next((one for one in reading.about.people if one.lower() == name.lower()), name.capitalize())
    )


_COMMON = wordset("""
    this that he she it who what which everyone nobody someone money work health time family music
""")


def _role(words: str) -> str:
    role = wording.clean(words).lower().strip(" ,.")
    return re.sub(r"^(?:the|my|our|new)\s+", "", role)


def _note(clause: Clause, reading: Reading, name: str, role: str) -> bool:
    """True where the role was not known before."""
    key = name.lower()
    known = reading.people.get(key)
    if known and role and known.role and role != known.role:
        _doubt(clause, reading, known, role)
    if known and (known.role or not role):
        return False
    quotes = (clause.quote,) if not known else (*known.quotes, clause.quote)
    reading.people[key] = Mention(name=known.name if known else name, quotes=quotes, role=role)
    return bool(role)


def _doubt(clause: Clause, reading: Reading, known: Mention, role: str) -> None:
    """One name with two roles may be two people. Only somebody who knows them can say."""
    text = f"Is {known.name} ({known.role}) the same person as {known.name} ({role})?"
    if all(doubt.text != text for doubt in reading.doubts):
        reading.doubts.append(Doubt(text=text, quotes=(known.quotes[0], clause.quote)))


def _role_item(clause: Clause, name: str, role: str, end: int) -> Item:
    if clause.tongue == ENGLISH:
        is_group = re.match(
            r"(?:choir|office|gym|team|band|club|church|school|work|accounting|hr|sales|marketing|legal|finance|it"
            r"|support|design|course|class)\b",
            role,
        )
        owner = "the" if re.search(rf"(?i)\bthe (?:new )?{re.escape(role)}$", clause.said[:end]) else "their"
        tail = re.match(r"(?i) (?:of|at|for) [^,.;:!?]{2,50}", clause.said[end:]) if owner == "the" else None
        text = f"{name} is from {role}" if is_group else f"{name} is {owner} {role}{tail[0] if tail else ''}"
    else:
        text = f"{name}: {role}"
    return item(
        clause,
        Kind.FACT,
        Shelf.PERSON,
        text=text,
        subject=name,
        attribute="role",
        value=role,
        importance=USUAL,
        confidence=SURE,
    )


def _about(clause: Clause, name: str, end: int) -> Item | None:
    """What follows the name."""
    rest = clause.said[end:]
    rest = re.sub(r"^\s*\([^)]{0,60}\)", "", rest)
    if clause.tongue in ("zh", "ja"):
        match = _WIDE_ABOUT.match(rest)
        return _fact(clause, name, wording.line(clause.said)) if match else None
    if clause.tongue != ENGLISH:
        match = _FOREIGN_ABOUT.match(rest)
        return _fact(clause, name, wording.line(clause.said)) if match else None
    match = _ABOUT.match(rest)
    if not match or _NOT_LASTING.search(match["said"]) or re.match(r"(?i)(?:is|'s|was) (?:my|our)\b", match["said"]):
        return None
    said = match["said"]
    joined = f"{name}{said}" if said.startswith("'") else f"{name} {said}"
    return _fact(clause, name, wording.third_person(joined))


def _fact(clause: Clause, name: str, text: str) -> Item:
    lowered = text.lower()
    is_taste = re.search(
        r"\b(?:likes?|loves?|hates?|prefers?|adores?|enjoys?|dislikes?|gustan?|encantan?|adora|odia|prefiere"
        r"|aime|déteste|préfère|mag|liebt|hasst)\b|喜欢|好き",
        lowered,
    )
    is_harm = re.search(
        r"allerg|アレルギー|过敏|can't eat|cannot eat|intoleran|intolér|lactose|diabet|celiac|coeliac", lowered
    )
    lives = re.search(
        r"(?i)\b(?:lives in|moved to|wohnt in|vive en|habite à) (?P<value>[A-ZÀ-Þ][\w'’ -]{1,40}?)(?=[,.;]"
        r"| (?:and|with|since|und|y|et)\b|$)",
        text,
    )
    birthday = re.search(
        r"(?i)birthday is(?: on)? (?P<value>[^,.;]{3,30})|\bcumple (?:\d+ )?(?:años )?el (?P<es>\d{1,2} de \w+)"
        r"|turns \d+ on (?P<on>[^,.;]{3,30})",
        text,
    )
    attribute, value = "", ""
    if lives:
        attribute, value = "lives in", lives["value"]
    elif birthday:
        attribute, value = "birthday", next(part for part in birthday.groups() if part)
    return item(
        clause,
        Kind.PREFERENCE if is_taste else Kind.FACT,
        Shelf.PERSON,
        text=text,
        subject=name,
        attribute=attribute,
        value=value.strip(),
        importance=HIGH if is_harm else USUAL,
        confidence=LIKELY,
    )


def _of_known(clause: Clause, reading: Reading) -> list[Item]:
    """`Anna lives in Graz`, after she was introduced; `Anna turns 40`, as only people and animals do."""
    match = re.match(rf"(?:(?:my|our|cousin|aunt|uncle|the other) )?{NAME}", clause.said)
    lowered = clause.said.split(" ", 1)[0].strip("'s,").lower()
    known = reading.people.get(match["name"].lower()) if match else reading.people.get(lowered)
    if (
        not known
        and match
        and is_name(match["name"])
        and re.match(
            r"(?:'s birthday| turns \d| turned \d|, my | just had a baby| is pregnant)", clause.said[match.end() :]
        )
    ):
        _note(clause, reading, match["name"], "")
        known = reading.people[match["name"].lower()]
    if not known:
        return []
    reading.last_person = known.name
    end = match.end() if match else len(lowered)
    about = _about(clause, known.name, end)
    return [about] if about else []


_LASTS = re.compile(
    r"(?i)(?:'s|is|was) (?:an? |the |my |our |allergic|vegetarian|vegan|from|born|married|\d|into|lactose"
    r"|pregnant|left-handed|diabetic)|(?:also |really |absolutely |always |never )?(?:lives?|works?"
    r"|has (?!to|been|a (?:point|look|question))|likes?|loves?|hates?|prefers?|enjoys|adores|doesn't (?:eat"
    r"|drink|like)|can't (?:eat|stand|drink)|turns? \d|turned \d|speaks|plays|studies|teaches|runs|owns"
    r"|leads|manages|handles|starts|goes to|attends|moved to"
    r"|comes from|wants .*\b(?:only|no|always)\b|wanted)\b"
)
"""What is said of "her" is kept only where it is so for long."""


def _of_pronoun(clause: Clause, reading: Reading) -> list[Item]:
    """`She is the organiser`: the one person who was named right before."""
    name = reading.last_person
    if not name:
        return []
    if clause.tongue != ENGLISH:
        return [_fact(clause, name, wording.line(clause.said))] if _IT.match(clause.said) else []
    match = _SHE.match(clause.said)
    if not match or match["who"].lower() == "they":
        return []
    rest = clause.said[match.end() :]
    role = _ROLE_PHRASE.match(rest.strip())
    if role and is_role(role["role"]):
        _note(clause, reading, name, _role(role["role"]))
    about = _ABOUT.match(rest)
    if not about or not _LASTS.match(about["said"]) or _NOT_LASTING.search(about["said"]):
        return []
    said = about["said"]
    joined = f"{name} is{said[2:]}" if said.startswith("'s ") else f"{name} {said}"
    return [_fact(clause, name, wording.third_person(joined))]


def is_role(words: str) -> bool:
    return bool(
        re.fullmatch(ROLE.replace("(?P<role>", "(?:"), words.rsplit(" ", maxsplit=1)[-1], re.IGNORECASE)
    ) or bool(re.fullmatch(JOB.replace("(?P<role>", "(?:"), words, re.IGNORECASE))
