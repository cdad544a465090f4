"""The project a conversation is about, and what a person says of it that no file tells."""

import re
from pathlib import PurePosixPath, PureWindowsPath

from recollect.knowledge import Kind
from recollect.librarian.items import About, Item, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import LIKELY, SURE, USUAL, Reading, item
from recollect.librarian.speech.wordset import wordset

_PLACES = wordset("""
    src source code repo repos work workspace workspaces projects project dev git github desktop documents
    downloads home users tmp temp var opt root mnt media private worktrees worktree main master trunk app apps
    volumes users code playground sandbox scratch build dist
""")
_TEMPORARY = re.compile(r"(?i)(?:^|/)(?:tmp|temp|var/folders|private/var|private/tmp|appdata/local/temp)(?:/|$)")
_RANDOM = re.compile(r"(?i)(?:tmp|temp)[\w.-]*|[0-9a-f]{8,}|[0-9a-f-]{32,}|\d+")
_HOME = re.compile(r"(?i)^(?:/home/[^/]+|/users/[^/]+|/root|[a-z]:/users/[^/]+|~|/|[a-z]:/?)$")
_CALLED = re.compile(
    r"""(?ix)\b(?:project|app|game|library|tool|repo|startup|side\sproject|product|package|plugin|website|site|bot
        |newsletter|podcast|projekt|proyecto|projet)\s
    (?:is\s|that's\s|'s\s|,\s)?(?:called|named|heißt|namens|llamad[oa]|se\sllama|appelée?|qui\ss'appelle
        |genannt)\s[\"“'`«]?(?-i:(?P<name>[A-Za-zÀ-ÿ][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,20})?))"""
)


def project_of(about: About) -> str:
    """The folder's own name; of a worktree its repository's; none for a home, a temporary or a bare folder."""
    folder = about.project.strip().replace("\\", "/").rstrip("/")
    if not folder or _HOME.match(folder) or _TEMPORARY.search(folder):
        return ""
    parts = [
        part
        for part in (PureWindowsPath(folder) if ":" in folder[:3] else PurePosixPath(folder)).parts
        if part.strip("/\\")
    ]
    for mark in (".worktrees", "worktrees", ".claude", ".git", ".codex", ".cursor", ".conductor"):
        if mark in parts[1:]:
            parts = parts[: parts.index(mark)]
    for at, part in enumerate(parts):
        if at and part.lower().endswith(("-worktrees", "_worktrees", ".worktrees")) and len(part) > len("-worktrees"):
            parts = [*parts[:at], part[: -len("-worktrees")]]
            break
    while parts and (parts[-1].lower() in _PLACES or _RANDOM.fullmatch(parts[-1])):
        parts = parts[:-1]
    if not parts or _HOME.match("/" + "/".join(part.strip("/\\") for part in parts)):
        return ""
    name = parts[-1].strip(". -_")
    return re.sub(r"(?i)[-_.](?:worktree|wt|main|master)$", "", name) if re.search("[^\\W\\d_]", name) else ""


def named(clause: Clause) -> str:
    """`a side project called Lantern`"""
    match = _CALLED.search(clause.said)
    return match["name"].strip(".") if match and match["name"].lower() not in ("the", "a", "it", "that", "this") else ""


_OURS = (
    r"(?:the |our |this |my )?(?:(?:staging|test|prod|production|main|build|mail|file|web) )?(?:app|api"
    r"|service|server|site|website|backend|frontend|front end|back end"
    r"|database|db|production|prod|staging|test environment|dev environment|cluster|deployment|release"
    r"|releases|deadline|budget|client|customers?|users?|team|sprint|launch|domain|hosting|ci|cd|sensor"
    r"|sensors|device|devices|mobile app|ios app|android app|web app|cli|bot|game|product|project|repo"
    r"|package|licen[cs]e|style guide|design|roadmap|mvp|beta|release date|target audience|stakeholders?"
    r"|budget|codename|data|backups?|logs|payments?|billing|auth|login|region|production region"
    r"|staging region|default branch|main branch|support|slack channel|on-call|standup|retro|tone|audience)"
)
_STATES = (
    r"(?:listens? on|runs? (?:on|in|at|under|as|every)|uses?|is hosted (?:on|at|by|in)|are hosted"
    r"|lives? (?:on|in|at|under|behind)|is deployed (?:on|to|at|with|via)|deploys? (?:to|via|with|on)"
    r"|is (?:written|built) (?:in|with|on|for)|is called|is named|must|has to|have to|needs? to (?:support"
    r"|run|work)|supports?|targets?|sends?|stays? (?:on|in|at)|belongs to|is due|are due|is (?:on|in|at|for"
    r"|the|a|an|eu-|us-|ap-|\d)|are (?:in|on|at|all|mostly|the|\d)|ships?|goes live|starts?|ends?|expires?"
    r"|costs?|pays?|is owned|is maintained|is managed|meets?|consists? of|has (?:\d|no|two|three|four|five"
    r"|about|around|roughly)|have (?:\d|no)|wants?|expects?|insists? on|is \S+\.\S+|(?:is|are) (?:only "
    r"|always |never )?(?:valid|allowed|required"
    r"|optional|mandatory|forbidden|limited|capped))"
)
_WE = re.compile(
    r"(?i)we(?:'re| are)? (?:currently |now |all |always |only |mostly |also |never |still |mainly )*(?:use"
    r"|run|deploy|host|support|target|ship|release|meet|have|keep|store|write|test|work|follow|charge|sell"
    r"|serve|build|require|on|using|hosted|running|rotate|sync|track|bill|pay)\b(?P<value> .{4,})"
)
_RULE = re.compile(
    r"(?i)(?:the |our |all |every |any |each |no )?(?!turns |i |we |you |it |this |that |they |he "
    r"|she )[\w-]+(?: [\w-]+){0,2} (?:uses?|(?:is|are) (?:only |always |never )?(?:valid|allowed|required"
    r"|optional|mandatory|forbidden|limited to|capped at)|must(?: not| never| always)?|has to|have to) .{4,}"
)
_OF_CODE = re.compile(
    r"(?i)(?:the |our |this |that |we use it|every |each |all )?(?:\w+ )?(?:function|method|class|test"
    r"|button|endpoint|page|script|component|field|column|output|query|variable|loop|file"
    r"|line|module|error|regex|it)\b"
)
_POINTS = re.compile(
    r"(?i)\b(?:to (?:calculate|find|solve|get|determine)|you (?:suggested|mentioned|said))\b|\b(?:it"
    r"|them)\b(?=\W*(?:accurately|$))"
)
_SAID_OF_ALL = re.compile(
    r"(?i)(?:nobody|everyone|everybody|no one)(?: (?:on the team|in the team|here|at work|of us))? (?:uses?"
    r"|works?|has|reads?|runs?)\b.{4,}"
    r"|all (?:[\w-]+ ){1,3}(?:are|is|go|get) (?:stored|kept|in|sent|written|saved|deployed|signed|reviewed"
    r"|encrypted|logged)\b.{3,}"
    r"|(?:the|our) [\w -]{3,25} team (?:owns|maintains|handles|runs|builds|wants|uses)\b.{3,}"
    r"|our (?:biggest |main |first |only |new |largest )?(?:client|customer|supplier|competitor|sponsor"
    r"|investor|vendor|partner) is \S.{2,}"
    r"|(?:commits|releases|builds|deploys|bugs|invoices|orders|tickets) (?:go|are|get|come"
    r"|happen) (?:straight |always |only |all )?\w+ .{3,}"
)
_VERSION = re.compile(r"(?i)(?:the |our )?[\w-]+(?: [\w-]+)? (?:is|are) (?:at |on |still |now )*v?\d+(?:\.\d+)+\b.*")
_ASKED_FOR = re.compile(
    r"(?i)\b(?:fail\w*|broken?|errors?|bugs?|crash\w*|wrong\w*|why|can you|could you|please|seems?|weird\w*"
    r"|flaky|stuck|help)\b"
)
_PROBLEM = re.compile(
    r"(?i)\b(?:fail\w*|broken?|break\w*|slow\w*|wrong\w*|error\w*|bugs?|crash\w*|too|doesn't|does not|isn't"
    r"|aren't|won't|not working|stuck|hangs?|leak\w*|flaky|issues?|problem\w*|weird\w*|strange\w*|stopped"
    r"|missing|timeout|times out|\d{3} error|sometimes|suddenly|keeps?|why|help|need|want|should|could|would"
    r"|can you|please|seem\w*|trying|try|somehow|unfortunately|red|down|again|any|idea|this (?:file|function"
    r"|test|line|code|error|script|class|component|method|bug|output))\b"
)
_ASIDE = re.compile(
    r"(?i)\b(?:btw|by the way|fyi|for (?:your )?(?:info|information|reference|context)|for the record"
    r"|just so you know|übrigens|nebenbei|por cierto|au fait|pour info|trouwens|кстати)\b|顺便|ちなみに"
)
_PROGRESS = re.compile(
    r"(?i)\b(?:is|are|was|were)(?: \w+)? \w+ing\b|\b(?:got|been|went|today|yesterday|speaking of|a bunch of"
    r"|a lot of|lots of|lately|recently|amazing|great|awesome|so|really|very|huge|super)\b"
)
_TOO_LOOSE = wordset("""
    we a an this that it they there these those he she some what how
""")
_VERB = {
    "en": re.compile(
        r"(?i)\b(?:is|are|has|have|lives?|works?|runs?|costs?|uses?|called|sends?|starts?|ends?|closes?|opens?"
        r"|needs?|takes?|goes|belongs?|expires?)\b"
    ),
    "de": re.compile(r"(?i)\b(?:ist|sind|hat|haben|heißt|läuft|liegt|steht|kostet|beginnt|endet|gehört)\b"),
    "es": re.compile(r"(?i)\b(?:es|son|está|están|tiene|tienen|se llama|cuesta|empieza|termina|usa|vive)\b"),
    "fr": re.compile(r"(?i)\b(?:est|sont|s'appelle|coûte|commence|finit|utilise|habite|se trouve)\b"),
    "nl": re.compile(r"(?i)\b(?:is|zijn|heeft|hebben|heet|kost|begint|eindigt|staat|ligt)\b"),
    "it": re.compile(r"(?i)\b(?:è|sono|ha|si chiama|costa|inizia|finisce|sta)\b"),
    "pt": re.compile(r"(?i)\b(?:é|são|está|tem|chama-se|custa|começa|termina|fica)\b"),
    "ru": re.compile(r"(?i)\b(?:это|есть|находится|стоит|называется|живёт|работает)\b"),
    "zh": re.compile("[是在叫有]"),
    "ja": re.compile("です|あります|います|ます"),
}
_GERMAN = re.compile(
    r"(?i)(?:unser[e]?[rnms]?|die|der|das) (?:app|api|server|datenbank|produktion|staging|kunde[n]?|team"
    r"|projekt|seite|website|dienst|frist|budget|anwendung|software) (?:läuft|liegt|heißt|nutzt|verwendet"
    r"|steht|gehört|besteht|muss|ist (?:in|auf|bei|am|ein|eine))\b.{4,}|wir (?:nutzen|verwenden|hosten"
    r"|betreiben|setzen|arbeiten mit|deployen|releasen|liefern)\b.{4,}"
)
_SPANISH = re.compile(
    r"(?i)(?:nuestr[oa]|la|el) (?:app|api|servidor|base de datos|producción|cliente|equipo|proyecto|sitio"
    r"|web) (?:corre|está (?:en|alojad)|se llama|usa|utiliza|debe|funciona (?:en|con))\b.{4,}|(?:usamos"
    r"|utilizamos|desplegamos|trabajamos con|alojamos)\b.{4,}"
)
_FRENCH = re.compile(
    r"(?i)(?:notre|la|le|l') ?(?:appli|app|api|serveur|base de données|production|prod|client|équipe|projet"
    r"|site) (?:tourne|est (?:en|sur|hébergée?|écrite?)|s'appelle|utilise|doit)\b.{4,}|(?:nous utilisons"
    r"|on utilise|nous déployons|on déploie|on héberge)\b.{4,}"
)
_FOREIGN = {"de": _GERMAN, "es": _SPANISH, "fr": _FRENCH}


def find(clause: Clause, reading: Reading) -> Item | None:
    """A fact of the project, in a conversation about one."""
    if not reading.project:
        return None
    said = clause.said
    if clause.tongue in _FOREIGN:
        if not _FOREIGN[clause.tongue].match(said) or re.search(
            r"(?i)\b(?:fehler|langsam|kaputt|geht nicht|error|lent[oa]?|roto|falla|bug|problem\w*|problème)\b", said
        ):
            return None
        return _item(clause, reading)
    name = re.escape(reading.project)
    is_of_it = re.match(
        rf"(?i)(?:{name}(?:'s [\w ]{{2,20}})?|{_OURS}(?: (?:of|for|in) {name})?) (?:\w+ly |also |now |still "
        rf"|only |always |currently )?{_STATES}\b.{{2,}}",
        said,
    )
    if _POINTS.search(said) or _OF_CODE.match(said):
        return None
    is_rule = _RULE.match(said) or _VERSION.match(said) or _SAID_OF_ALL.match(said)
    if (
        not is_of_it
        and not is_rule
        and not (_WE.match(said) and not re.match(r"(?i)we (?:\w+ )?\w+ (?:it|this|that|them)\b", said))
    ):
        return None
    if is_rule:
        return None if _ASKED_FOR.search(said) else _item(clause, reading)
    return None if _PROBLEM.search(said) else _item(clause, reading)


def aside(clause: Clause, reading: Reading) -> Item | None:
    """`By the way, …`: said so that it is known, whatever it is about."""
    if not (_ASIDE.search(clause.fillers) or _ASIDE.search(clause.sentence[-24:]) or _ASIDE.match(clause.sentence)):
        return None
    words = clause.said.split()
    if (
        len(words) < 4
        or _PROBLEM.search(clause.said)
        or re.match(
            r"(?i)(?:you|your|can|could|is there|do|did|thanks|i|i'm|i've|i'll|we'll|let's|the (?:test|build|file"
            r"|function|error|code))\b",
            clause.said,
        )
    ):
        return None
    if (
        words[0].lower() in _TOO_LOOSE
        or _PROGRESS.search(clause.said)
        or not _VERB.get(clause.tongue, _VERB["en"]).search(clause.said)
    ):
        return None
    return _item(clause, reading)


def _item(clause: Clause, reading: Reading) -> Item:
    text = re.sub(_ASIDE.pattern + r"[\s,.!]*$", "", clause.said)
    text = wording.third_person(text) if clause.tongue == "en" else wording.line(text)
    shelf = Shelf.PROJECT if reading.project else Shelf.CORE
    return item(
        clause,
        Kind.FACT,
        shelf,
        subject=reading.home_subject,
        text=text,
        importance=USUAL,
        confidence=LIKELY if reading.project else SURE,
    )
