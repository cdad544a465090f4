"""The words of time: tables, and pieces of patterns that the rules of `time_words` are put together from."""

import re

_COUNT = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS: dict[str, tuple[int, int]] = {
    **{word: (number, number) for number, word in enumerate(_COUNT.split(), 1)},
    "a": (1, 1),
    "an": (1, 1),
    "fifteen": (15, 15),
    "twenty": (20, 20),
    "thirty": (30, 30),
    "couple": (2, 3),
    "few": (2, 5),
    "some": (2, 8),
    "several": (3, 8),
    "many": (4, 15),
}
"""Word → the least and the most it may mean."""
MONTH_STARTS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")

UNIT = r"(?P<unit>minute|hour|day|night|week|weekend|fortnight|month|quarter|year|decade)s?"
NUMBER = (
    r"(?P<number>\d{1,4}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+|the\s+)?few|"
    + "|".join(word for word in NUMBERS if word not in ("couple", "few"))
    + r")"
)
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)"
)
WEEKDAY_BEFORE = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+(?:the\s+)?)?"
YEAR = r"(?P<year>(?:19|20)\d\d)(?![\d%]|[.,:/-]\d)"
OF_YEAR = rf"(?:(?:,\s*|\s+)(?:of\s+)?{YEAR})?"
DAY_NUMBER = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
PART = (
    r"(?:(?:(?:the|very)\s+){0,2}(?P<part>early|mid(?:dle)?|late|beginning|start|end|(?:first|second)\s+half"
    r"|(?:first|second|third|fourth|last)\s+week(?:end)?)(?:-|\s+)(?:in\s+)?(?:of\s+)?(?:the\s+)?)?"
)
HOLIDAY = (
    r"(?P<holiday>christmas|new\s+year|easter|thanksgiving|halloween|valentine(?=['’]?s))"
    r"(?!\s+eggs?\b)(?:['’]?s)?(?:\s+(?:eve|day))?"
)
DECADE = rf"(?:(?P<decade>{'|'.join(DECADES)})|['’]?(?P<digits>(?:19|20)?\d0)['’]?s)"
WHICH = r"(?P<which>last|past|previous|this|next|coming)"
TIME_OF_DAY = r"(?:\s+(?P<hours>morning|afternoon|evening|night))?"
HOURS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}

LEADS = re.compile(
    r"\b(?:in|during|since|until|till|through|before|after|around|between|last|this|next|past|previous|early|mid|late)"
    r"[\s-]+(?:the\s+)?$",
    re.IGNORECASE,
)
YEAR_LEADS = re.compile(
    r"\b(?:in|during|since|until|till|through(?:out)?|before|after|around|by|between|from|to|of|and|year|summer|fall|autumn"
    r"|winter|spring|the|my|our)[\s-]+(?:early\s+|mid\s+|late\s+)?$",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"\s*(?:bytes?|char|tokens?|lines?|words?|items?|rows?|users?|people|files?|steps?|px|pixels?|ms\b|[kmg]b\b|dollars?|euros?"
    r"|km\b|miles?|met(?:er|re)s?|times?|records?|messages?|requests?|points?|percent|%|seconds?|minutes?|hours?|days?)",
    re.IGNORECASE,
)
PLAIN_MONTHS = frozenset({"january", "february", "july", "september", "october", "november", "december"})
"""Those that are neither a name of a person nor another word, and so need nothing before them."""


def amounts(text: str) -> tuple[int, int]:
    """`2` → (2, 2), `a few` → (2, 5)"""
    word = re.sub(r"^(?:a|the)\s+|\s+of$", "", text.lower())
    return (int(word), int(word)) if word.isdigit() else NUMBERS[word]


def unit_of(match: re.Match[str]) -> str:
    unit = match["unit"].lower()
    return "day" if unit == "night" else unit
