"""How people say that something is decided, language by language."""

from recollect.knowledge import Kind
from recollect.librarian.rules.forms import Form, form

_D = Kind.DECISION
_SOON = (
    r"(?:(?:finally|now|just|also|all|probably not|long ago|already|definitely|officially|both|then"
    r"|yesterday|today|last week|in the end) )*"
)
DECISION_FORMS: dict[str, tuple[Form, ...]] = {
    "en": (
        form(r"(?:the|our|my) plan is (?:to|that|now to) (?P<value>\S.*)", _D),
        form(r"decision made\s?[:,–—-] ?(?P<value>\S.*)", _D),
        form(
            rf"(?:let's|lets|let us) {_SOON}(?:go with|go for|go ahead with|use|stick with|stick to|keep|switch to"
            r"|move to|stay with|stay on|drop|settle on|adopt|choose|pick|call it|name it|not use|avoid"
            r"|standardi[sz]e on|migrate to|leave out|postpone|skip) (?P<value>\S.*)",
            _D,
        ),
        form(
            rf"(?:we|i|our team|the team|my (?:wife|husband|partner) and i)(?:'ve| have)? {_SOON}(?:decided|agreed"
            r"|chose|chosen|picked|opted|settled|resolved|committed|voted)(?: (?:long ago|together|yesterday|today"
            r"|last \w+|this \w+|now|finally))?(?: (?:to|on|that|for|against|not|in favou?r of|with"
            r"|it's))? (?P<value>\S.*)",
            _D,
        ),
        form(
            rf"(?:we|i)(?:'re|'m| are| am) {_SOON}(?:going with|going for|sticking with|sticking to|switching to"
            r"|moving to|staying with|staying on|dropping|keeping|not using|migrating to) (?P<value>\S.*)",
            _D,
        ),
        form(
            rf"(?:we|i)(?:'ll| will|'re going to| are going to|'m going to| am going to) {_SOON}(?:go with|go for"
            r"|stick with|stick to|stay with|stay on|switch to|settle on|standardi[sz]e on) (?P<value>\S.*)",
            _D,
        ),
        form(
            r"(?:we(?:'ll| will|'re going to| are going to) (?:use|keep)|i(?:'ll| will) (?:use|keep"
            r"|take) (?=.*\b(?:instead|rather than|over|from now on)\b)) (?P<value>\S.*)",
            _D,
        ),
        form(
            rf"we {_SOON}(?:stay (?:on|with|at)|keep|stick to|stick with|go with|drop|won't (?:use|support|do|ship"
            r"|touch|add|migrate)|will not (?:use|support|do|ship|add)|don't (?:support|ship|touch|do|show|write|use"
            r"|test|deploy|log|store|keep|merge|mock)"
            r"|never (?:show|ship|use|store|log)) (?P<value>\S.*)",
            _D,
        ),
        form(r"(?:just |please |then |so )?(?:go with|stick with|stay with) (?P<value>\S.*)", _D),
        form(r"(?P<value>[\w' -]{3,40}) we (?:drop|keep|skip|postpone|leave out|don't do|won't do)\b.*", _D),
        form(r"(?:i|we) went with (?P<value>\S.* (?:instead|over|rather than|because|in the end)\b.*)", _D),
        form(
            r"(?:the |our |my |final )?(?:decision|decided|verdict|agreed|settled)\s?(?:is|was)?(?: to"
            r"| that)?\s?[:–—-] ?(?P<value>\S.*)",
            _D,
        ),
        form(r"(?:the|our|my) (?:final )?decision (?:is|was) (?:to |that )?(?P<value>\S.*)", _D),
        form(r"(?:.{3,60}, )?(?P<value>(?:[\w.'-]+ ){1,4}stays (?:in|on|at|with|as|where) \S.*)", _D),
        form(
            r"(?!(?:please|pls|skip|use|write|don't|do|always|never|keep|answer|reply|respond|be|stop|avoid|give|add"
            r"|put|call|make|no|just|speak|talk|run|format|explain|show|test)\b)(?P<value>.{6,90}) (?:from (?:now"
            r"|here) on|going forward|henceforth)\b.*",
            _D,
        ),
        form(
            r"(?:for now|from now on|starting (?:today|monday|next week)|as of (?:today|now)),? (?:we"
            r"|[\w-]+) (?P<value>(?:stays?|keep|use|rotate|deploy|release|meet|ship|run|write|review|go|stick|do"
            r"|only|always|never)\b.*)",
            _D,
        ),
        form(r"(?P<value>.{4,80}),? (?:that's|that is|it's) (?:decided|settled|final|the decision)\b", _D),
    ),
    "de": (
        form(
            r"(?P<value>\S.{3,60} (?:wird|werden|läuft|laufen|kommt|kommen|gilt) (?:ab jetzt|ab sofort|künftig"
            r"|nur noch)\b.*)",
            _D,
        ),
        form(
            r"(?:wir|ich) (?:haben?) (?:uns|mich|mir)?\s?(?P<value>.+?) (?:entschieden|beschlossen|geeinigt"
            r"|festgelegt|vereinbart)\b.*",
            _D,
        ),
        form(
            r"(?:wir|ich) (?:haben?) (?:beschlossen|entschieden|vereinbart|festgelegt|abgemacht)[,:]? (?P<value>\S.*)",
            _D,
        ),
        form(r"(?:wir|ich) (?:nehmen|nutzen|verwenden) (?P<thing>[A-ZÄÖÜ]\S.*)", _D),
        form(r"(?P<value>\S.{2,40}) brauchen wir (?:nicht|nicht mehr|erst mal nicht)\b.*", _D),
        form(
            r"(?:wir|ich) (?:bleiben?|setzen?|behalten|wechseln?|verzichten?|verwenden|nutzen|stellen) (?:jetzt "
            r"|also |dann |ab sofort |künftig |weiter(?:hin)? )*(?P<value>(?:bei|auf|zu|den|die|das|ab)\b .*)",
            _D,
        ),
        form(
            r"lass(?:t)? uns (?:doch |mal |lieber |also )*(?P<value>.+ (?:nehmen|verwenden|benutzen|nutzen|bleiben"
            r"|behalten|machen|wechseln|umsteigen|weglassen))\b.*",
            _D,
        ),
        form(r"(?:entscheidung|beschlossen|entschieden)\s?: ?(?P<value>\S.*)", _D),
    ),
    "es": (
        form(r"(?P<value>.{6,90}),? (?:está |ya está )?decidido\W*$", _D),
        form(
            r"(?:hemos|he|nos hemos|me he) (?:decidido|acordado|elegido|optado por|quedado en"
            r"|decantado por) (?P<value>\S.*)",
            _D,
        ),
        form(
            r"(?:decidimos|acordamos|elegimos|optamos por|quedamos en|me quedo con|nos quedamos con|decidí"
            r"|elegí) (?P<value>\S.*)",
            _D,
        ),
        form(
            r"(?:vamos a (?:usar|quedarnos con|mantener|dejar|cambiar a|seguir con|utilizar)|usemos|quedémonos con"
            r"|usaremos|mantenemos|nos quedamos en) (?P<value>\S.*)",
            _D,
        ),
        form(r"(?:decisión|decidido)\s?: ?(?P<value>\S.*)", _D),
    ),
    "fr": (
        form(r"(?P<value>.{6,90}),? c'est décidé\W*$", _D),
        form(
            r"(?:nous avons|on a|j'ai|on s'est) (?:finalement |donc )?(?:décidé|choisi|convenu|opté pour"
            r"|mis d'accord)(?: (?:de|d'|que|pour|sur))? ?(?P<value>\S.*)",
            _D,
        ),
        form(
            r"(?:on|nous) (?:part(?:ons)?|reste(?:ons)?|restons|garde|gardons|prend|prenons|passe|passons"
            r"|va utiliser|va garder|utilise|utilisera) (?:donc |plutôt |finalement )?(?P<value>(?:sur|avec|à|sous"
            r"|le|la|les|en|du|de)\b .*|\S.*)",
            _D,
        ),
        form(r"(?:partons sur|restons sur|gardons|prenons|utilisons|choisissons) (?P<value>\S.*)", _D),
        form(r"(?:décision|décidé)\s?: ?(?P<value>\S.*)", _D),
    ),
    "it": (
        form(r"(?:abbiamo|ho) (?:deciso|scelto|concordato|optato)(?: (?:di|per|che))? (?P<value>\S.*)", _D),
        form(r"(?:usiamo|teniamo|restiamo (?:con|su)|passiamo a|andiamo con|useremo) (?P<value>\S.*)", _D),
    ),
    "pt": (
        form(
            r"(?:nós )?(?:decidimos|optamos por|escolhemos|combinámos|combinamos|decidi|escolhi"
            r"|ficamos com) (?P<value>\S.*)",
            _D,
        ),
        form(r"(?:vamos (?:usar|ficar com|manter|com|adotar)|fica decidido) (?P<value>\S.*)", _D),
    ),
    "nl": (
        form(
            (r"(?:we|wij|ik) (?:hebben|heb) (?:besloten|gekozen|afgesproken)(?: (?:om|dat|voor))? (?P<value>\S.*)"), _D
        ),
        form(
            r"(?:we|wij) (?:blijven bij|gaan voor|gebruiken|houden) (?P<value>\S.*)|laten we (?P<let>.+ (?:gebruiken"
            r"|nemen|houden|doen))\b.*",
            _D,
        ),
    ),
    "ru": (
        form(
            r"(?:мы |я )?(?:решили|решила?|договорились|выбрали|остановились на|остаёмся на"
            r"|остаемся на) (?P<value>\S.*)",
            _D,
        ),
        form(r"(?:давай(?:те)? (?:использовать|возьм[её]м|остан[её]мся)|будем использовать) (?P<value>\S.*)", _D),
    ),
    "zh": (
        form(
            r"(?:我们|我們|我)(?:最后|最後|已经|已經|就|还是|還是)?(?:决定|決定|选择|選擇|确定)(?:了)?(?:用|使用|采用|採用)?(?P<value>.{2,})",
            _D,
        ),
        form(r"(?:就用|我们用|我們用|那就用|还是用|還是用)(?P<value>.{2,})", _D),
    ),
    "ja": (
        form(
            r"(?P<value>.{2,60}(?:に決めました|にしました|に決めた|ことにしました|ことにします|でいきましょう|でいきます|を使うことに|に決定))",
            _D,
        ),
    ),
}
