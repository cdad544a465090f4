"""Explicit requests: "remember that …", "note to self: …", "merk dir, dass …", "覚えておいて"."""

import re

from recollect.knowledge import Kind
from recollect.librarian.items import USER, Item, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause, Sentence, opening_of
from recollect.librarian.rules.forms import HIGH, SURE, Reading, item

REMEMBER = "remember"
"""The tag of what somebody asked to be remembered."""

_PLEASE = (
    r"(?:(?:please|pls|plz|also|and|just|so|ok|hey|oh|btw|can\syou|could\syou|would\syou|will\syou"
    r"|i\swant\syou\sto|i\sneed\syou\sto|i'd\slike\syou\sto|you\sshould|do|always|try\sto|for\snext\stime"
    r"|claude|assistant)[,:]?\s+){0,4}"
)
_OPENINGS = re.compile(
    rf"""(?ix)
    {_PLEASE}(?:remember|memori[sz]e|don't\sforget|do\snot\sforget|never\sforget|keep\sin\smind|bear\sin\smind
        |make\sa\s(?:mental\s)?note|take\snote|note\sdown|jot\sdown|save\sto\s(?:your\s)?memory
        |add\sto\s(?:your\s)?memory
       |store\sin\s(?:your\s)?memory|note\sfor\s(?:later|the\sfuture|yourself|next\stime))
       (?:\s(?:for\s(?:me|later|next\stime|the\sfuture)|this|please|the\sfollowing|also|too|that\sfor\slater
        |this\sfor\s(?:later|next\stime|the\sfuture)))*\s?(?:(?::|,|-|–|—)\s*(?:that\s)?|\sthat\s|\s(?=(?:my|i
        |i'm|we|our|the|to|not\sto|never|always|it's|all|this\sis)\b))
    | {_PLEASE}note\s(?:that\s|:\s*|down\s?:\s*)(?=(?:i|my|we|our|i'm|i've|the\s\w+\sis)\b)
    | (?:note|reminder)\sto\s(?:my)?self\s?[:,–—-]?\s+ | (?:just\s)?for\s(?:future\sreference|the\sfuture
        |next\stime|your\sreference|your\smemory|the\srecord)\s?[:,–—-]\s+
    | for\sfuture\sreference\s+ | (?:important|worth\sremembering|to\sremember|things?\sto\sremember|save\sthis
        |remember\sthis|mental\snote)\s?[:–—-]\s+
    | (?:bitte\s)?(?:merk(?:e)?\s(?:dir|euch)|merken\ssie\ssich|behalte?\s(?:bitte\s)?im\s(?:kopf|hinterkopf)
        |notier(?:e)?\s(?:dir)?|denk\s(?:bitte\s)?(?:immer\s)?daran|vergiss\s(?:bitte\s)?nicht
        |nicht\svergessen)(?:\s(?:bitte|das|auch|mal|noch|folgendes|einfach))*\s?(?:[:,]\s*(?:dass\s)?|\sdass\s
        |\s(?=(?:ich|wir|mein)\b))
    | (?:zur\sinfo|für\sdie\szukunft|fürs\snächste\smal|notiz\san\smich)\s?[:,–—-]\s+
    | (?:por\sfavor,?\s)?(?:recuerda|recuérdate|acuérdate(?:\sde)?|ten\sen\scuenta|toma\snota(?:\sde)?|apunta
        |anota|no\solvides|guarda\sen\s(?:tu\s)?memoria)(?:\s(?:por\sfavor|esto
        |también))*\s?(?:[:,]\s*(?:que\s)?|\sque\s|\s(?=(?:mi|siempre|nunca)\b))
    | (?:s'il\ste\splaît,?\s|stp,?\s)?(?:souviens-toi|rappelle-toi|retiens|garde\s(?:bien\s)?(?:en\stête
        |à\sl'esprit|en\smémoire)|note(?:\sbien)?|n'oublie\spas|mémorise|prends\snote)(?:\s(?:bien|aussi
        |s'il\ste\splaît|ceci))*\s?(?:[:,]\s*(?:que\s|qu')?|\s(?:que\s|qu')|\s(?=(?:mon|ma|mes|je|toujours)\b))
    | (?:per\sfavore,?\s)?(?:ricorda(?:ti)?|tieni\s(?:a\smente|presente)|non\sdimenticare|segnati
        |annota)(?:\s(?:per\sfavore|anche))*\s?(?:[:,]\s*(?:che\s)?|\sche\s)
    | (?:por\sfavor,?\s)?(?:lembr[ae](?:-te|-se)?(?:\sde)?|tenha\sem\smente|não\s(?:te\s)?esqueças?
        |não\sse\sesqueça|anota|guarda|memoriza)(?:\s(?:por\sfavor|também))*\s?(?:[:,]\s*(?:que\s)?|\sque\s)
    | (?:alsjeblieft\s)?(?:onthoud|vergeet\sniet|denk\seraan|noteer)(?:\s(?:trouwens|alsjeblieft|ook|even|dus
        |goed))*\s?(?:[:,]\s*(?:dat\s)?|\sdat\s)
    | (?:пожалуйста,?\s)?(?:запомни(?:те)?|помни(?:те)?|имей\sв\sвиду|учти|не\sзабудь
        |запиши)(?:,?\s(?:пожалуйста))?\s?(?:[:,]\s*(?:что\s)?|\sчто\s)
    | (?:请|請)?(?:帮我|幫我)?(?:记住|記住|记下|記下|记得|記得|别忘了|別忘了)[:：,，]?\s*
    | (?:覚えておいて(?:ください|ほしい(?:のですが)?|ね)?|メモして(?:おいて)?(?:ください)?)[:：、。,]\s*
    """
)
_ENDINGS = re.compile(
    r"""(?ix)[\s,.;:!–—-]+(?:(?:please|pls|so|and|so\splease|bitte|por\sfavor|also)[,\s]+)*(?:
      (?:remember|memori[sz]e|note|keep|save|store)\s(?:that|this|it)(?:\s(?:please|pls|for\s(?:later|me
        |next\stime|the\sfuture|future\sreference)|in\smind|down))*
    | (?:please\s)?(?:keep|bear)\s(?:that|this|it)\sin\smind | (?:please\s)?don't\sforget\s(?:that|this|it)
        | (?:please\s)?make\sa\snote(?:\sof\s(?:that|this|it))?
    | for\sfuture\sreference | for\swhen\si\sask\s(?:you\s)?again | for\snext\stime
        | i\skeep\sforgetting\s(?:that|this|it) | i\salways\sforget\s(?:that|this|it) | so\si\sdon't\sforget
        | note\sto\sself
    | (?:bitte\s)?merk\sdir\sdas(?:\sbitte)? | (?:bitte\s)?nicht\svergessen | das\svergesse\sich\s(?:immer
        |ständig)
    | (?:por\sfavor\s)?(?:recuérdalo|tenlo\sen\scuenta|no\slo\solvides|apúntalo|anótalo)
        | (?:s'il\ste\splaît\s)?(?:souviens-t'en|retiens-le|note-le|ne\sl'oublie\spas)
    | ricordatelo | tienilo\sa\smente | lembre-se\sdisso | onthoud\sdat | запомни\s(?:это)? )
    (?:[\s,]*(?:please|pls|ok|okay|thanks|thx|bitte|gracias|merci|por\sfavor))*[\s.!]*$
    | [。、,，\s]*(?:(?:を|と|って|のを)?(?:覚えておいて|覚えといて|メモして(?:おいて)?)(?:ください|ね|ほしい)?
        |(?:请|請)(?:记住|記住)(?:这个|这一点
        |這一點)?)[。！!]*$ """
)
_WHOLE = re.compile(
    r"""(?ix)\W*(?:(?:please|pls|and|so|also|ok)\s)*(?:remember|note|save|memori[sz]e|keep|don't\sforget)\s(?:that
        |this|it)(?:\s(?:please|pls|for\s\w+(?:\s\w+)?|in\smind|down|too|as\swell))*\W*$
    | \W*(?:bitte\s)?merk\sdir\sdas(?:\sbitte)?\W*$ | \W*(?:por\sfavor,?\s)?(?:recuérdalo|recuerda\seso)\W*$
        | \W*(?:souviens-t'en|retiens\sça|retiens-le)(?:\ss'il\ste\splaît)?\W*$
    | \s*(?:覚えておいて(?:ください|ね)?|请记住|請記住|记住(?:这个)?
        |запомни(?:\sэто)?(?:,?\sпожалуйста)?)[。.!！]*\s*$ """
)
_PROMISE = re.compile(r"(?i)\b(?:i'll|i will|i'd|we'll|to|gonna|definitely|should)\W*$|^\W*(?:i'll|i will)\b")
_TO = re.compile(r"(?i)^to (?=\w)")
_THIS = re.compile(
    r"(?i)\bthis (?:puzzle|question|problem|story|game|text|image|picture|poem|code|function|character|scene"
    r"|conversation|chat|prompt|task|exercise)\b"
)
_COMFORT = re.compile(
    r"(?i)(?:even|sometimes|everyone|everybody|nothing|it's (?:ok|okay|fine|never)|there's|you're|you are"
    r"|you've|you got|you can do|your\b|we all|life|love|i'm (?:always )?here)\b"
)
_ERRAND = re.compile(r"(?i)to \w+")
_LASTING = re.compile(
    r"(?i)\b(?:always|never|every|each|before|after|when|whenever|unless|only|not to|from now on"
    r"|by default)\b"
)
_PROCEDURE = re.compile(
    r"(?i)(?:to |not to |always |never |before |after |when(?:ever)? |immer |nie |vor |nach |siempre |nunca "
    r"|toujours |jamais )"
)
_PREFERENCE = re.compile(
    r"(?i)(?:i|ich|yo|je|io|eu|ik|я|me)? ?\b(?:prefer|like|love|hate|dislike|don't like|can't stand|want|mag"
    r"|bevorzuge|hasse|liebe|prefiero|odio|me gusta|no soporto|préfère|déteste|aime|adore|preferisco|prefiro"
    r"|gosto|odeio|hou|предпочитаю|люблю|ненавижу)\b|喜欢|喜歡|讨厌|好き|嫌い|苦手"
)
_LESSON = re.compile(r"(?i)\b(?:lesson|trick|turns out|because|root cause)\b")


def find(sentence: Sentence) -> Clause | None:
    """The part of a sentence that is to be remembered. None: nothing is asked for."""
    text = sentence.text.replace("’", "'")
    start = _start(text)
    opening = _OPENINGS.match(text, start)
    if opening and len(text) - opening.end() >= 4:
        return sentence.part(sentence.start + opening.end(), sentence.end)
    ending = _ENDINGS.search(text)
    if ending and ending.start() - start >= 6 and not _PROMISE.search(text[: ending.start()]):
        return sentence.part(sentence.start + start, sentence.start + ending.start())
    return None


def points_back(sentence: Sentence) -> bool:
    """`Remember that please.`: what was said right before is meant."""
    return bool(_WHOLE.match(sentence.text.replace("’", "'")))


def is_errand(clause: Clause) -> bool:
    """`Remember to run the tests`, `remember, you're not alone`: something to do now or a comfort, nothing to know."""
    if _COMFORT.match(clause.said) or _THIS.search(clause.said):
        return True
    return bool(_ERRAND.match(clause.said)) and not _LASTING.search(clause.said)


def general(clause: Clause, reading: Reading) -> Item:
    """What is to be remembered and fits no other form."""
    said = clause.said
    if _PREFERENCE.search(said):
        kind = Kind.PREFERENCE
    elif _LESSON.search(said):
        kind = Kind.LEARNING
    else:
        kind = Kind.PROCEDURE if _PROCEDURE.match(said) else Kind.FACT
    is_project = bool(reading.project) and not _PERSONAL.search(said)
    return item(
        clause,
        kind,
        reading.home_shelf if is_project else Shelf.CORE,
        subject=reading.project if is_project else USER,
        text=wording.third_person(_TO.sub("", said)) if clause.tongue == "en" else "",
        importance=HIGH,
        confidence=SURE,
        tags=(REMEMBER,),
    )


_PERSONAL = re.compile(
    r"(?i)\b(?:i|i'm|i've|my|me|ich|mein\w*|mir|mich|yo|mi|mis|me|je|j'\w+|moi|mon|ma|mes|io|mio|mia|eu|meu"
    r"|minha|ik|mijn|я|мой|моя|мне|меня)\b|我|私|僕"
)


def _start(text: str) -> int:
    return opening_of(text)[0]
