"""Whether a clause can be understood without what was said before it: what points at something else cannot."""

import re

from recollect.librarian.speech.wordset import wordset

FEWEST_WORDS = 3
FEWEST_WIDE_CHARACTERS = 6
MOST_CHARACTERS = 180
"""A longer clause tells a story."""
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_POINTER = re.compile(
    r"""(?ix)(?:it|its|it's|it'll|this|that|that's|that'll|these|those|they|they're|they've|them|he|he's|she|she's|there(?!\s(?:is|are|was)\b|'s)
        |here|here's|such|same|one(?!\sof)|you|you're|you've|your|what|which|then|let's|let
    |es|das|dies\w*|er|sie|hier|da|dort|so|du|dein\w*|was
    |eso|esto|est[ea]s?|ella|él|ellos|aquí|ahí|tú
    |ça|cela|ceci|c'est|c'était|ce|il(?=\s(?:est|a|va|aime|faut|y|ne|n'|travaille|habite)\b)|elle|ils|elles|ici|là|tu
    |questo|questa|quello|lui|lei|qui|qua
    |isso|isto|ele|ela|aqui|ali|você
    |dit|dat|het|hij|ze|zij|hier|daar
    |это|этот|эта|он|она|они|тут|там|ты)(?![\w'])"""
)
_WIDE_POINTER = re.compile("[这那它他她你]|これ|それ|あれ|ここ|そこ|彼|あなた")
_TIMES = r"summer|winter|spring|autumn|fall|year|month|week|weekend|term|semester|season|quarter|house|family|decade"
_AT_HAND = re.compile(
    rf"(?i)\b(?:this|these|those)\b(?! (?:{_TIMES}|\w*day)\b)|\bthat\b(?=\s*(?:$|[,.;!)]|is\b|was\b|one\b|way\b|thing\b"
    rf"|file\b|function\b|part\b))|\babove\b|\bbelow\b|\bhere\b(?=\s*[:(]|\s*$)"
)
_PASSING = re.compile(
    r"""(?ix)(?:(?:i(?:'m|\sam|'ve\sbeen|\swas|\swere|\shave\sbeen)|we(?:'re|\sare|'ve\sbeen|\swere)|im)\s
        (?:(?:also|just|really|currently|particularly|mainly|mostly|now|still|actually|not|a\sbit|very|so|quite|always
        |recently|already|only|kind\sof|especially|been|more)\s)*
        (?:interested|planning|trying|looking|thinking|considering|wondering|struggling|hoping|preparing|going\sto
        |about\sto|getting|excited|concerned|curious|worried|afraid|sure|glad|sorry|happy|confused|stuck|ready|meaning
        |researching|reading|watching|writing|debugging|comparing|working\son|here|back|done\s(?!with)|using\sthe|aware
        |tempted|leaning|inclined|seeing|having|running\sinto|asking|referring|talking|curious|surprised|impressed)\b
    | (?:i|we)\s(?:(?:also|just|really|actually|definitely|probably|still|then|already|even|only)\s)*
        (?:think|thought|guess|feel|felt|believe|suppose|wonder|hope|see|saw|know|knew|remember|agree|mean|meant|noticed
        |heard|tried|ran|checked|looked|loved|enjoyed|liked|wanted|needed|want\sto|need\sto(?:\s(?:figure|know
        |understand|find|make|add|get))|want\sthe|love\s(?:the|how|that)|like\s(?:how|that))\b
    | i(?:'d|\swould)\s | (?:i|we)(?:'ll|\swill)\s(?:(?:also|just|definitely|probably|then|now|start)\s)*(?:try|check
        |look|start|begin|keep\san|see|let|ask|reach|go\s(?:ahead|for|with\sthat)|test|do|be|use\s(?:the|your)|need|give
        |consider|add|make\ssure|continue|explore)\b
    | i(?:'ve|\shave)\s(?:(?:also|just|already|recently|actually)\s)*(?:heard|tried|read|seen|noticed|thought|updated
        |added|attached|checked|looked|uploaded|written|implemented|configured|pasted|started|finished\sthe)\b
    | (?:i'm|we're|im)\son\s(?:the|my)\s(?:bus|train|plane|phone|road|way|sofa|first|second|third|last|next)\b
    | (?:(?:i|we)\s(?:have|got|only\shave|need)|i've\sgot|ich\shabe?|wir\shaben|tengo|tenemos|j'ai|ho|tenho|ik\sheb)
        \s(?:an?|the|two|three|some|eine?n?|una?|une|een)\s(?:[\w-]+\s){0,2}(?:spreadsheet|function|table|list|file|script
        |dataset|csv|pdf|bug|error|problem|question|query|issue|class|component|string|array|loop|document|draft|text
        |paragraph|column|funktion|tabelle|liste|datei|frage|fehler|skript|función|tabla|lista|archivo|pregunta|problema
        |fonction|tableau|fichier|problème|erreur|vraag|fout|bestand)\b
    | i\s(?:just|recently)\s | (?:my|the)\s(?:goal|plan|question|idea|problem|issue|concern|point)\s(?:is|was)\b
    | (?:ich|wir)\s(?:suche|suchen|versuche|möchte|will|wollte|brauche|glaube|denke|überlege|hoffe|frage|weiß)\b
    | (?:yo\s)?(?:quiero|quisiera|estoy\s(?:buscando|intentando|pensando)|creo|necesito|busco|pienso)\b
    | je\s(?:cherche|voudrais|veux|pense|crois|vais|me\sdemande|sais|dois\sdire)\b|j'(?:aimerais|essaie|espère)\b
    | (?:vorrei|voglio|sto\scercando|penso|credo|cerco|quero|gostaria|estou\s(?:tentando|procurando)|acho|preciso\sde)\b
    | ik\s(?:zoek|wil|denk|probeer|hoop|vraag)\b | я\s(?:хочу|пытаюсь|думаю|ищу|надеюсь)\b )"""
)
"""How people speak of what they are at: plans, wishes, impressions and what they just did."""
_OF_IT = re.compile(
    r"(?i)(?:worked|helped|tasted|looked|looks|sounded|sounds|went|seems|seemed|felt|feels|saved|saves|hat (?:geklappt"
    r"|funktioniert)|funcionó|ça a marché)\b|(?:my|our|meine?|mi|mon|ma) [\w-]+, (?:\w+ing|for|until|from|back)\b"
)
"""What is said of something that was named before, without naming it again."""
_NUMBER = re.compile(r"\S*\d\S*")
MOST_NUMBERS = 0.3
"""The share of words with digits in them. What has more is a table, a game or a log."""
_WIDE_PASSING = re.compile("我(?:想|在找|觉得|试|正在)|.{0,12}(?:したい|知りたい|探して|思います|と思う)")
_EVENT = re.compile(
    r"""(?ix)(?:i|we)\s(?:(?:also|just|actually|finally|then|even|once|only|really|recently|already|did)\s)*
        (?:spent|took|had|met|used|went|picked|measured|came|made|found|watched|got\s(?!married|engaged|promoted|the\sjob
        |divorced|accepted)|ate|drank|paid|sent|called|asked|wrote|read|cooked|visited|attended|tested|fixed
        |changed|installed|deleted|removed|added|updated|opened|clicked|printed|copied|talked|discussed|appreciated?
        |organi[sz]ed|bought|ordered|did\sa|forgot|lost|missed|saw|gave\s(?!up)|put|set|scheduled
        |(?!retired|moved|divorced|married|graduated|studied|trained|used\sto|stopped|started|switched|lived|worked|need|feed
        |inherited|adopted|owned|promised|agreed)\w{3,}ed)\b
    | (?:my|our|the)\s[\w-]+\sjust\s | (?:lately|yesterday|recently|so\sfar)\b
    | .*\b(?:lately|yesterday|the\sother\sday|so\sfar|last\s(?:night|week|weekend|\w+day)|a\sfew\sdays\sago)\b"""
)
"""What happened once. Something reached is told so too."""
_PLAN = re.compile(r"(?i)(?:i|we)(?:'ll| will| can| could)\b")
_SUPPOSED = re.compile(
    r"(?i)(?:if|unless|whether|for \w+ing|wenn|falls|ob|si|s'il|se|als ik|indien|если|если бы)\b|.*\b(?:would"
    r"|(?:haven't|hasn't|not|can't|nothing|never) (?:yet |really )?decided?|würden?"
    r"|hätten?|wären?|könnten?)\b|如果|要是|もし"
)
"""A condition, or what would be so under one."""
_GREETING = re.compile(
    r"(?i)(?:buongiorno|buonasera|salve|ciao|bonsoir|bonjour|salut|guten (?:tag|morgen|abend)|hallo|moin|servus|buenas"
    r"(?: tardes| noches)?|buenos días|hola|bom dia|boa (?:tarde|noite)|olá|goedemiddag|goedemorgen|goedenavond|hoi"
    r"|здравствуйте|привет|добрый день|good (?:morning|evening|afternoon)|hi|hello|hey)(?: \w+)?[,.!]\s+"
)
_CODE = re.compile(r"[\\{}<>=`|]|\w_\w|\w\(|(?:^|\s)[-/]\w+/")
_IT = re.compile(r"(?i)\b(?:it|them|they|he|she|him)\b(?!')")
_NOUN = re.compile(r"(?i)\b(?:my|our|the|an?|her|his|your|no|every|each|all)\s+\w|(?<!^)\b(?-i:[A-ZÀ-Þ][a-zà-ÿ]+)")
_YOU = re.compile(r"(?i)\b(?:you(?:'ve|'re)?) (?:said|gave|wrote|made|did|forgot|missed|mentioned|suggested|told)\b")
_CHATTER = wordset("""
    thanks thank ok okay sure great nice cool perfect yes yeah hmm wow oh lol sorry hello hi hey bye
""")
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")


_TODAY = re.compile(
    r"(?i)\b(?:this (?:morning|afternoon|evening)|tonight|today|right now|at the moment|heute (?:früh|morgen|abend)"
    r"|heute|gerade eben|hoy|esta (?:mañana|tarde|noche)|ahora mismo|ce (?:matin|soir)|aujourd'hui|stamattina|stasera"
    r"|oggi|hoje|esta manhã|vandaag|vanochtend|сегодня|сейчас|me muero de|i'm (?:starving|exhausted|knackered))\b"
)
"""True for a day."""
_REPORTED = re.compile(
    r"(?i)(?:(?:a|an|my|our|some|one of my|the)\s)?(?:\w+\s){0,2}(?:friends?|colleagues?|co-?workers?|neighbou?rs?|guy"
    r"|people|folks|everyone|everybody|someone|somebody|they|he|she|uncle|aunt|mum|mom|mother|dad|father|boss|doctor"
    r"|freund(?:in)?|kolleg(?:e|in)|nachbar(?:in)?|amig[oa]|vecin[oa]|amie?|collègue|voisine?)\s(?:swears?|says?|said"
    r"|claims?|claimed|thinks?|reckons?|insists?|believes?|keeps saying|told me|schwört|sagt|meint|behauptet|glaubt"
    r"|dice|cree|jura|dit|pense|prétend|jure)\b"
)
"""What others hold to be true."""


def is_of_today(said: str) -> bool:
    return bool(_TODAY.search(said))


def is_planned(said: str) -> bool:
    return bool(_PLAN.match(said))


def is_event(said: str) -> bool:
    return bool(_EVENT.match(said))


def stands_alone(said: str) -> bool:
    if len(said) > MOST_CHARACTERS or _CODE.search(said) or _SUPPOSED.match(said):
        return False
    if _WIDE.search(said):
        return len(said) >= FEWEST_WIDE_CHARACTERS and not (_WIDE_POINTER.match(said) or _WIDE_PASSING.match(said))
    greeting = _GREETING.match(said)
    said = said[greeting.end() :] if greeting else said
    words = _WORD.findall(said)
    if len(words) < FEWEST_WORDS or words[0].lower() in _CHATTER or _POINTER.match(said) or _PASSING.match(said):
        return False
    if _OF_IT.match(said) or _is_counted(said) or _TODAY.search(said) or _REPORTED.match(said):
        return False
    return not (_AT_HAND.search(said) or _YOU.search(said) or _points_back(said))


def _is_counted(said: str) -> bool:
    numbers = len(_NUMBER.findall(said))
    return numbers > 3 and numbers > MOST_NUMBERS * len(said.split())


def _points_back(said: str) -> bool:
    """A pronoun before anything that it could stand for."""
    match = _IT.search(said)
    return bool(match and not _NOUN.search(said, 0, match.start()))
