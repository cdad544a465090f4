"""Whether words may mean a certain day: a reader that resolves "by Friday" to a date is right only if they do.

Lenient on purpose: it is to stop a day that nobody spoke of, not to compute one. Pure.
"""

import re
import unicodedata
from datetime import date, datetime, timedelta

from recollect.clock import LOCAL, local

_MONTHS = (
    "jan january januar jaenner janner enero janvier gennaio janeiro januari январ",
    "feb february februar febrero fevrier febbraio fevereiro februari феврал",
    "mar march marz maerz marzo mars marco maart март",
    "apr april abril avril aprile апрел",
    "may mai mayo maggio maio mei мая май",
    "jun june juni junio juin giugno junho июн",
    "jul july juli julio juillet luglio julho июл",
    "aug august agosto aout augustus август",
    "sep sept september septiembre septembre settembre setembro сентябр",
    "oct october oktober okt octubre octobre ottobre outubro октябр",
    "nov november noviembre novembre novembro ноябр",
    "dec december dezember dez diciembre decembre dicembre dezembro декабр",
)
_WEEKDAYS = (
    "mon monday montag lunes lundi lunedi segunda maandag понедельник",
    "tue tues tuesday dienstag martes mardi martedi terca dinsdag вторник",
    "wed wednesday mittwoch miercoles mercredi mercoledi quarta woensdag сред",
    "thu thur thurs thursday donnerstag jueves jeudi giovedi quinta donderdag четверг",
    "fri friday freitag viernes vendredi venerdi sexta vrijdag пятниц",
    "sat saturday samstag sonnabend sabado samedi sabato zaterdag суббот",
    "sun sunday sonntag domingo dimanche domenica zondag воскресень",
)
_NEAR = {
    "today": 0, "tonight": 0, "heute": 0, "hoy": 0, "aujourd": 0, "oggi": 0, "hoje": 0, "vandaag": 0, "сегодня": 0,
    "tomorrow": 1, "morgen": 1, "manana": 1, "demain": 1, "domani": 1, "amanha": 1, "завтра": 1,
    "ubermorgen": 2, "yesterday": -1, "gestern": -1, "ayer": -1, "hier": -1, "ieri": -1, "ontem": -1, "вчера": -1,
}  # fmt: skip
_WIDE = {
    "weekend": 14, "wochenende": 14, "week": 21, "weeks": 90, "woche": 21, "wochen": 90, "semana": 21, "semanas": 90,
    "semaine": 21, "semaines": 90, "settimana": 21, "day": 7, "days": 90, "tage": 90, "tagen": 90, "dias": 90,
    "jours": 90, "giorni": 90, "month": 62, "months": 400, "monat": 62, "monate": 400, "monaten": 400, "monats": 62,
    "mes": 62, "meses": 400, "mois": 400, "mese": 62, "mesi": 400, "year": 800, "years": 4_000, "jahr": 800,
    "jahre": 4_000, "jahren": 4_000, "ano": 800, "anos": 4_000, "annee": 800, "ans": 4_000, "quarter": 200,
    "quartal": 200, "jahresende": 400, "monatsende": 62, "eoy": 400, "eom": 62, "eow": 14, "fortnight": 21,
    "christmas": 400, "easter": 400, "weihnachten": 400, "ostern": 400, "silvester": 400, "navidad": 400, "noel": 400,
    "summer": 400, "sommer": 400, "verano": 400, "winter": 400, "spring": 400, "autumn": 400, "herbst": 400,
}  # fmt: skip
"""A word for a length of time, and how many days from now it may reach."""
_WIDE_SCRIPT = re.compile(
    r"今日|今天|本日|明日|明天|昨日|昨天|明後日|后天|来週|下周|下週|来月|下个月|週末|周末|[一二三四五六七八九十\d]+[月日号]|[周週]|曜日|星期"
)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"\d+")
NEAR_WEEKDAY_DAYS = 21
NEAR_NUMBER_DAYS = 62
"""As far ahead "by the 15th" may mean."""
NEAR_MONTH_DAYS = 400
LAST_OF_MONTH = 31
FEWEST_LETTERS = 4


def plain(word: str) -> str:
    """As words are compared here: without case and accents."""
    if word.isascii():
        return word.lower()
    return "".join(sign for sign in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(sign))


_MONTH_OF = {word: number for number, words in enumerate(_MONTHS, 1) for word in map(plain, words.split())}
_WEEKDAY_OF = {word: number for number, words in enumerate(_WEEKDAYS) for word in map(plain, words.split())}


def iso_days(text: str) -> list[date]:
    """The days that stand in a text in figures. What is no day of the calendar is left out."""
    found: list[date] = []
    for match in _ISO.finditer(text):
        try:
            found.append(date(int(match[1]), int(match[2]), int(match[3])))
        except ValueError:
            continue
    return found


def is_day_word(word: str) -> bool:
    """A name of a month or a weekday."""
    return _weekday(plain(word)) >= 0 or _month(plain(word)) > 0


def may_mean(text: str, day: date, at: str) -> bool:
    """Whether a text that was said at a stored time may speak of this day."""
    words = {plain(word) for word in _WORDS.findall(text)}
    numbers = {int(number) for number in _NUMBERS.findall(text) if len(number) <= 4}
    said = local(at) if at else None
    if _is_named(day, words, numbers, said):
        return True
    if said is None:
        return False
    away = (day - said.date()).days
    has_more = any(number > 1_000 for number in numbers) or any(map(_month, words))
    return (
        (day.day in numbers and abs(away) <= NEAR_NUMBER_DAYS and not has_more)
        or _is_near(day, away, words)
        or any(abs(away) <= reach for word, reach in _WIDE.items() if word in words)
        or (bool(_WIDE_SCRIPT.search(text)) and abs(away) <= NEAR_MONTH_DAYS)
        or _is_in_period(text, day, said, has_more)
    )


def _is_named(day: date, words: set[str], numbers: set[int], said: datetime | None) -> bool:
    """By its month, its number and its year, as far as they are given: "by the end of May" is any day of it."""
    years = {number for number in numbers if number > 1_000}
    if years and day.year not in years:
        return False
    if not years and (said is None or abs((day - said.date()).days) > NEAR_MONTH_DAYS):
        return False
    has_month = day.month in numbers or any(_month(word) == day.month for word in words)
    days = {number for number in numbers if number <= LAST_OF_MONTH} - {day.month}
    return has_month and (day.day in numbers or not days)


def _month(word: str) -> int:
    return _of(_MONTH_OF, word, 0)


def _weekday(word: str) -> int:
    return _of(_WEEKDAY_OF, word, -1)


def _of(table: dict[str, int], word: str, otherwise: int) -> int:
    """Russian has endings: there the beginning of a word counts."""
    if word in table or word.isascii():
        return table.get(word, otherwise)
    return next(
        (table[word[:end]] for end in range(len(word), FEWEST_LETTERS - 1, -1) if word[:end] in table), otherwise
    )


def _is_near(day: date, away: int, words: set[str]) -> bool:
    is_weekday = abs(away) <= NEAR_WEEKDAY_DAYS and any(_weekday(word) == day.weekday() for word in words)
    return is_weekday or any(_NEAR.get(word) == away for word in words)


def _is_in_period(text: str, day: date, said: datetime, has_more: bool) -> bool:
    from recollect.recall.time_phrases import find_periods  # With it comes all of recall, which most items do without.

    for period in find_periods(text, said, LOCAL):
        start, end = period.start.astimezone(LOCAL).date(), period.end.astimezone(LOCAL).date()
        if period.end - period.start > timedelta(days=NEAR_MONTH_DAYS):
            continue
        is_feast = not has_more and (start.month, start.day) == (day.month, day.day)
        if start <= day <= end or is_feast:
            return True
    return False
