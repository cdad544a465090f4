"""How people say what they have to do, plan or expect on a day, language by language."""

import re

DUTIES = {
    "en": re.compile(
        r"""(?ix)(?:(?:on|by|until|before|this|next|tomorrow|today|tonight|monday|tuesday|wednesday|thursday|friday
        |saturday|sunday|in)\b[\w\s]{0,22}?,?\s(?=(?:i|we)\b))?
        (?:(?P<lead>(?:i|we)(?:'ll|\swill|\shave\sto|'ve\sgot\sto|\sneed\sto|\smust|\sgotta|'m\sgoing\sto
        |\sam\sgoing\sto|'re\sgoing\sto|\sare\sgoing\sto|\sgot\sto|\spromised|'m\ssupposed\sto
        |\sam\ssupposed\sto|\swant\sto\shave|\splan\sto|\sintend\sto|\sowe)|need\sto|have\sto|must|gotta|will)
           \s+(?:also\s|just\s|still\s|definitely\s|probably\s|then\s)*(?!(?:try|see|be\sback|be\sfine
        |let\syou\sknow|take\sa\slook|think|do\s(?:it|that|this)|know|understand|check\s(?:it|that|this)
        |go\swith|get\sback\s(?!to\s(?-i:[A-Z]))|say|admit|be\shonest|get\sthis
        |figure)\b)(?P<value>[a-z]\w*\b.*)
        | (?P<event>(?:i|we)(?:'ve|\shave|'ve\sgot|\shave\sgot|\sgot|'ve\sbooked|\sbooked)\s(?:an?|the|that
        |this|another|my|our)
        \s(?:[\w-]+\s){0,2}(?:appointment|meeting|interview|exam|deadline|flight|call|date|rehearsal|surgery
        |presentation|demo|lesson|session|check-?up|reservation|booking|visit|trip|wedding|concert|train)\b.*)
        | (?P<going>(?:i|we)(?:'m|\sam|'re|\sare)\s(?:\w+ly\s)?(?:meeting|flying|travell?ing|leaving|moving
        |getting\smarried
        |starting|visiting|planning\san?\s(?:\w+\s)?(?:trip|party|visit|move|wedding))\b.*)
        | (?P<due>(?:my|our|the|his|her)\s(?:[\w'-]+\s){0,3}(?:appointment|meeting|interview|exam|deadline
        |flight|surgery|probation|lease|contract|visa|passport|trip|talk|demo|launch|release|vacation|holiday
        |move|wedding|presentation|thesis|application|rent|tax\sreturn|taxes|report|paper|delivery|party
        |concert|audit|review|go-live|cutover|course|submission|invoice|subscription|warranty|certificate
        |domain|election|final|finals|defen[cs]e|hearing|viva)(?:\s(?:for|of)\s[\w\s]{2,25}?)?\s(?:is|'s|ends?
        |starts?|begins?|expires?
        |runs\sout|takes\splace|was\smoved\sto|has\sbeen\smoved\sto|got\smoved\sto|are|must\sbe
        |needs\sto\sbe)\b.*)
        | (?P<plan>(?:i|we)\s(?:write|send|call|meet|visit|fly|travel|leave|move|present|submit|start|begin
        |finish|deliver|pick\sup|hand\sin|publish|ship|release|deploy|see|test|post|give|hold|drive)\b.*)
        | (?P<remind>(?:please\s|pls\s)?remind\sme\s(?!(?:who|what|how|why|where|which|when|whether|if)\b)
        (?:to\s|that\s|about\s|of\s)?\S.*)
        | (?P<deadline>(?:deadline|due(?:\sdate)?|todo|to-do)\s?(?:is|:|for)\s?\S.*)
        | (?P<there>(?:on|at|by)\s.{3,30}\sthere(?:'s|\sis)\s(?:the|an?|my|our)\s\S.*)
        | (?P<noun>(?:(?:the|next|first|second|final|another)\s)?(?:[\w-]+\s)?(?:appointment|viewing|interview
        |exam|meeting|call|flight|session|inspection|check-?up|handover|rehearsal|workshop|match|race|deadline
        |moving\sin|moving\sout)\s(?=(?:is\s|was\smoved\sto\s|with\s[^,]{2,30}\s)?(?:on|at|tomorrow|today
        |tonight|next|this|in|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d)\b).*)
        | (?P<visit>(?:my|our)\s[\w\s-]{3,30}\s(?:comes?|arrives?|visits?|is\scoming|is\svisiting|flies|moves
        |gets\smarried|turns\s\d+)\b.*)
        | (?P<is>(?!.{0,20}birthday\b|(?:it|that|this|there|he|she|they|you|i|we|what
        |who)\b)[\w'\s-]{3,40}\s(?:is|are|starts?
        |begins?|ends?)\s(?:due\s)?(?:on|by|next|this|tomorrow|due
        |scheduled|planned)\b.*)
        | (?P<out>(?:the\s)?(?:release|launch|newsletter|update|invoice|order|reports?|results|issue|book|album
        |paper)\s(?:goes\sout
        |go\sout|ships?|comes\sout|drops)\b.*)
        | (?P<they>(?:they|he|she)\s(?:moved|rescheduled|pushed|shifted|changed)\s(?:me|it|us|the\s\w+)\s(?:to
        |until)\s.*) )"""
    ),
    "de": re.compile(
        r"""(?ix)(?: (?:ich|wir)\s(?:muss|müssen|soll(?:te)?n?|werden?|habe?n?|will|wollen|schreiben?|schicken?|rufen?
        |treffen?|fahren?|fliegen?|geben?|hole?n?|bringen?|liefern?|machen?|gehen?|ziehen?|fangen?|beginnen?
        |besuchen?|testen?|melden?|kümmern?|präsentieren?|reichen?)\b.*
        | (?:bis|am|ab|nächste[nr]?|übermorgen|morgen|heute|spätestens)\b.{0,40}?\b(?:muss|werde|schreibe
        |schicke|rufe|treffe|fahre|fliege|gebe|hole|bringe|liefere|mache|gehe|melde|ziehe|fange|beginne|besuche
        |teste|habe|reiche|soll|will|müssen|werden|präsentiere)\s(?:ich|wir)\b.*
        | (?:der|die|das|mein|meine|unser|unsere)\s(?:[\w-]+\s){0,2}[\w-]*(?:termin|abgabe|frist|deadline
        |prüfung|flug|umzug|hochzeit|operation|vertrag|probezeit|meeting|vortrag|klausur|besprechung|interview
        |vorstellungsgespräch|audit|release|reise|urlaub)\s(?:ist|endet|beginnt|läuft|startet|findet)\b.*
        | [\w\s-]{4,50}\b(?:ist|findet|beginnt|endet|startet)\b.{0,14}\b(?:am|ab)\b.* | (?:abgabe|termin|frist
        |deadline)\b[\w\s]{0,40}:\s?\d.*
        | ich\shöre\b.*\bauf\b.* | .*\b(?:hole|bringe|schicke|rufe|treffe)\sich\b.*
        | erinner(?:e)?\smich\b.* )"""
    ),
    "es": re.compile(
        r"""(?ix)(?: (?:yo\s)?(?:tengo\sque|debo|tenemos\sque|voy\sa|vamos\sa|necesito\s\w+[aei]r|hay\sque|quedé\sen
        |prometí|lo\sreservo|le\sescribo|llamo|envío|mando|entrego|termino|viajo|vuelo|presento|empiezo
        |me\smudo)\s.*
        | (?:tengo|tenemos)\s(?:una?\s)?(?:cita|reunión|entrevista|examen|vuelo|entrega|viaje|boda|operación
        |presentación)\b.*
        | (?:la|el|mi|nuestra?)\s(?:[\w]+\s){0,2}(?:cita|reunión|entrevista|examen|vuelo|entrega|plazo
        |fecha\slímite|boda|contrato|presentación|mudanza|viaje|auditoría)\s(?:es|termina|empieza|vence
        |acaba)\b.*
        | (?:la|el|mi|nuestra?)\s[\w\s]{3,40}\ses\sel\s\d.*
        | (?:el|este|la|mañana|pasado\smañana|para|antes\sdel?)\b.{0,30}?\b(?:tengo|debo|entrego|voy|viajo
        |vuelo|llamo|envío|presento|termino|reservo|llevo|empiezo)\b.* | recuérdame\b.* )"""
    ),
    "fr": re.compile(
        r"""(?ix)(?: (?:je\s|j')\w{2,12}rai\b.* | (?:je\s(?:dois|vais|pars|vole|commence|finis|rends|présente|déménage)
        |j'(?:envoie|appelle
        |ai\spromis)|nous\s(?:devons|allons|partons)|il\sfaut\sque\sje|on\sdoit)\s.*
        | (?:j'ai|nous\savons|on\sa)\s(?:un[e]?\s)?(?:rendez-vous|rdv|réunion|entretien|examen|vol|présentation
        |voyage|mariage|opération)\b.*
        | (?:le|la|mon|ma|notre|l')\s?(?:[\w]+\s){0,2}(?:rendez-vous|rdv|réunion|entretien|examen|vol|échéance
        |date\slimite|mariage|contrat|présentation|déménagement|voyage|audit|livraison)\s(?:est|se\stermine
        |commence|expire|aura\slieu|finit)\b.*
        | (?:le\s|la\s|l'|mon\s|ma\s|notre\s)[\w\s]{3,40}\s(?:est\sle|doit\s.{2,30}\savant|a\slieu)\b.*
        | (?:demain|après-demain|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|avant|d'ici
        |le\s\d)\b.{0,30}?\b(?:je\s(?:dois|vais|pars|rends|présente|passe|commence|vois|donne|finis)
        |j'(?:envoie|appelle|apporte|ai))\b.* | rappelle-moi\b.* )"""
    ),
    "it": re.compile(
        r"(?ix)(?:devo|dobbiamo|vado|andiamo|consegno|mando|chiamo|parto|ho\s(?:un[a']?\s?)?(?:appuntamento"
        r"|riunione|esame|volo|colloquio))\b.*|(?:il\smio|la\smia)\s.*\bmi\s(?:aiuta|accompagna|viene)\b.*"
        r"|(?:domani|entro|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)\b.{0,30}\b(?:devo|vado"
        r"|porto|mando|chiamo|consegno|parto|inizio)\b.*"
    ),
    "pt": re.compile(
        r"(?ix)(?:a|o|meu|minha|nossa|nosso)\s[\w\s]{3,30}\sé\s(?:no\s|em\s)?(?:dia\s)?\d.*"
        r"|(?:eu\s)?(?:tenho\s(?:que|de)|preciso|devo|vou|temos\sque|vamos|entrego|envio|mando"
        r"|tenho\s(?:uma?\s)?(?:consulta|reunião|exame|prova|voo|entrevista))\b.*|(?:amanhã|até|segunda|terça"
        r"|quarta|quinta|sexta|sábado|domingo|no\sdia)\b.{0,30}\b(?:testo|envio|mando|entrego|vou|tenho|preciso"
        r"|levo|viajo|começo)\b.*"
    ),
    "nl": re.compile(
        r"(?ix)(?:ik|we|wij)\s(?:verhuizen|verhuis|trouwen|vertrekken|vliegen)\sop\b.*|(?:de|het|mijn"
        r"|onze)\s[\w\s]{3,30}\sis\sop\b.*|(?:ik|we|wij)\s(?:moet|moeten|ga|gaan|zal|zullen|breng|stuur|bel"
        r"|heb\seen\safspraak|vlieg|begin)\b.*|(?:morgen|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag"
        r"|zondag|uiterlijk|volgende|voor|op)\b.{0,30}\b(?:breng|moet|ga|stuur|bel|heb|vlieg|begin|haal|lever"
        r"|schrijf)\s(?:ik|we)\b.*"
    ),
    "ru": re.compile(
        r"(?ix)[\w\s]{3,40}\s(?:нужно|надо)\s.*|(?:я\s)?(?:должен|должна|надо|нужно|буду|отправлю|сдам|еду|лечу"
        r"|позвоню|начинаю)\b.*|мне\s(?:надо|нужно)\b.*|у\sменя\s.*\b(?:встреча|экзамен|рейс|собеседование"
        r"|при[её]м)\b.*|(?:завтра|до|в)\b.{0,30}\b(?:отправлю|сдам|еду|лечу|позвоню|должен|должна|встречаюсь"
        r"|начинаю)\b.*"
    ),
    "zh": re.compile(r"(?:我|我们|我們)?.{0,12}(?:必须|必須|需要|得|要|会|會|有).{1,40}"),
    "ja": re.compile(
        r".{0,40}(?:までに|に).{0,30}(?:なければ|ないといけ|予定|つもり|提出|送り|行きます|会います|あります|します|締め切り|締切).{0,12}"
    ),
}
