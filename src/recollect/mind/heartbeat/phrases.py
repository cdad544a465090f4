"""The phrases by which a wish is told, in English and, the plainest ones, in German, French and Spanish. Tables only.

A phrase is a pattern: `<name>` stands for one of the parts below, or for what is read out of it (`<topic>`, `<moment>`,
`<span>`); round brackets only group. It is matched from where a request may begin to the end of its clause; one that
ends with `…`, whatever follows. In those that are always read stands who is not to be written to ("me"), or they end at
once, so that they mean the agent and nobody else.
"""

import re

_PARTS = {
    "not": "((you should |you must )?(please )?(don'?t|do not|never)( you)?( ever| keep)?"
    "|(can|could|would|will) you (please )?(not|stop)"
    "|(you should |you must )?(stop|quit))",
    "write": "(writ(e|ing)|messag(e|ing)|text(ing)?|contact(ing)?|ping(ing)?|bother(ing)?|disturb(ing)?"
    "|reach(ing)? out|talk(ing)?)",
    "tell": "(ask(ing)?|writ(e|ing)|messag(e|ing)|text(ing)?|talk(ing)?|tell(ing)?|remind(ing)?|bother(ing)?"
    "|nag(ging)?|pester(ing)?)",
    "me": "( to me| me)",
    "first": "(first|on your own|unprompted|unasked|uninvited|proactively|out of the blue|out of nowhere|by yourself"
    "|(unless|until|before) i('ve| have)? ?(ask|write|wrote|written|message|text|say|speak|contact)[^,]*"
    "|without (being asked|me asking|my asking|asking)[^,]*)",
    "again": "( again| any ?more| ever| at all| please| thanks| thank you| ok| okay| for now| from now on"
    "| in (the )?future)*",
    "more": "( again| any ?more| ever)+",
    "write-de": "schreib(e|en sie)? mir( bitte)?",
    "unasked-de": "(zuerst|als erste[rs]?|von dir aus|von selbst|ungefragt|unaufgefordert)",
    "busy": "(i'?m |i am |i'll be )?(very |really |quite |so |too |a bit )?"
    "(busy|in a meeting|in meetings|at work|working|driving|asleep|sleeping|occupied|on a call|on the phone|away"
    "|offline|travell?ing|on holiday|on vacation)",
    "now": "( now| right now| just now| at the moment| just this moment| for now)",
    "talk": "((let's|let us|can we|could we|we can|we'll) )?(talk|speak|discuss (this|it)|do (this|it))",
    "topic": "(?P<topic>[^,:()]{1,100}?)",
    "moment": "(?P<moment>[^,]{1,60}?)",
    "span": "(?P<span>[^,]{1,60}?)",
}


def _compiled(*phrases: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_pattern(phrase), re.IGNORECASE) for phrase in phrases)


def _pattern(phrase: str) -> str:
    body = re.sub(r"(?<!\?P)<([a-z-]+)>", lambda found: _PARTS[found[1]], phrase)
    body = re.sub(r"\((?!\?)", "(?:", body)
    return body.removesuffix("…") if body.endswith("…") else rf"{body}\W*$"


NEVER = _compiled(
    "<not> <write><me><again> <first><again>",
    "<not> (writing|messaging|texting) first<again>",
    "i (don'?t|do not) (want|like) (you to|it when you|you) <write><me>? <first><again>",
    "(only|just) (write|message|text|talk|speak)( to)? me (when|if|after) i "
    "(write|ask|message|text|talk|speak|say|do)…",
    "no more (unprompted|proactive|unsolicited|unasked) (messages?|texts?|check-?ins?)<again>",
    "<write-de> (nicht|nie)( mehr| wieder)* <unasked-de>( mehr)?",
    "h[oö]r auf,? mir <unasked-de> zu schreiben",
    "(ne )?m'[eé]cris (plus|pas|jamais)( jamais)? (en premier|le premier|la premi[eè]re|de toi-m[eê]me|sans que je)…",
    "no me (vuelvas a escribir|escribas)( m[aá]s| nunca)? (primero|primera|por tu cuenta|sin que)…",
)
NEVER_AS_ANSWER = _compiled(
    "no (more )?(messages|texts|pings)( please| any ?more)*",
    "(please )?(stop|quit|can you stop|could you stop|would you stop) <write><me><again>",
    "(don'?t|do not) <write><me><more><again>",
    "(don'?t|do not) (writ(e|ing)|messag(e|ing)|text(ing)?|contact(ing)?|ping(ing)?)<me><again>",
    "never <write><me><again>",
    "(schreib(e)? mir (nicht|nie) (mehr|wieder)|h[oö]r auf,? mir zu schreiben)",
    "((ne )?m'[eé]cris plus|arr[eê]te de m'[eé]crire)",
    "(no me escribas (m[aá]s|nunca)|deja de escribirme)",
)

UNTIL = _compiled(
    "<not> <write><me>?( again)? (before|until|till) <moment>",
    "no (messages|texts|pings|writing) (before|until|till) <moment>( please)?",
    "leave me (alone|in peace|be) (until|till) <moment>",
    "<write-de> (nicht vor|erst( wieder)?( am)?) <moment>( wieder)?",
    "(ne )?m'[eé]cris pas avant <moment>",
    "no me escribas (antes del?|hasta( el)?) <moment>",
)
FOR = _compiled(
    "<not> <write><me>( again| any ?more)? <span>",
    "leave me (alone|in peace|be) <span>",
    "<write-de> (?P<span>heute|diese woche) (bitte )?nicht( mehr)?",
)
UNTIL_AS_ANSWER = _compiled(
    "<busy> (until|till) <moment>",
    "not (before|until) <moment>",
    "(ask|tell|write( to)?|text|message|ping|remind) me( about (it|this|that))?( again)? <moment>( instead)?",
    "<talk>( again)? <moment>( instead)?",
    "maybe <moment>",
    "(erst|vielleicht) <moment>",
)

ABOUT = _compiled(
    "<not> <tell><me><again> (about|of|regarding) <topic>",
    "<not> (writ(e|ing)|talk(ing)?) (about|of) <topic> to me<again>",
    "<not> mention(ing)? <topic>( to me<again>|<more>)",
    "(you )?never( again)? about <topic>",
    "(no more|not another word|nothing more|not again) about <topic>",
    "i (don'?t|do not|never)( ever)? want (to (talk|hear|be asked|be reminded)|you to (talk|ask|write)( to me| me)?) "
    "(about|of) <topic><more>",
    "(frag|sprich) mich (bitte )?(nie|nicht)( mehr| wieder)+ (nach|zu|auf|wegen) <topic>( an)?",
    "(ne )?me parles? plus( jamais)? (de|du|des) <topic>",
    "no me (preguntes|hables) (m[aá]s|nunca m[aá]s) (sobre|de|del|por) <topic>",
)
LOOSE_ABOUT = _compiled(
    "<not> ask(ing)?<again> about <topic>",
    "<not> bring(ing)? up (?P<topic>my [^,:()]{1,97}?)<again>",
    "<not> bring(ing)? up <topic> (to|with) me<again>",
    "<topic> (is|are) (off[ -]limits|taboo|a taboo)<again>",
)
"""They may mean what is not to be said to others, if a place or a person follows: `ELSEWHERE`."""
ABOUT_AS_ANSWER = _compiled(
    "i (don'?t|do not|never)( ever)? want to (talk|hear|be asked|be reminded|think) (about|of) <topic>",
    "(drop|stop with) (?P<topic>it|this|that|the (subject|topic|matter))",
)
LOOSE_ABOUT_AS_ANSWER = _compiled("<not> bring(ing)? up <topic>", "<not> bring(ing)? <topic> up<again>")

AGAIN_WELCOME = _compiled(
    "you (can|may|could) <write><me>?( first)? again( now| any ?time| if you (like|want)| whenever you (like|want))*",
    "(you (can|may)|feel free to|i'd like you to|i want you to) (start )?<write><me>? first"
    "( again| now| any ?time| if you (like|want))*",
    "(feel free to|you're welcome to|you are welcome to) <write><me>( first)?"
    "( again| any ?time| whenever you (like|want))+",
    "(start )?<write><me> first again",
    "du (darfst|kannst) mir (gern )?wieder (von dir aus |zuerst )?schreiben",
    "tu peux (m'[eé]crire ([aà] nouveau|de nouveau)|de nouveau m'[eé]crire|recommencer [aà] m'[eé]crire)",
    "(ya )?puedes (volver a escribirme|escribirme (otra vez|de nuevo))",
)
TOPIC_WELCOME = _compiled(
    "(you (can|may)|feel free to) (ask|write|message|text|talk|remind)<me> about <topic> again",
    "(you (can|may)|feel free to) bring <topic> up again",
    "(you (can|may)|feel free to) bring up <topic> again",
)

SHORT = _compiled(
    "not( right)? now",
    "(please )?stop( it| that| this)?( please)?",
    "not (?P<span>today|tonight|this (week|weekend|month|morning|afternoon|evening))",
    "(maybe |perhaps )?(later|another time|some other time|not yet)",
    "(<talk>|ask me|tell me|remind me|write me|text me|ping me)( about (it|this|that))? (again )?later",
    "(i )?(can'?t|cannot) (talk|chat|write|answer|speak|(deal with|do|think about) (this|that|it))<now>?",
    "(i have |i've )?(got )?no time( for (this|that|it))?( now| right now| today)?",
    "(i'?m |i am )?not in the mood( for (this|that|it))?",
    "<busy><now>",
    "(i'?m |i am )?(very |really |quite |so |too |a bit )?busy",
    "leave me (alone|in peace|be)",
    "(please )?(don'?t|do not) (bother|disturb) me<now>?",
    "(jetzt nicht|nicht jetzt|sp[aä]ter|vielleicht sp[aä]ter|keine zeit|gerade nicht|gerade keine zeit)",
    "(?P<span>heute|diese woche) nicht",
    "(pas maintenant|plus tard|pas le temps)",
    "pas (?P<span>aujourd'hui|ce soir|cette semaine)",
    "(ahora no|m[aá]s tarde|luego|despu[eé]s|no tengo tiempo)",
    "(?P<span>hoy|esta semana) no",
)
"""The whole of an answer, or of its first clause."""
