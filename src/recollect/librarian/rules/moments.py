"""Milestones and insights, each said outright. Both are rare: most days have neither."""

import re

from recollect.knowledge import Kind
from recollect.librarian.items import USER, Item, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import LIKELY, SURE, Reading, item, text_of
from recollect.librarian.rules.tongues import ENGLISH

_JUST = r"(?:(?:finally|just|officially|actually|really|also|all|today|yesterday|recently|have|'ve)\s)*"
_MILESTONES = {
    "en": re.compile(
        rf"""(?ix)(?:
          (?:we|i)(?:'ve|\shave)?\s{_JUST}(?:shipped|launched|released|published|open-sourced
        |deployed)\s(?:[\w'-]+\s){{0,3}}?(?:v?\d+(?:\.\d+)+|version|1\.0|beta|the\s(?:app|game|site|website
        |product|book|album|platform|game)|our\s(?:app|first|product|site|platform|game)|my\s(?:first|app|book
        |game|site|novel|album)|to\sproduction|it\sto\sproduction)\b.*
        | (?:we|i)(?:'ve|\shave)?\s{_JUST}(?:got\smarried|got\sengaged|got\sdivorced|closed\son\s(?:the
        |our)\s(?:house|flat)|had\s(?:a|our)\s(?:baby
        |first\sbaby)|became\s(?:a\s)?(?:parents?|father|mother|grandparents?)|bought\s(?:a|our
        |my)\s(?:first\s)?(?:house|home|flat|apartment)|won\s(?:the|a|first|our|my)\s\S.*|raised\s(?:our
        |a)\s.*\bround|hit\s[\d.,]+[km]?\s\S.*|reached\s[\d.,]+[km]?\s(?:users|customers|downloads|subscribers
        |stars)|closed\s(?:our|the)\s.*\b(?:round|deal)|signed\s(?:our|the|my)\s(?:first|contract|lease)\b.*
        |celebrated\s(?:our|my)\s.*anniversary)\b.*
        | i(?:'ve|\shave)?\s{_JUST}(?:got\s(?:the\s(?:job|offer|promotion|position|scholarship|visa|grant)
        |promoted|accepted|hired|tenure|my\s(?:driver'?s?\slicen[cs]e|licen[cs]e|degree|phd|citizenship
        |black\sbelt|first\sjob|diploma|green\scard))|passed\s(?:the|my|all)\s\S.*|graduated\b|finished\s(?:my
        |writing\smy)\s(?:thesis|degree|phd|dissertation|novel|book|first|master'?s|training|bootcamp
        |manuscript)|defended\smy\s|completed\smy\s(?:first|degree|thesis|training|phd)|ran\smy\sfirst
        |quit\smy\sjob|was\spromoted|retired\b|became\s(?:a|an)\s\S.*|sold\smy\s(?:company|house|first)
        |turned\s(?:18|21|30|40|50|60|70|80)\b|beat\scancer|adopted\s(?:a|our)\s)\b.*
        | ran\smy\sfirst\s\S.* | (?:passed|finished|defended)\smy\s(?:exam|thesis|driving\stest|degree|phd
        |finals|dissertation)\b.*
        | (?:my|our)\s(?:[\w'-]+\s){{0,3}}(?:paper|talk|article|book|proposal|manuscript|abstract|application
        |grant|visa|loan|offer)\s(?:just\s|finally\s)?(?:got|was|has\sbeen|is)\s(?:accepted|published|approved
        |selected|nominated|granted)\b.*
        | (?:my|our)\s(?:son|daughter|baby|grandson|granddaughter|first\schild|twins)\b.{{0,20}}(?:was
        |were)\sborn\b.*
        | (?:today\s(?:was|is)\s)?(?:my\s)?first\sday\s(?:at|as|of)\s(?!the\s(?:week|month|year))\S.*
        | (?:the\s)?[\w.-]+\s(?:\d[\w.]*\s)?(?:is\s(?:finally\s|now\s)?live|went\slive
        |is\s(?:finally\s)?released)\b.* )"""
    ),
    "de": re.compile(
        r"""(?ix)(?: (?:ich\shabe|wir\shaben|endlich\shaben\swir|heute\shaben\swir)\s(?:\S+\s){0,5}(?:geheiratet
        |veröffentlicht|bestanden|gewonnen|ausgeliefert|abgeschlossen|gekauft|fertiggestellt|gekündigt
        |verteidigt|promoviert)\b.*
        | (?:ich\sbin|wir\ssind)\s(?:\S+\s){0,3}(?:befördert\sworden|eltern\sgeworden|vater\sgeworden
        |mutter\sgeworden|oma\sgeworden|opa\sgeworden|umgezogen|in\srente)\b.*
        | ich\shabe\s(?:den\sjob|die\sstelle|die\szusage|den\sführerschein|den\svertrag)\b.* | (?:unser
        |mein)e?\s(?:sohn|tochter|baby|kind)\s.*geboren.* )"""
    ),
    "es": re.compile(
        r"(?ix)(?:(?:hemos|he|nos\shemos|por\sfin\s(?:hemos|he))\s(?:\S+\s){0,3}?(?:lanzado|publicado|aprobado"
        r"|ganado|terminado\s(?:mi|la)|comprado\s(?:una|la|nuestra)\scasa|casado)\b.*"
        r"|(?:me\shan\s(?:dado\sel\strabajo|ascendido|contratado|aceptado)|nos\scasamos|aprobé"
        r"|conseguí\sel\strabajo|nació\s(?:mi|nuestr[oa]))\b.*)"
    ),
    "fr": re.compile(
        r"(?ix)(?:(?:nous\savons|on\sa|j'ai|ça\sy\sest,?\s(?:on\sa|j'ai|nous\savons))\s(?:\S+\s){0,3}?(?:lancé"
        r"|publié|réussi|gagné|obtenu|eu\s(?:mon|le)\s(?:permis|poste|bac|diplôme)|décroché|acheté\s(?:une|notre"
        r"|la)\smaison|terminé\sma\sthèse|soutenu\sma\sthèse)\b.*|(?:on\ss'est\smariés"
        r"|nous\snous\ssommes\smariés|j'ai\sété\s(?:promue?|embauchée?|acceptée?))\b.*)"
    ),
    "it": re.compile(
        r"(?i)(?:ho (?:superato|passato|vinto|comprato casa|ottenuto il lavoro)|abbiamo (?:lanciato|pubblicato"
        r"|comprato casa)|ci siamo sposati|mi sono laureat[oa])\b.*"
    ),
    "pt": re.compile(
        r"(?i)(?:comprei (?:um|uma|o meu|a minha) (?:apartamento|casa)|comprámos (?:uma )?casa|passei (?:no|na"
        r"|em)|casei|casámos|consegui o emprego|lançámos|lançamos|fui promovid[oa])\b.*"
    ),
    "nl": re.compile(
        r"(?i)(?:ik ben (?:geslaagd|afgestudeerd|aangenomen)|we zijn (?:getrouwd|live)|ik heb de baan"
        r"|we hebben .*(?:gelanceerd|uitgebracht)|we hebben een huis gekocht)\b.*"
    ),
    "ru": re.compile(
        r"(?i)(?:я )?(?:сдала? (?:экзамен|на права)|получила? работу|купил[аи]? (?:квартиру|дом)|поженились"
        r"|вышла замуж|мы выпустили|защитила? )\b.*"
    ),
    "zh": re.compile(
        r"(?:我|我们)?.{0,8}(?:通过了.{0,10}(?:考试|考試)|结婚了|結婚了|找到工作|升职了|拿到(?:驾照|offer|学位)|毕业了|买房了|发布了.{0,10}版)"
    ),
    "ja": re.compile(
        r".{0,20}(?:試験|免許|大学|資格).{0,8}(?:合格しました|合格した|受かりました)|.{0,12}(?:結婚しました|卒業しました|内定をもらいました|昇進しました|家を買いました)"
    ),
}
_INSIGHTS = {
    "en": re.compile(
        r"""(?ix)(?: (?:(?:the\s|my\s|a\s|key\s|big\s|main\s|biggest\s|important\s)*(?:lesson(?:s)?(?:\s(?:learn(?:ed
        |t)|for\s(?:next\stime|me|the\sfuture)|here))?|takeaway|insight|moral\sof\sthe\sstory|til
        |today\si\slearn(?:ed|t)|rule\sof\sthumb|realization|realisation|aha\smoment)\s?(?:is|was|:|–|—|-|that
        |,)\s*(?:that\s|to\s)?(?P<value>\S.{10,}))
        | i(?:'ve|\shave)?\s(?:\w+\s)?learn(?:ed|t)\sthe\shard\sway,?\s(?:that\s|to\s)?(?P<hard>\S.{8,})
        | turns\sout(?:\sthat|,)?\s(?P<turns>\S.{10,}) | (?:the\s(?:trick|secret|key|root\scause
        |real\s(?:problem|issue|cause)|actual\scause)\s(?:is|was|turned\sout\sto\sbe|here\sis
        |to\s[\w\s]{3,40}\sis)\s(?:that\s|to\s)?(?P<trick>\S.{8,}))
        | i(?:'ve|\shave)?\s(?:just\s|finally\s|also\s|recently\s|now\s)*(?:reali[sz]ed|learn(?:ed
        |t)(?:\sthe\shard\sway)?|noticed|discovered|figured\sout|found\sout|understood)\s(?:that\s
        |today\sthat\s|it's\salways\sthe\ssame:?\s)?(?P<real>(?=.*\b(?:always|never|every\stime|whenever
        |when(?:ever)?\si|only\swhen|the\shard\sway)\b)\S.{10,})
        | (?P<when>(?:whenever|every\stime)\s(?:i|we|he|she|my\s\w+|the\s\w+)\s[^,]{4,80},?\s(?:i|we|it|my
        |the)\s.{4,}) | (?P<last>last\stime\s(?:i|we)\s(?=.*\b(?:because|too|forgot|ran\sover|should\shave
        |didn't)\b).{8,}) )"""
    ),
    "de": re.compile(
        r"(?ix)(?:(?:erkenntnis|lehre|fazit|merke|gelernt|lektion|lesson\slearned)\s?(?:daraus"
        r"|für\smich)?\s?[:–—]\s*(?P<value>\S.{8,})|(?:wie\ssich\sherausstellt|es\sstellt(?:e)?\ssich\sheraus"
        r"|stellt\ssich\sheraus),?\s(?:dass\s)?(?P<turns>\S.{8,})|der\s(?:trick|clou|schlüssel)\s(?:ist"
        r"|war)\b,?\s?(?P<trick>\S.{8,})|ich\shabe\s(?:\w+\s){0,2}(?:gelernt|gemerkt|festgestellt|verstanden"
        r"|begriffen),?\sdass\s(?P<real>\S.{8,})|(?P<when>(?:immer|jedes\smal),?\swenn\sich\s.{8,}))"
    ),
    "es": re.compile(
        r"(?ix)(?:(?:lección(?:\saprendida)?|moraleja|conclusión)\s?:\s*(?P<value>\S.{8,})"
        r"|resulta\sque\s(?P<turns>\S.{8,})|el\struco\ses\s(?P<trick>\S.{6,})|(?:he\saprendido|aprendí"
        r"|me\s(?:he\sdado|di)\scuenta\sde|descubrí)\s(?:de\s)?que\s(?P<real>\S.{8,})|(?P<when>(?:cada\svez"
        r"|siempre)\sque\s.{10,}))"
    ),
    "fr": re.compile(
        r"(?ix)(?:(?:leçon(?:\sapprise)?|morale|conclusion)\s?:\s*(?P<value>\S.{8,})"
        r"|il\ss'avère\sque\s(?P<turns>\S.{8,})|(?:l'astuce|le\struc),?\s(?:c'est|est)\s(?P<trick>\S.{6,})"
        r"|(?:j'ai\s(?:appris|réalisé|compris|remarqué|découvert)|je\sme\ssuis\srendu\scompte)\squ(?:e\s"
        r"|')(?P<real>\S.{8,})|(?P<when>(?:chaque\sfois|à\schaque\sfois)\sque\s.{10,}))"
    ),
}
_GENERAL = re.compile(
    r"(?i)\b(?:always|never|every|each|whenever|must|should|only|don't|need|needs|before|first|instead"
    r"|better|because|not|works|when|if|can't|cannot|without|means|immer|nie|nur|erst|muss|sollte|nicht"
    r"|siempre|nunca|hay que|no|toujours|jamais|il faut|ne|pas)\b"
)
_AT_HAND = re.compile(
    r"(?i)(?:it|this|that|there|the (?:file|test|function|error|code|build|script|button|page|variable"
    r"|config|issue|problem|bug)|your|you)\b"
)


def milestone(clause: Clause, reading: Reading) -> Item | None:
    pattern = _MILESTONES.get(clause.tongue)
    match = pattern.match(clause.said) if pattern else None
    if not match or clause.text.rstrip().endswith("?") or re.search(r"\b(?:19|20)\d\d\b", clause.said):
        return None
    return item(
        clause,
        Kind.FACT,
        Shelf.MILESTONE,
        subject=reading.home_subject if clause.said[:2].lower() == "we" else USER,
        text=text_of(clause),
        importance=0.8,
        confidence=SURE,
    )


def insight(clause: Clause, reading: Reading) -> Item | None:
    pattern = _INSIGHTS.get(clause.tongue)
    match = pattern.match(clause.said) if pattern else None
    if not match:
        return None
    name, value = next((name, value) for name, value in match.groupdict().items() if value)
    if name in ("turns", "trick") and (_AT_HAND.match(value) or not _GENERAL.search(value)):
        return None
    text = wording.third_person(value) if clause.tongue == ENGLISH else wording.line(value)
    return item(
        clause,
        Kind.LEARNING,
        Shelf.INSIGHT,
        subject=reading.home_subject,
        text=text,
        importance=0.6,
        confidence=SURE if name == "value" else LIKELY,
    )
