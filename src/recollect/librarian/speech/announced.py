"""Words that announce somebody else's: "she wrote:", "the README says:", "translate this:"."""

import re

from recollect.librarian.speech.wordset import wordset

_SAYS = wordset("""
    wrote writes said says told replied responded answered asked texted emailed mailed posted tweeted reads
    read states stated goes returned returns shows printed prints schrieb schreibt sagte sagt meinte
    antwortete steht lautet escribió escribe dice dijo respondió pone écrit dit répondu répond scritto detto
    escreveu disse diz schreef zei zegt написал написала пишет сказал сказала говорит quote zitat cita
    citation input transcript readme changelog
""")
"""Right before a colon: somebody else speaks."""
_TEXTS = wordset("""
    email emails e-mail mail mails message messages article articles text texts essay essays story poem draft
    document doc docs documentation transcript paper post letter abstract review passage paragraph paragraphs
    excerpt snippet quotes lyrics chapter novel script dialogue conversation chat thread comment prompt cv
    resume résumé bio description posting log logs output error errors trace stacktrace traceback code file
    config json yaml csv sample examples ticket spec specification contents response reply minutes website
    nachricht nachrichten artikel aufsatz geschichte gedicht entwurf dokument brief ausgabe fehlermeldung
    datei protokoll anzeige beschreibung correo mensaje artículo texto cuento carta documento archivo salida
    courriel texte lettre fichier sortie histoire poème messaggio articolo testo lettera storia mensagem
    artigo bericht tekst письмо текст статья статью сообщение
""")
"""Shortly before a colon: a text of some kind follows."""
_TASKS = wordset("""
    translate proofread rewrite rephrase paraphrase summarize summarise edit correct polish analyze analyse
    classify shorten grade critique extract convert übersetze übersetz korrigiere korrigier fasse verbessere
    traduce corrige resume traduis traduire corriger résume résumer traduci traduza vertaal переведи
""")
"""Anywhere before a colon: what follows is to be worked on."""
_POINTING = wordset("""
    this following below here these folgende folgenden folgendes hier siguiente suivant suivante ici
""")
_OWN_LIST = re.compile(
    r"(?i)\babout (?:me|myself)\b|über mich|sobre mí|sur moi|remember|keep in mind|merk|recuerd|souviens|ricorda|lembr"
    r"|запомни"
)
_CLAUSE = re.compile(r"[.!?;]\s")
_WORDLESS_SAYS = re.compile(r"(?:说|說|写道|寫道|文章|内容|邮件|言った|書いた|書いてある|メール|次の\w{0,8})$")
MOST_ANNOUNCING_CHARACTERS = 300
"""Before the colon. What is longer is no announcement but speech with a colon in it."""

COLON = re.compile(r"[:：](?!//|\d)")


HANDS_OVER = re.compile(
    r"(?i)\b(?:wrote|sent|got|received|found|read|posted|forwarded)(?: me| us)? (?:this|the following|these"
    r"|that (?:mail|email|message))\b|\bsee below\b"
    r"|\b(?:das hier|folgendes) (?:bekommen|geschrieben|geschickt)\b|\b(?:schrieb|schickte)(?: mir"
    r"| uns)? (?:das|dies|folgendes)\b"
)


def is_announcement(before: str, has_more: bool) -> bool:
    """Whether the words before a colon say that somebody else's words follow."""
    clause = _CLAUSE.split(before)[-1]
    if _OWN_LIST.search(clause):
        return False
    words = [word.strip("\"'“”()*_,`") for word in clause.lower().split()[-14:]]
    if not _SAYS.isdisjoint(words[-4:]) or not _TASKS.isdisjoint(words) or _WORDLESS_SAYS.search(clause[-12:]):
        return True
    return not _TEXTS.isdisjoint(words[-5:]) and (not has_more or not _POINTING.isdisjoint(words))
