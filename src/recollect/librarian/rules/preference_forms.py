"""How people say what they like, want or always do, language by language."""

from recollect.knowledge import Kind
from recollect.librarian.rules.forms import HIGH, Form, form

_P = Kind.PREFERENCE
_SO = (
    r"(?:(?:really|absolutely|generally|usually|strongly|much|definitely|personally|still|also|just|always"
    r"|normally|mostly|kinda|kind of|do|particularly|especially|truly|genuinely|honestly|simply|very much"
    r"|quite|tend to) ){0,2}"
)
_DO = (
    r"(?:use|run|write|put|add|keep|format|test|commit|name|call|ask|check|start|end|reply|answer|respond"
    r"|include|explain|give|show|make|leave|push|squash|rebase|prefix|sign|address|speak|talk|be|avoid"
    r"|prefer|stick|work|book|order|buy|send|cook|suggest|recommend|assume|document|log|deploy|merge|review"
    r"|mention|tell|set|create|update|touch|edit|delete|remove|change|import|install|mock|round|quote|cite"
    r"|translate|round|skip|wait|round|plan|pick|choose|round)"
)
_ENGLISH: tuple[Form, ...] = (
    form(
        r"i(?:'d| would) rather not (?P<value>(?:use|have|eat|drink|work|add|depend|rely|touch|fly|drive|call"
        r"|meet)\b.*)",
        _P,
    ),
    form(r"i (?:really |do )?care (?:a lot |deeply |much |mostly |only )?(?:about|for) (?P<value>\S.*)", _P),
    form(r"i (?:really )?(?:hate|love|like|dislike) it when (?P<value>(?!you\b)\S.*)", _P),
    form(
        r"i (?:always )?(?:drink|take|eat|have|like) my (?P<value>(?:coffee|tea|eggs|steak|toast|pizza|curry"
        r"|whisky|wine|food)\b .*)",
        _P,
    ),
    form(
        r"(?:please |pls )?stop (?P<value>(?:using|adding|writing|saying|repeating|asking|putting|making|calling"
        r"|suggesting)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(rf"(?:please |pls )?{_DO} (?P<value>\S.*\balways)\W*$", _P, importance=HIGH),
    form(
        r"(?P<value>[\w' -]{3,40}) (?:is|are) (?:out of the question|off the table|a no-go|a deal-?breaker"
        r"|a must for me)\b.*",
        _P,
    ),
    form(
        rf"i {_SO}(?:prefer|favou?r|like|love|enjoy|adore|hate|dislike|detest|despise|loathe|appreciate"
        r"|value)s? (?P<value>\S.*)",
        _P,
    ),
    form(
        r"i (?:(?:really|just|absolutely|simply) )?(?:don't|do not|dont|never|can't|cannot|couldn't) (?:really "
        r"|particularly |actually |even )?(?:like|love|enjoy|stand|bear|want|care for|trust|believe in"
        r"|do) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"i(?:'m| am) (?:really |also )?(?:not )?(?:a |much of a )(?:big |huge |massive |great )?(?:fan of"
        r"|sucker for) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"i(?:'m| am) (?:really |very |also |super |quite )?(?:into|fond of|keen on|obsessed with"
        r"|passionate about|crazy about|not into|not fond of|not keen on|picky about|partial to) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"i (?:always|never|usually|normally|generally|typically|rarely|almost always|almost never|hardly ever"
        r"|tend to|only ever|only) (?!(?:wanted|thought|knew|heard|had|said|got|did|see|saw|mind|know|said"
        r"|meant|asked|need|forget|wonder|works?\b|get\b|want\b|have to)\b)(?P<value>[a-z]+\b .*)",
        _P,
    ),
    form(
        r"(?:my )?(?:all-time |personal |absolute )?(?:favou?rite|preferred|go-to"
        r"|least favou?rite) (?P<attr>[\w' -]{2,40}?) (?:is|are|would be|has to be|has always been"
        r"|:) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"(?:please |pls |and |just )*(?:always|never|don't ever|do not ever"
        rf"|under no circumstances) {_DO}\b(?P<value>.*)",
        _P,
        importance=HIGH,
    ),
    form(
        rf"(?:please |pls |just )*(?:do not|don't|stop|avoid) {_DO}(?:ing)?\b(?P<value>.*\b(?:ever"
        r"|in (?:the )?future|anymore|any more|from now on|going forward|again|by default|unless i (?:ask|say"
        r"|tell)|without asking|until i (?:say|ask|tell)))\b.*",
        _P,
        importance=HIGH,
    ),
    form(
        rf"(?:please |pls |just )*{_DO}\b(?P<value>.*\b(?:from now on|in future|in the future|going forward"
        r"|by default|every time|each time|unless i (?:ask|say|tell)\w*|at all times|no matter what))\b.*",
        _P,
        importance=HIGH,
    ),
    form(
        r"(?:from now on|going forward|in (?:the )?future|by default|as a rule|in general|whenever (?:you|i"
        rf"|we) [^,]{{3,80}}|every time (?:you|i|we) [^,]{{3,80}}|when(?:ever)? you(?:'re"
        rf"| are)? [^,]{{3,60}}),? (?:please |pls |always |never |just |i want you to |you should "
        rf"|i'd like you to )*(?:don't |do not )?{_DO}\b(?P<value>.*)",
        _P,
        importance=HIGH,
    ),
    form(
        r"(?:i(?:'d| would) (?:like|prefer|love|want)|i want|i need|i expect|i prefer"
        r"|i like) (?:it if )?you (?:to )?(?:please )?(?:always |never |not )(?:to )?(?P<value>\S.*)",
        _P,
        importance=HIGH,
    ),
    form(
        r"(?:please )?no (?P<value>[\w' -]{2,60}?),? (?:ever|please,? ever|for me,? ever|in anything\b.*"
        r"|anywhere\b.*|at all,? ever)\W*$",
        _P,
    ),
    form(
        r"(?:i|we) (?:have|'ve got|got) (?:a )?(?:strong |slight |clear )?(?:preference|weakness|soft spot"
        r"|thing) for (?P<value>\S.*)",
        _P,
    ),
    form(r"i(?:'m| am) (?P<value>done with \S.*)", _P),
    form(
        r"i (?:learn|work|sleep|focus|think|concentrate|write|code|study) (?P<value>(?:best|better|worst"
        r"|much better) (?:with|in|when|at|after|by|on|from|if)\b.*)",
        _P,
    ),
    form(
        r"(?:please |pls )?(?:don't|do not|stop) (?P<value>(?:giv(?:e|ing) me|call(?:ing)? me|tell(?:ing)? me"
        r"|suggest(?:ing)?|recommend(?:ing)?|offer(?:ing)? me|lectur(?:e|ing)|apologi[sz](?:e|ing)"
        r"|flatter(?:ing)?|sugarcoat(?:ing)?)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(r"i(?:'d| would) rather (?:have|use|eat|drink|read|work|get|see|not) (?P<value>\S.* than .*)", _P),
    form(
        r"(?:in my (?:opinion|view),? )?(?P<value>[\w' -]{2,40}) (?:is|are) my (?:all-time "
        r"|absolute )?favou?rite\b.*",
        _P,
    ),
    form(
        r"i(?:'m| am) (?:more of )?an? (?P<value>(?:morning|night|early|cat|dog|coffee|tea|beach|mountain|people"
        r"|visual|hands-on|tabs|vim|emacs)\b[\w -]*(?:person|owl|bird|learner|lover|drinker|user|guy|girl|type))",
        _P,
    ),
)
_GERMAN: tuple[Form, ...] = (
    form(
        r"ich (?:mag|liebe|hasse|bevorzuge|verabscheue|genieße|schätze)(?: (?:am liebsten|gern(?:e)?|sehr|total"
        r"|wirklich|eher|lieber|besonders|überhaupt|absolut|es|auch))* (?P<value>\S.*)",
        _P,
    ),
    form(
        r"(?:am liebsten|lieber) (?:mag|esse|trinke|nutze|benutze|verwende|arbeite|lese|höre|habe|schreibe"
        r"|nehme) ich (?P<value>\S.*)",
        _P,
    ),
    form(
        r"ich (?:esse|trinke|nutze|benutze|verwende|nehme|arbeite|lese|höre|schreibe|fahre|reise|kaufe"
        r"|trage) (?:(?:sehr|wirklich) )?(?:am liebsten|lieber|gern(?:e)?|immer|nie|niemals|nur|ungern"
        r"|grundsätzlich|normalerweise|meistens|keine?n?|nichts|kein) (?P<value>\S.*)",
        _P,
    ),
    form(r"ich kann (?P<value>.+) nicht (?:leiden|ausstehen|ab|riechen)\b", _P),
    form(r"ich (?:will|möchte) (?:nie|niemals|keine?n?|immer) (?P<value>\S.*)", _P),
    form(r"(?:mein(?:e)?) (?:lieblings|absoluter? lieblings)(?P<attr>\w+) (?:ist|sind) (?P<value>\S.*)", _P),
    form(r"(?:bitte )?(?:immer|nie|niemals|grundsätzlich) (?P<value>\S.{4,})", _P, importance=HIGH),
    form(
        r"(?:bitte )?(?:antworte|schreib|schreibe|nutze|benutze|verwende|nimm|sprich|duze|frag|frage|teste|mach"
        r"|gib|erkläre?)\b (?:mir |bitte |mich )*(?P<value>.*\b(?:immer|nie|niemals|grundsätzlich|künftig"
        r"|in zukunft|ab jetzt|von jetzt an|standardmäßig)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(
        (r"(?:ab jetzt|von jetzt an|ab sofort|künftig|in zukunft|grundsätzlich)(?: bitte)? (?P<value>\S.{4,})"),
        _P,
        importance=HIGH,
    ),
    form(r"ich bin (?:ein |eine )?(?:großer |große )?(?:fan von|kein freund von|freund von) (?P<value>\S.*)", _P),
    form(r"ich stehe (?:nicht )?(?:sehr |total )?auf (?P<value>\S.*)", _P),
)
_SPANISH: tuple[Form, ...] = (
    form(r"(?:yo )?(?:prefiero|odio|detesto|adoro|no soporto|no aguanto|amo|evito) (?P<value>\S.*)", _P),
    form(
        r"(?:a mí )?(?:no )?me (?:gustan?|encantan?|fascinan?|disgustan?|molestan?|apasionan?) (?:mucho |más "
        r"|muchísimo |nada )?(?P<value>\S.*)",
        _P,
    ),
    form(
        r"(?:yo )?(?:siempre|nunca|jamás|normalmente|casi siempre|casi nunca) (?P<value>(?:uso|como|bebo|tomo"
        r"|trabajo|escribo|leo|voy|hago|compro|prefiero|duermo|viajo|cocino|ceno|desayuno|corro)\b.*)",
        _P,
    ),
    form(r"mi (?P<attr>[\w ]{3,30}?) (?:favorit[oa]|preferid[oa]) (?:es|son) (?P<value>\S.*)", _P),
    form(
        r"(?:por favor,? )?(?:siempre|nunca|jamás) (?P<value>(?:respóndeme|contéstame|háblame|escríbeme|usa|uses"
        r"|responde|respondas|escribe|escribas|pon"
        r"|pongas|haz|hagas|pregunta|contesta|ejecuta|utiliza)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(
        r"(?:por favor,? )?(?:usa|responde|respóndeme|escribe|háblame|contesta|contéstame"
        r"|utiliza)\b(?P<value>.*\b(?:siempre|a partir de ahora|de ahora en adelante|por defecto)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(r"(?:a partir de ahora|de ahora en adelante|desde ahora),? (?P<value>\S.{4,})", _P, importance=HIGH),
    form(
        r"no (?:quiero|como|bebo|tomo|uso) (?P<value>.*\b(?:nunca|jamás)\b.*|(?:carne|alcohol|azúcar|gluten"
        r"|lácteos|café|pescado|cerdo)\b.*)",
        _P,
    ),
    form(r"soy (?:muy )?(?:fan|fanático|amante|aficionad[oa]) (?:de|a) (?P<value>\S.*)", _P),
)
_FRENCH: tuple[Form, ...] = (
    form(
        r"(?:moi,? )?(?:je |j')(?:préfère|déteste|adore|aime(?: bien| beaucoup| pas| vraiment)?|apprécie|évite"
        r"|hais) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"(?:moi,? )?je (?:n'aime|ne supporte|n'apprécie|ne veux|ne mange|ne bois|n'utilise|n'achète|ne prends"
        r"|ne travaille) (?:pas|plus|jamais|pas du tout|que) (?P<value>\S.*)",
        _P,
    ),
    form(
        r"(?:moi,? )?(?:je |j')(?P<value>(?:utilise|mange|bois|travaille|écris|lis|prends|fais|cours|voyage"
        r"|cuisine|dors) (?:toujours|jamais|généralement|normalement|d'habitude|souvent|uniquement"
        r"|seulement)\b.*)",
        _P,
    ),
    form(r"(?:mon|ma|mes) (?P<attr>[\w ]{3,30}?) (?:préférée?s?|favorite?s?) (?:est|sont|c'est) (?P<value>\S.*)", _P),
    form(
        r"(?:s'il te plaît,? |stp,? )?(?P<value>(?:utilise|réponds|écris|mets|fais|demande|parle|tutoie"
        r"|vouvoie)\b.*\b(?:toujours|jamais|désormais|à partir de maintenant|dorénavant|par défaut)\b.*)",
        _P,
        importance=HIGH,
    ),
    form(r"(?:à partir de maintenant|désormais|dorénavant),? (?P<value>\S.{4,})", _P, importance=HIGH),
    form(r"je suis (?:un |une )?(?:grande? )?(?:fan|amateur|amatrice|passionnée?) (?:de|d'|par) (?P<value>\S.*)", _P),
)
_OTHERS: dict[str, tuple[Form, ...]] = {
    "it": (
        form(r"(?:io )?(?:preferisco|odio|detesto|adoro|amo|non sopporto|evito) (?P<value>\S.*)", _P),
        form(r"(?:a me )?(?:non )?mi (?:piacciono|piace) (?:molto |di più |tanto )?(?P<value>\S.*)", _P),
        form(
            r"(?:il mio|la mia|i miei|le mie) (?P<attr>[\w ]{3,30}?) (?:preferit[oaie]) (?:è|sono) (?P<value>\S.*)", _P
        ),
        form(
            r"(?:uso|bevo|mangio|lavoro|scrivo) (?:sempre|solo|soltanto) (?P<value>\S.*)|non (?:mangio|bevo"
            r"|uso) (?:mai )?(?:carne|pesce|alcol|glutine|latte|caffè)\b.*",
            _P,
        ),
        form(r"(?:d'ora in poi|da ora in poi),? (?P<value>\S.{4,})", _P, importance=HIGH),
    ),
    "pt": (
        form(
            r"(?:eu )?(?:prefiro|odeio|detesto|adoro|amo|não suporto|não gosto de|gosto (?:muito "
            r"|mais )?d[eoa]s?) (?P<value>\S.*)",
            _P,
        ),
        form(r"(?:eu )?não quero (?P<value>\S.{3,})", _P),
        form(r"(?:a partir de agora|de agora em diante),? (?P<value>\S.{4,})", _P, importance=HIGH),
        form(r"(?:eu )?(?:nunca|sempre) (?P<value>(?:uso|como|bebo|trabalho|escrevo|leio|faço)\b.*)", _P),
    ),
    "nl": (
        form(r"ik (?:hou|houd) (?:echt |erg |heel veel |niet )*van (?P<value>\S.*)", _P),
        form(
            r"ik (?:haat|verafschuw|prefereer|vermijd) (?P<value>\S.*)|ik (?:vind|heb|gebruik|eet|drink|werk"
            r"|lees) (?:\S+ ){0,3}(?:liever|het liefst|graag|altijd|nooit|geen|alleen) (?:\S.*)",
            _P,
        ),
        form(r"(?:voortaan|vanaf nu) (?P<value>\S.{4,})", _P, importance=HIGH),
    ),
    "ru": (
        form(
            r"(?:я )?(?:люблю|не люблю|обожаю|ненавижу|предпочитаю|не ем|не пью|не переношу|терпеть не могу"
            r"|всегда использую|никогда не) (?P<value>\S.*)",
            _P,
        ),
        form(r"мне (?:очень |больше |не )*нрав(?:ит|ят)ся (?P<value>\S.*)", _P),
        form(r"(?:с этого момента|отныне|впредь),? (?P<value>\S.{4,})", _P, importance=HIGH),
    ),
    "zh": (
        form(
            r"我(?:最|很|非常|特别|特別|更|比较|比較|一般|也|真的|平时)*(?:不)?(?:喜欢|喜歡|爱吃|爱喝|愛吃|爱|讨厌|討厭|偏好|习惯|習慣|不吃|不喝|受不了"
            r"|想要)(?P<value>.+)",
            _P,
        ),
        form(r"(?:以后|以後|今后|从现在起|從現在起)(?:请|請|都)?(?P<value>.{3,})", _P, importance=HIGH),
    ),
    "ja": (
        form(
            r"(?:私|僕|俺|わたし)?(?:は|、)?(?P<value>[^。、]{1,40}(?:が|は|の方が|のほうが)(?:とても|大|一番|あまり|本当に)?(?:好き|大好き|嫌い|大嫌い|苦手"
            r"|好みです|好きではありません|好きじゃ))",
            _P,
        ),
        form(r"(?:これから|今後|以後)(?:は)?(?P<value>.{4,})", _P, importance=HIGH),
    ),
}
PREFERENCE_FORMS: dict[str, tuple[Form, ...]] = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "es": _SPANISH,
    "fr": _FRENCH,
    **_OTHERS,
}
