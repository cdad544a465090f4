"""The day by which something is to be done, from words such as "by Friday", "am 12. April", "mañana".

Unlike a question's phrases (`recall.time_phrases`), which look back, these look ahead: a weekday is the next one, a
date without a year the next of its kind, a week or month its last day.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = (
    "jan(?:uary|uar|vier|eiro|uari)?|jänner|ene(?:ro)?|gennaio|январ[ья]",
    "feb(?:ruary|ruar|ruari|rero|braio)?|février|fevereiro|феврал[ья]",
    "mar(?:ch|s|zo|ço)?|märz|maart|март[а]?",
    "apr(?:il|ile)?|abr(?:il)?|avril|апрел[ья]",
    "may|mai|mayo|maggio|maio|mei|ма[йя]",
    "june?|juni|junio|juin|giugno|junho|июн[ья]",
    "july?|juli|julio|juillet|luglio|julho|июл[ья]",
    "aug(?:ust|ustus)?|agosto|août|август[а]?",
    "sept?(?:ember|iembre|embre|tembre)?|setembro|settembre|сентябр[ья]",
    "oct(?:ober|ubre|obre)?|okt(?:ober)?|ottobre|outubro|октябр[ья]",
    "nov(?:ember|iembre|embre|embro)?|ноябр[ья]",
    "dec(?:ember)?|dez(?:ember|embro)?|dic(?:iembre|embre)?|décembre|декабр[ья]",
)
_WEEKDAYS = (
    "monday|mon(?=\\b(?!day))|montag|lunes|lundi|lunedì|segunda(?:-feira)?|maandag|понедельник[а]?|星期一|周一|月曜日?",
    "tuesday|tues?|dienstag|martes|mardi|martedì|terça(?:-feira)?|dinsdag|вторник[а]?|星期二|周二|火曜日?",
    "wednesday|mittwoch|miércoles|mercredi|mercoledì|quarta(?:-feira)?|woensdag|сред[аыу]|星期三|周三|水曜日?",
    "thursday|thurs?|donnerstag|jueves|jeudi|giovedì|quinta(?:-feira)?|donderdag|четверг[а]?|星期四|周四|木曜日?",
    "friday|freitag|viernes|vendredi|venerdì|sexta(?:-feira)?|vrijdag|пятниц[аыу]|星期五|周五|金曜日?",
    "saturday|samstag|sonnabend|sábado|samedi|sabato|zaterdag|суббот[аыу]|星期六|周六|土曜日?",
    "sunday|sonntag|domingo|dimanche|domenica|zondag|воскресень[ея]|星期[天日]|周日|日曜日?",
)
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a an one einer einem una un une",
            "two zwei dos deux",
            "three drei tres trois",
            "four vier",
            "five",
            "six",
            "seven",
        ),
        1,
    )
    for word in words.split()
} | {"ten": 10}
_MONTH = "|".join(f"(?P<m{number}>{names})" for number, names in enumerate(_MONTHS, 1))
_WEEKDAY = "|".join(f"(?P<w{number}>{names})" for number, names in enumerate(_WEEKDAYS))

Resolve = Callable[[re.Match[str], date], date | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    on: date
    start: int
    end: int
    """Where in the text it is said."""
    is_exact: bool
    """A day; else the last one of a week or month."""


def _named(match: re.Match[str], letter: str) -> int:
    return next(
        int(name[1:]) for name, value in match.groupdict().items() if value and name[0] == letter and name[1:].isdigit()
    )


def _with_month(match: re.Match[str], today: date) -> date | None:
    month, day = _named(match, "m"), int(match["day"])
    years = [int(match["year"])] if match["year"] else [today.year, today.year + 1]
    found = [date(year, month, day) for year in years if day <= calendar.monthrange(year, month)[1]]
    return next((one for one in found if one >= today or match["year"]), None)


def _iso(match: re.Match[str], today: date) -> date | None:
    return date(int(match["year"]), int(match["month"]), int(match["day"]))


def _dotted(match: re.Match[str], today: date) -> date | None:
    day, month = int(match["day"]), int(match["month"])
    year = int(match["year"]) if match["year"] else today.year
    found = date(year + 2000 if year < 100 else year, month, day)
    return found if found >= today or match["year"] else found.replace(year=year + 1)


def _day_number(match: re.Match[str], today: date) -> date | None:
    day = int(match["day"])
    month = today.replace(day=1)
    for _ in range(3):
        if day <= calendar.monthrange(month.year, month.month)[1] and month.replace(day=day) >= today:
            return month.replace(day=day)
        month = (month + timedelta(days=32)).replace(day=1)
    return None


def _weekday(match: re.Match[str], today: date) -> date | None:
    wanted = _named(match, "w")
    if match["next"]:
        return today - timedelta(days=today.weekday()) + timedelta(days=7 + wanted)
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _in_units(match: re.Match[str], today: date) -> date | None:
    word = match["number"].lower()
    count = int(word) if word.isdigit() else _NUMBERS.get(word, 1)
    unit = match["unit"].lower()
    days = 1 if unit[0] in "dtgj" and not unit.startswith("jahr") else 7 if unit[0] in "wvs" else 30
    return today + timedelta(days=days * min(count, 400))


def _last_of_month(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _month(match: re.Match[str], today: date) -> date | None:
    month = _named(match, "m")
    year = int(match["year"]) if match["year"] else today.year + (month < today.month)
    if (match["lead"] or "").lower().strip() in ("before", "vor", "antes de", "avant", "prima di"):
        return date(year, month, 1) - timedelta(days=1)
    return _last_of_month(year, month)


def _sunday(weeks: int) -> Resolve:
    return lambda match, today: today + timedelta(days=6 - today.weekday() + 7 * weeks)


def _after(days: int) -> Resolve:
    return lambda match, today: today + timedelta(days=days)


def _month_end(months: int) -> Resolve:
    def resolve(match: re.Match[str], today: date) -> date | None:
        first = today.replace(day=1)
        for _ in range(months):
            first = (first + timedelta(days=32)).replace(day=1)
        return _last_of_month(first.year, first.month)

    return resolve


def _year_end(match: re.Match[str], today: date) -> date | None:
    return date(today.year, 12, 31)


def _rule(
    pattern: str, resolve: Resolve, *, is_exact: bool = True, wide: bool = False
) -> tuple[re.Pattern[str], Resolve, bool]:
    bounded = pattern if wide else rf"(?<![\w-])(?:{pattern})(?![\w-])"
    return re.compile(bounded, re.IGNORECASE), resolve, is_exact


_YEAR = r"(?:,?\s+(?:de\s+|del\s+)?(?P<year>\d{4}))?"
_RULES = (
    _rule(r"(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)", _iso),
    _rule(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|º|er|e)?\s+(?:of\s+|de\s+)?(?:{_MONTH})\.?{_YEAR}", _with_month),
    _rule(rf"(?:{_MONTH})\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_YEAR}", _with_month),
    _rule(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2})?", _dotted),
    _rule(r"(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号](?P<year>)", _dotted, wide=True),
    _rule(
        r"(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)(?!\s+(?:line|row|column|item|one|time|option|step|page|test"
        r"|attempt|floor|grade|year|party|place|century|edition))",
        _day_number,
    ),
    _rule(
        r"day after tomorrow|übermorgen|pasado mañana|après-demain|dopodomani|depois de amanhã|overmorgen"
        r"|послезавтра",
        _after(2),
    ),
    _rule(r"后天|後天|明後日|あさって", _after(2), wide=True),
    _rule(r"tomorrow|tmrw|tmr|morgen(?!s)|mañana|demain|domani|amanhã|завтра", _after(1)),
    _rule(r"明天|明日", _after(1), wide=True),
    _rule(
        r"today|tonight|this (?:evening|afternoon)|heute|hoy|esta (?:noche|tarde)|aujourd'hui|ce soir|oggi"
        r"|stasera|hoje|vandaag|сегодня",
        _after(0),
    ),
    _rule(r"今天|今日|今晚", _after(0), wide=True),
    _rule(
        rf"(?P<next>next|nächsten?|próxim[oa]|prossim[oa]|volgende"
        rf"|следующ\w+)?\s*(?:{_WEEKDAY})(?:\s+(?:que viene|prochain))?",
        _weekday,
    ),
    _rule(
        r"(?P<next>下)?(?:星期|周)(?:(?P<w0>一)|(?P<w1>二)|(?P<w2>三)|(?P<w3>四)|(?P<w4>五)|(?P<w5>六)|(?P<w6>[日天]))",
        _weekday,
        wide=True,
    ),
    _rule(
        r"(?:in|within|en|dans|binnen|tra|em|через)\s+(?P<number>\d{1,3}|an?|one|two|three|four|five|six|seven|ten"
        r"|einer|einem|zwei|drei|vier|una?|dos|tres|une|deux|trois)"
        r"\s+(?P<unit>days?|weeks?|months?|tage?n?|wochen?|monate?n?|días?|semanas?|mes(?:es)?|jours?|semaines?"
        r"|mois|giorni|settiman[ae]|dias?|dagen|weken|дн\w+|недел\w+)",
        _in_units,
    ),
    _rule(
        rf"(?P<lead>)(?:(?:the\s+)?(?:end|last \w+) of|ende|finales de|fin|fine|fim de|eind)\s+(?:{_MONTH}){_YEAR}",
        _month,
        is_exact=False,
    ),
    _rule(
        r"(?:the\s+)?end of (?:the |this )?month|monatsende|ende des monats|fin(?:al)? de(?:l)? mes|fin du mois"
        r"|fine mese",
        _month_end(0),
        is_exact=False,
    ),
    _rule(
        r"(?:the\s+)?end of (?:the |this )?week|ende der woche|fin de semana|fin de la semaine|(?:this|the"
        r"|next)? ?weekend|(?:am )?wochenende|ce week-end|fine settimana|fim de semana|这个周末|周末|週末",
        _sunday(0),
        is_exact=False,
    ),
    _rule(
        r"(?:the\s+)?end of (?:the |this )?year|jahresende|ende des jahres|fin de año|fin de l'année",
        _year_end,
        is_exact=False,
    ),
    _rule(
        r"next week|nächste[rn]? woche|la semana que viene|la próxima semana|la semaine prochaine"
        r"|la settimana prossima|volgende week|semana que vem|на следующей неделе",
        _sunday(1),
        is_exact=False,
    ),
    _rule(r"下周|下週|来週", _sunday(1), is_exact=False, wide=True),
    _rule(
        r"this week|diese woche|esta semana|cette semaine|questa settimana|deze week|на этой неделе",
        _sunday(0),
        is_exact=False,
    ),
    _rule(
        r"next month|nächsten monat|el (?:próximo mes|mes que viene)|le mois prochain|il mese prossimo"
        r"|volgende maand|mês que vem",
        _month_end(1),
        is_exact=False,
    ),
    _rule(r"来月|下个月|下個月", _month_end(1), is_exact=False, wide=True),
    _rule(
        rf"(?P<lead>by|until|till|before|in|during|bis|im|vor|en|hasta|antes de|avant|jusqu'en|a|entro|prima di"
        rf"|em|até|in|voor|tot)\s+(?:{_MONTH}){_YEAR}",
        _month,
        is_exact=False,
    ),
)


def find_day(text: str, today: date) -> Day | None:
    """The first rule that finds one wins: a date before a weekday, a weekday before a month."""
    for pattern, resolve, is_exact in _RULES:
        for match in pattern.finditer(text):
            try:
                found = resolve(match, today)
            except (ValueError, OverflowError):
                continue
            if found and found >= today:
                return Day(on=found, start=match.start(), end=match.end(), is_exact=is_exact)
    return None
