"""Recognise credentials in text and mask them.

Purpose: nothing that reaches the index, a model or a note carries a working key. A credential becomes
`[masked:<rule>]`; the name, quotes, header, URL user and host around it stay readable.

Not the purpose: judging how strong a password is, or hiding names. Prose and code *about* secrets survive.

Invariants: `mask(mask(t)) == mask(t)`; findings are sorted and never overlap; a mark has no quote, backslash
or control character, so that masking a line of JSON leaves it JSON.

Speed: an import masks every message and almost none holds a secret, so a text has to open a `Gate` first. A
gate is one regex that begins with a single literal character: `re` skips to the next one several times faster
than to a word or a character class. Behind an open gate a rule's pattern is tried only where its hint stands.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

MARK = "[masked:"
MIN_SECRET_CHARS = 8  # of a value known only by its name; shorter ones are mostly words

_FILLER = re.compile(
    r"(?i)x{5}|\*{3}|\.{3}|(?:your|insert|replace|enter)[-_]|[-_]here\b"
    r"|placeholder|example-|redacted|dummy"
)
_REFERENCE = re.compile(
    r"""(?ix) ^ \$ (?![0-9a-z]{1,8}\$) | ^[<{%(\[@~/.*&!|] | \$\{ | \{\{ | \[masked:
    | ^(?:https?|file|s3|gs|op|vault|secret|arn|env|ref|urn|sha\d+)[:-]
    | ^(?:process|os|env|config|settings|self|this|import|secrets|vars|params|args|ctx|req|props|data)\.
    | ^(?:none|null|nil|true|false|undefined|string|str|password\d{0,3}|passwd|pass|pwd|secret|token)$
    | ^(?:changeme|change[-_]me)\d{0,3}$
    | ^(?:u?int|utf|base|sha|float|bcrypt|argon|oauth|aes|hmac|pbkdf)[-_]?\d{1,4}[a-z]*$
    | \.(?:pem|key|json|txt|ya?ml|env|py|[jt]sx?|md|crt|pub|toml|go|rs)$
    """
)
# Words and numbers joined by separators: an identifier, a slug, a version, a path.
_WORDS = re.compile(r"(?:sha\d+|[A-Za-z]+\d{0,2}|\d+)(?:[-_./:,@+?]+(?:sha\d+|[A-Za-z]+\d{0,2}|\d+))*[-_./:!?]*")


def _is_random(value: str) -> bool:
    """What follows a known prefix is no word and no filler: neither `sk-learn-contrib` nor `sk-xxxx`."""
    is_mixed = not value.islower() or any(map(str.isdigit, value))
    return is_mixed and len(set(value)) > 5 and not _FILLER.search(value)


def _is_password(value: str) -> bool:
    """The place (`user:…@host`) says what it is, so that only references and stand-ins are let through."""
    return not _REFERENCE.search(value) and not _FILLER.search(value) and len(set(value)) > 1


def _is_secret(value: str) -> bool:
    """What is given to a credential's name: long and mixed; no reference, stand-in, path or plain words."""
    if len(value) < MIN_SECRET_CHARS or len(set(value)) < 5 or not _is_password(value):
        return False
    has_digit = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    has_sign = any(c in "!@#$%^&*+~" for c in value) and not (value.islower() or value.isupper())
    return (has_digit or has_sign) and not _WORDS.fullmatch(value)


def _is_login(value: str) -> bool:
    """`Basic` is followed by base64 of `user:password`; anything else is prose."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in login and login.isascii() and login.decode().isprintable()


def _is_block(value: str) -> bool:
    return bool(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of credential.

    `hint`: literals, one of which begins every match of `pattern`. The pattern's group `secret` or `bare`, or
    else all of it, is masked if `accept` agrees. `gate`: literals, one of them in every text with a match; by
    default the hints, and followed by the regex `tail`. `folded`: the same for the folded text (`_FOLD`);
    such a rule's hints are lower case and found in any case.
    """

    name: str
    hint: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = _is_random
    gate: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    rule: str
    start: int
    end: int


# A credential starts where no word is running; `\n` in quoted text and `%3D` in a URL end a word too.
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F][0-9A-F]))"
_END = r"(?![A-Za-z0-9])"
_A = r"[A-Za-z0-9]"
_W = r"[A-Za-z0-9_-]"
_LONG_WORD = r"(?=[A-Za-z0-9]{16})"  # as tails: they keep `self._name` and `well-known` from opening a gate
_LONG_RUN = r"(?=[A-Za-z0-9_+/=-]{16})"

_QUOTE = r"""\\{0,3}["'`]"""  # escaped, in quoted JSON
# After a name: its closing quote or bracket, a sign that assigns, perhaps after a type.
_SET = rf"(?:{_QUOTE}\]?)?[ \t]{{0,8}}(?::[ \t]?\w{{1,20}}[ \t]?=|:=|=>|={{1,3}}|:|>)\s{{0,4}}"
_QUOTED = rf"{_QUOTE}(?P<secret>(?:[^\s\"'`\\]|\\(?!\\{{0,3}}[\"'`])){{8,512}}+)(?={_QUOTE})"
_BARE = r"""(?P<bare>[^\s"'`\\,;<>(){}\[\]|&]{8,512}+)(?![(\[{"'`])"""
_KEY_OF = (
    "api|app",
    "auth",
    "admin",
    "access|secret|master",
    "private|account|service|webhook",
    "encryption",
)
_NAME = (
    r"(?:pass(?:word|wd|phrase)|(?<![a-z])pass|pwd|secret|token|credentials?"
    rf"|(?:{'|'.join(f'(?<={kinds})|(?<=(?:{kinds})[_ -])' for kinds in _KEY_OF)})key)"
)


def _prefixed(name: str, hints: str, body: str, gate: tuple[str, ...] = ()) -> Rule:
    """A credential known by its first characters; several spellings are separated by blanks."""
    hint = tuple(hints.split())
    tail = "" if gate else _LONG_WORD if body.startswith((_A, "[0-9", "[A-Z2")) else _LONG_RUN
    pattern = re.compile(f"{_EDGE}(?:{'|'.join(map(re.escape, hint))}){body}")
    return Rule(name=name, hint=hint, pattern=pattern, gate=gate, tail=tail)


def _placed(
    name: str,
    hint: str | tuple[str, ...],
    pattern: str,
    accept: Callable[[str], bool] = _is_random,
    *,
    gate: tuple[str, ...] = (),
    folded: tuple[str, ...] = (),
    tail: str = "",
) -> Rule:
    """A credential known by what stands before it, which stays readable."""
    hints = (hint,) if isinstance(hint, str) else hint
    return Rule(name=name, hint=hints, pattern=re.compile(pattern), accept=accept, gate=gate, folded=folded, tail=tail)


RULES: tuple[Rule, ...] = (
    # PEM, OpenSSH, PGP, and in the file of a GCP service account; without END, up to the end of the text.
    # A header alone, as in code that looks for keys, has no body and stays.
    _placed(
        "private-key",
        "-----BEGIN ",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?=(?:\\{1,4}[nr]|[^A-Za-z]){1,60}(?:[A-Za-z0-9+/=]{24}|Proc-Type|Version|Comment))"
        r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        _is_block,
    ),
    _prefixed("age-secret-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{40,}"),  # file encryption
    _prefixed("recollect-token", "recollect_", rf"{_W}{{43}}{_END}"),  # our own (access)
    # Model providers
    _prefixed("anthropic-key", "sk-ant-", rf"{_W}{{20,}}"),
    _prefixed("openrouter-key", "sk-or-", rf"{_W}{{20,}}"),
    _prefixed("openai-key", "sk-", rf"(?:(?:proj|svcacct|admin)-{_W}{{20,}}|{_A}{{20,}}{_END})"),  # and kin
    _prefixed("huggingface-token", "hf_", rf"{_A}{{30,}}"),
    _prefixed("groq-key", "gsk_", rf"{_A}{{40,}}"),
    _prefixed("xai-key", "xai-", rf"{_A}{{40,}}"),
    _prefixed("perplexity-key", "pplx-", rf"{_A}{{40,}}"),
    _prefixed("replicate-token", "r8_", rf"{_A}{{30,}}"),
    # Code hosting and packages
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_A}{{36,}}"),
    _prefixed("github-fine-grained-token", "github_pat_", rf"{_A}{{20,}}_[A-Za-z0-9_]{{30,}}"),
    _prefixed("gitlab-token", "glpat-", rf"{_W}{{20,}}"),
    _prefixed("npm-token", "npm_", rf"{_A}{{36,}}"),
    _prefixed("pypi-token", "pypi-AgEI", rf"{_W}{{50,}}"),
    _prefixed("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{50,}"),
    # Clouds and infrastructure
    _prefixed("aws-access-key-id", "AKIA ASIA", rf"[A-Z2-7]{{16}}{_END}"),
    _placed(
        "aws-secret-key",
        ("secret_access_key", "secretaccesskey"),
        rf"(?i:secret_?access_?key){_SET}(?:{_QUOTE})?(?P<secret>[\w/+]{{40}})(?![\w/+])",
        folded=("key=",),
    ),
    _prefixed("google-api-key", "AIza", rf"{_W}{{35}}(?!{_W})"),
    _prefixed("google-oauth-token", "ya29.", rf"{_W}{{20,}}"),
    _placed(
        "azure-storage-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i:(?:account|sharedaccess)key=)(?P<secret>[A-Za-z0-9/+]{40,}={0,2})",
        folded=("key=",),
    ),
    _placed(
        "azure-sas-signature",
        "sig=",
        r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9/+%]{40,}={0,2})",
        folded=("sig=",),
    ),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    # Has no prefix of its own: known by the name of its variable
    _placed(
        "cloudflare-token",
        ("cloudflare_api_", "cf_api_"),
        rf"(?i:(?:cloudflare|cf)_api_(?:token|key)){_SET}(?:{_QUOTE})?(?P<secret>{_W}{{37,40}})(?!{_W})",
        folded=("key=", "oken="),
    ),
    _prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"{_A}{{24,}}"),
    _prefixed("supabase-token", "sbp_ sb_secret_", rf"{_W}{{30,}}"),
    _prefixed("databricks-token", "dapi", rf"[0-9a-f]{{32}}(?:-[0-9])?{_END}"),
    _prefixed("tailscale-key", "tskey-", rf"[a-z]{{2,10}}-{_W}{{16,}}"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", rf"{_W}{{40,}}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", rf"{_W}{{20,}}"),
    # Payment and shops
    _prefixed("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", rf"{_A}{{16,}}"),
    _prefixed("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _prefixed("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"[0-9a-fA-F]{32}"),
    _prefixed("square-token", "sq0atp- sq0csp- EAAA", rf"{_W}{{22,}}"),
    # Messages, mail, team tools
    _prefixed("slack-token", "xoxa- xoxb- xoxp- xoxr- xoxs- xoxe-", r"[A-Za-z0-9-]{16,}"),
    _placed(
        "slack-webhook",
        "hooks.slack.com/",
        rf"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>(?:{_W}|/){{20,}})",
    ),
    _placed("discord-webhook", ".com/api/webhooks/", rf"\.com/api/webhooks/[0-9]{{15,20}}/(?P<secret>{_W}{{40,}})"),
    # user id (public), time, signature; the first part stays
    _placed(
        "discord-token",
        ".",
        rf"(?<={_W}{{24}})\.(?P<secret>{_W}{{6}}\.{_W}{{27,40}})(?![A-Za-z0-9_.-])",
        tail=rf"(?={_W}{{6}}\.{_W}{{27}})",
    ),
    # bot id (public), secret; the first part stays
    _placed("telegram-token", ":AA", rf"(?<=[0-9]{{8}}):(?P<secret>AA{_W}{{33}})(?!{_W})", tail=_LONG_RUN),
    _prefixed("twilio-key", "SK", rf"[0-9a-f]{{32}}{_END}"),
    _prefixed("sendgrid-key", "SG.", rf"{_W}{{16,32}}\.{_W}{{32,64}}"),
    # not the `key-` of `cache-key-<digest>`
    _prefixed("mailgun-key", "key-", rf"[0-9a-f]{{32}}{_END}(?<![A-Za-z0-9_-]key-.{{32}})"),
    _prefixed("linear-key", "lin_api_ lin_oauth_", rf"{_A}{{32,}}"),
    _prefixed("notion-token", "ntn_ secret_", rf"{_A}{{40,}}"),
    _prefixed("figma-token", "figd_", rf"{_W}{{36,}}"),
    # Known by form or place
    _prefixed("jwt", "eyJ", rf"{_W}{{10,800}}\.eyJ{_W}{{10,8000}}\.{_W}*", gate=(".eyJ",)),
    _placed(
        "url-password",
        "://",
        r"""://[^\s:/?#@"'<>`\[]{0,128}:(?P<secret>[^\s/@"'<>`]{3,256})@(?=[\w\[])""",
        _is_password,
        folded=("=//",),
    ),
    _placed(
        "curl-login",
        "curl ",
        r"curl [^|-]{0,200}+(?:(?:(?<!\s)-|-(?!u|-user))[^|-]{0,200}+){0,40}+"
        rf"(?:-u|--user)[ =]?(?:{_QUOTE})?"
        r"""[^\s:"'`\[]{1,128}:(?P<secret>[^\s"'`\\]{3,256})""",
        _is_password,
        gate=("-u ", "-user ", "-user=", "-u'", '-u"'),
    ),
    _placed(
        "basic-login",
        "basic ",
        r"(?i:basic) (?P<secret>[A-Za-z0-9+/]{6,512}={0,2})",
        _is_login,
        folded=("=basic",),
    ),
    _placed(
        "bearer-token",
        ("bearer ", "authorization: token "),
        r"(?i:bearer|authorization: token) (?P<secret>[A-Za-z0-9._~+/-]{8,4096}={0,2})",
        _is_secret,
        folded=("=bearer", "=token"),
    ),
    # PASSWORD=…, api_key: "…", <secret>…
    _placed(
        "assignment",
        ("pass", "pwd", "secret", "token", "credential", "key"),
        rf"(?i:{_NAME}){_SET}(?:{_QUOTED}|{_BARE})",
        _is_secret,
        folded=("word=", "sswd=", "pwd=", "rase=", "cret=", "oken=", "tial=", "ials=", "pass=", "key="),
    ),
    # --password VALUE
    _placed(
        "option",
        ("-password ", "-passwd ", "-passphrase ", "-secret ", "-token ", "-key "),
        rf"-[a-z]+ (?:{_QUOTED}|{_BARE})",
        _is_secret,
    ),
)

# Characters a gate can begin with, the rarer in prose and code the earlier.
_RARE_FIRST = "_-=.AS"
# Folded: lower case, no blanks or quotes, one sign for all that assign; `"Api_Key" : ` reads `api_key=`.
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ:>", b"abcdefghijklmnopqrstuvwxyz==")
_FOLDED_AWAY = b" \t\"'`\\]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Opens for a text that may hold a credential of its rules: places in `RULES`, with their literals."""

    opens: re.Pattern[str]
    rules: tuple[tuple[int, tuple[str, ...]], ...]

    def opened(self, text: str) -> Iterator[int]:
        for match in self.opens.finditer(text):
            for place, literals in self.rules:
                if text.endswith(literals, 0, match.end()):
                    yield place


def _opening(first: str, literals: list[tuple[str, str]]) -> str:
    """A regex that begins with `first`, goes on as a literal does after it, and looks back for the rest."""
    ways: dict[tuple[str, str], dict[int, list[str]]] = {}
    for literal, tail in dict.fromkeys(literals):
        rest = literal[literal.rindex(first) + 1 :]
        width = len(literal) if len(literal) > len(rest) + 1 else 0
        ways.setdefault((re.escape(rest), tail), {}).setdefault(width, []).append(re.escape(literal))
    branches: list[str] = []
    for (rest, tail), widths in ways.items():
        behind = "|".join(f"(?<={'|'.join(same)})" if width else "" for width, same in widths.items())
        branches.append(f"{rest}{tail}(?:{behind})" if behind else f"{rest}{tail}")
    return f"{re.escape(first)}(?:{'|'.join(sorted(branches, key=lambda way: way.startswith('(')))})"


def _gates(literals_of: Callable[[Rule], tuple[str, ...]]) -> tuple[Gate, ...]:
    firsts: dict[str, dict[int, list[str]]] = {}
    for place, rule in enumerate(RULES):
        for literal in literals_of(rule):
            first = min(literal, key=lambda c: _RARE_FIRST.find(c) % 99)
            firsts.setdefault(first, {}).setdefault(place, []).append(literal)
    gates: list[Gate] = []
    for first, rules in firsts.items():
        literals = [(literal, RULES[place].tail) for place, found in rules.items() for literal in found]
        listed = tuple((place, tuple(found)) for place, found in rules.items())
        gates.append(Gate(opens=re.compile(_opening(first, literals)), rules=listed))
    return tuple(gates)


_GATES = _gates(lambda rule: () if rule.folded else rule.gate or rule.hint)
_FOLDED_GATES = _gates(lambda rule: rule.folded)


def _worth_trying(text: str) -> set[int]:
    """Places in `RULES`."""
    if len(text) < MIN_SECRET_CHARS:
        return set()
    folded = text.encode("utf-8", "replace").translate(_FOLD, _FOLDED_AWAY).decode("latin-1")
    places: set[int] = set()
    for gate in _GATES:
        if gate.opens.search(text):
            places.update(gate.opened(text))
    for gate in _FOLDED_GATES:
        if gate.opens.search(folded):
            places.update(gate.opened(folded))
    return places


def _spans(rule: Rule, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    where = lowered if rule.folded else text
    for hint in rule.hint:
        at = where.find(hint)
        while at >= 0:
            match = rule.pattern.match(text, at)
            if match:
                start, end = match.span(match.lastgroup or 0)
                if match.lastgroup == "bare":  # the full stop of a sentence is not part of a password
                    end = start + len(match["bare"].rstrip(".,:"))
                if rule.accept(text[start:end]):
                    yield start, end
            at = where.find(hint, match.end() if match else at + 1)


def find(text: str) -> list[Finding]:
    """The credentials in a text, in order. Overlapping spans become one, named by the rule listed first."""
    places = _worth_trying(text)
    if not places:
        return []
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow in lower case; places must stay comparable
        lowered = "".join(c.lower() if c.isascii() else c for c in text)
    found = sorted((start, end, place) for place in places for start, end in _spans(RULES[place], text, lowered))
    merged: list[tuple[int, int, int]] = []
    for start, end, place in found:
        if merged and start < merged[-1][1]:
            first, last, named = merged.pop()
            start, end, place = first, max(last, end), min(named, place)
        merged.append((start, end, place))
    return [Finding(rule=RULES[place].name, start=start, end=end) for start, end, place in merged]


@lru_cache(maxsize=4)
def mask(text: str) -> str:
    """The text with each credential replaced by its mark.

    The last ones are remembered: a message is masked for its key and for its words. Repeated until nothing is found, as
    a mark can end the word in which another credential was hidden.
    """
    while findings := find(text):
        pieces: list[str] = []
        done = 0
        for finding in findings:
            pieces += (text[done : finding.start], f"{MARK}{finding.rule}]")
            done = finding.end
        text = "".join(pieces) + text[done:]
    return text


_NAMES_CREDENTIAL = re.compile(rf"(?i:{_NAME})\Z")


def _mask_named(name: str, text: str) -> str:
    masked = mask(text)
    is_value = masked == text and not any(map(str.isspace, text))
    return f"{MARK}assignment]" if is_value and _NAMES_CREDENTIAL.search(name) and _is_secret(text) else masked


def mask_json(value: object, *, name: str = "") -> object:
    """Decoded JSON with its strings masked; one under a credential's name is judged as if assigned to it."""
    if isinstance(value, str):
        return _mask_named(name, value)
    if isinstance(value, list):
        return [mask_json(item, name=name) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        masked: dict[str, object] = {}
        for key, item in cast("dict[str, object]", value).items():
            shown = mask(key)
            while shown in masked:  # two keys can look alike once masked; no member is lost
                shown += "#"
            masked[shown] = mask_json(item, name=key)
        return masked
    return value
