"""What `filters` looks for: one pattern for each kind of sentence that is no statement. No rules here, only words."""

import re

from recollect.librarian.speech.wordset import wordset


def _words(*patterns: str) -> re.Pattern[str]:
    """Any of them as whole words."""
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)", re.IGNORECASE)


REQUEST = _words(
    r"(?:can|could|would|will) you (?:please )?(?:remember|note|keep in mind|make a note|save|store|memori[sz]e)",
    r"(?:kannst|könntest) du dir (?:bitte )?\w*\s?merken",
    r"(?:puedes|podrías) (?:recordar|anotar|apuntar)",
    r"(?:peux|pourrais)-tu (?:te souvenir|retenir|noter)",
)
QUESTION_END = re.compile(r"[?？⁇‽]\W*$|(?:吗|嗎|呢|ですか|ますか|でしょうか|かな)[。.!！]?\s*$")
QUESTION_START = re.compile(
    r"""(?ix)\W*(?:so\s|and\s|but\s|also\s|ok(?:ay)?,?\s|hey,?\s|hi,?\s|well,?\s|now,?\s|then\s|please\s
        |und\s|aber\s|y\s|et\s)?
    (?: (?:what|how|why|which|who|where|when|whose)(?:'s|s)?\s(?!(?:i|we)\s(?:like|love|prefer|want|need
        |hate)\b|matters)
      | (?:can|could|would|will|should|shall|may|might|do|does|did|is|are|was|were|has|have|am|isn't|aren't
        |don't|doesn't|didn't
        |won't|can't|couldn't|shouldn't|wouldn't)\s(?:i|you|we|he|she|it|they|this|that|there|the|my|your|our
        |anyone|someone)\b
      | (?:any|got\sany)\s(?:idea|ideas|tips|advice|suggestions|recommendations|thoughts)
      | (?:i\s)?(?:was\s|am\s|'m\s)?(?:just\s)?wonder(?:ing)?\s(?:if|whether|what|how|why)
      | (?:was|wie|warum|wieso|weshalb|wer|wo|wann|welche[rsnm]?|wohin|woher)\s(?!ich\s(?:mag|will|brauche))
      | (?:kannst|könntest|würdest|hast|bist|weißt|soll|sollte|kann|könnte|darf|gibt|ist|sind|hat)\s(?:du|ich
        |wir|es|das|man|sie|er)\b
      | (?:qué|cómo|por\squé|cuál(?:es)?|quién|dónde|cuándo|puedes|podrías|sabes|tienes|hay)\s
      | (?:qu['’]est-ce|est-ce\sque|quel(?:le)?s?\s|comment\s|pourquoi\s|où\s|quand\s|qui\s|peux-tu
        |pourrais-tu|as-tu|sais-tu)
      | (?:che\scosa|cosa|come|perché|quale|chi|dove|quando|puoi|potresti)\s
      | (?:o\sque|como|por\sque|qual|quem|onde|quando|pode|você\spode)\s
      | (?:wat|hoe|waarom|welke|wie|waar|wanneer|kun|kan|zou)\s(?:je|ik|we|jij)\b
      | (?:что|как|почему|какой|какая|какие|кто|где|когда|можешь|можно\sли)\s
      | (?:什么|怎么|为什么|谁|哪|如何|請問|请问)
    )""",
)
INDIRECT = _words(
    r"(?:tell|show|explain to|help) me\b.{0,40}\b(?:what|how|why|whether|if|which)",
    r"i(?:'d| would) (?:like|love) to know",
    r"(?:not sure|don't know|no idea|unsure|can't decide|undecided|not certain|unclear) (?:if|whether|what|how"
    r"|why|which|about|who|where|yet)",
    r"(?:weiß|weiss) (?:ich )?(?:noch )?nicht,? (?:ob|was|wie|warum|welche\w*)",
    r"no sé (?:si|qué|cómo|cuál)",
    r"je ne sais pas (?:si|quoi|comment|quel\w*)|je me demande",
)

HYPOTHETICAL = _words(
    r"if (?:i|we|you|he|she|they|it|my|our|someone|somebody|one) (?:were|was|had|lived|moved|worked|could|would"
    r"|ever|did|got|became|switched)",
    r"(?:let's|lets|let us) (?:say|pretend|imagine|assume|suppose)|suppos(?:e|ing)(?: that)?|imagine(?: that"
    r"| if)?|pretend(?: that|ing)?",
    r"assum(?:e|ing) (?:that )?(?:i|we|you|my|the)|hypothetical(?:ly)?|what if|in theory"
    r"|for the sake of (?:argument|example)",
    r"say i(?:'m| am| were| was| have| live| had)|as if i|if only|wish i|i wish|in an? (?:alternate|parallel"
    r"|perfect|ideal) \w+",
    r"(?:would|could|might|may) (?:be|have|become|need|move|live|work|use|go|switch|want|try|make|take|get|end up"
    r"|consider)",
    r"i(?:'d| would) (?:be|have|become|need|move|live|work|use|go|switch|want|try|make|take|get)",
    r"(?:maybe|perhaps|possibly) (?:i|we)|(?:i|we) (?:might|may|could)|(?:thinking|thought) (?:about|of)"
    r"|(?:considering|toying with|debating)",
    r"wenn ich .{0,60}(?:wäre|hätte|würde|könnte)|angenommen|stell(?:en)? (?:dir|wir|sie)(?: uns| sich)? vor"
    r"|nehmen wir (?:mal )?an|mal angenommen",
    r"(?:ich|wir|man) (?:würde|wäre|hätte|könnte)n?|hypothetisch|rein theoretisch|vielleicht (?:werde|ziehe|nehme"
    r"|mache)",
    r"si (?:yo )?(?:fuera|fuese|tuviera|viviera|pudiera)|supongamos|imagina(?:te|mos)?|digamos|hipot[eé]tic\w+"
    r"|quizás?|tal vez",
    r"si j(?:'|’)(?:étais|avais|habitais)|si je (?:vivais|travaillais|pouvais)|supposons|imagin(?:e|ons"
    r"|ez)(?: que)?|disons|peut-être|hypothéti\w+",
    r"se (?:io )?(?:fossi|avessi|vivessi)|supponiamo|immagina(?:mo)?|se eu (?:fosse|tivesse)|imagine que"
    r"|suponha(?:mos)?",
    r"stel (?:je voor|dat)|als ik .{0,30}(?:was|zou)|если бы|допустим|представ(?:ь|им|ьте)|предположим",
)
WIDE_HYPOTHETICAL = re.compile(r"如果我|假如|假设|假設|要是我|もし(?:私|僕|俺)?|仮に|たとえば私が")
FICTION = _words(
    r"(?:in|for|from) (?:a|an|the|my|our|this) (?:\w+ ){0,2}(?:novel|story|book i'm writing|screenplay|roleplay"
    r"|role-play|dream|example|unit test|test case|fixture|scenario|poem|song)",
    r"(?:role-?play(?:ing)?|fictional|fictitious|made[- ]up (?:user|name|person|people|example|data|story"
    r"|company|character)s?|make[- ]believe|fake (?:data|user|profile|name)"
    r"|dummy (?:data|user|text)|placeholder|lorem ipsum|test data|sample data)",
    r"(?:my|the|our) (?:main )?(?:character|protagonist|hero|heroine|villain|narrator|persona|npc|avatar)(?:'s)?",
    r"(?:write|draft|generate|create|compose) (?:me )?(?:a|an|the|some) (?:\w+ ){0,3}(?:story|poem|song|scene"
    r"|dialogue|novel|persona|fairy tale|screenplay|sketch)",
    r"(?:act|speak|talk|respond|answer|write) as (?:if|though|a|an)|from the (?:perspective|point of view) of"
    r"|in the voice of",
    r"(?:in|aus|für) (?:einem?|einer|meinem?|meiner|dem|der) (?:roman|geschichte|spiel|beispiel|test|film|traum"
    r"|drehbuch)|rollenspiel|erfunden\w*|romanfigur|hauptfigur",
    r"(?:en|para) (?:una?|mi|el|la) (?:novela|cuento|historia|juego|ejemplo|película|sueño)|mi personaje"
    r"|protagonista|inventad[oa]",
    r"(?:dans|pour) (?:un|une|mon|ma|le|la) (?:roman|histoire|jeu|exemple|film|rêve|nouvelle)|mon personnage"
    r"|jeu de rôle|inventé\w*",
)
OPENERS = _words(
    r"(?:let's|lets|let us) (?:say|pretend|imagine|assume|suppose|play|roleplay)|suppose|imagine|pretend"
    r"|hypothetical(?:ly)?|what if|role-?play(?:ing)?",
    r"(?:in|for|from) (?:a|an|the|my|this) (?:\w+ ){0,2}(?:novel|story|screenplay|roleplay|scenario"
    r"|test case|fixture|unit test|dream)",
    r"(?:test|sample|dummy|fake|example|mock) (?:data|input|text|sentence|message|user|profile|conversation"
    r"|transcript)s?",
    r"(?:my|the) (?:main )?(?:character|protagonist|narrator|persona)",
    r"angenommen|stell (?:dir|en wir uns) vor|nehmen wir (?:mal )?an|rollenspiel|romanfigur|meine[rn]? (?:roman"
    r"|geschichte)|beispiel(?:satz|text|daten)",
    r"supongamos|imagina(?:te|mos)?|digamos que|mi personaje|supposons|imagin(?:e|ons|ez)|disons que"
    r"|mon personnage|jeu de rôle",
)

JOKE = re.compile(
    r"(?i)(?<!\w)(?:just kidding|only kidding|i'?m kidding|kidding(?: aside)?|j/k|jk|joking|just a joke|sarcas(?:m"
    r"|tic)\w*|/s|/j|lol|lmao|rofl|haha\w*|hehe\w*|hihi\w*|xd|trolling"
    r"|nur spa(?:ß|ss)|kleiner scherz|scherz\w*|war ein witz|es broma|es coña|bromeo|jaja\w*|jeje\w*|je plaisante"
    r"|je rigole|mdr|ptdr|blague|scherzo|sto scherzando|ahah\w*"
    r"|brincadeira|kkkk+|rsrs+|grapje|geintje|шучу|шутка|хаха\w*|ахах\w*|哈哈+|开玩笑|開玩笑|冗談|笑笑)(?!\w)|[😂🤣😜😝🙃😹😏]|(?:^"
    r"|\s)[;:]-?[Pp](?:\s|$)|\(joke\)|[,.] obviously\W*$|\bjust (?-i:LOVE)\b"
    r"|^\W*(?:oh (?:great|good|wonderful)|(?:sure|of course|klar|claro|bien sûr),? (?:because|weil|porque|parce que))"
    r"[\s,.!]*(?:i|ich|me|j'|yo|io)\s?(?:just |really )?(?:love|liebe|encanta|adore)\b|^(?:klar|claro), (?:ich liebe es"
    r"|me encanta que)\b"
    r"|w{3,}$|（笑）"
)

NEGATED = _words(
    r"(?:don't|do not|dont|never|no need to|please don't|you don't (?:need|have) to|needn't|you can) (?:remember"
    r"|save|store|keep|note|record|memori[sz]e|write|log|forget)(?: (?:this|that|it|any|down|about|anything|these"
    r"|what)\b)",
    r"forget (?:that|this|it|about (?:it|that|this)|what i (?:just )?said|everything i)|off the record"
    r"|between (?:you and me|us)|scratch that|never ?mind(?: that)?|strike that",
    r"(?:merk|speicher|notier)e? (?:dir )?(?:das|dies|es) (?:bitte )?nicht|vergiss (?:das|es|was)|nicht (?:merken"
    r"|speichern|notieren)|unter uns gesagt",
    r"no (?:lo |la )?(?:recuerdes|guardes|anotes|apuntes)|olvida(?:lo|te)?(?: de)? (?:eso|esto|lo)|olvídalo",
    r"(?:ne |n')(?:retiens|enregistre|note|garde|mémorise) pas|oublie (?:ça|cela|ce que)|entre nous",
    r"non (?:ricordare|salvare|memorizzare)|dimentica(?:lo)?|não (?:guarde|salve|memorize)|esqueça|niet onthouden"
    r"|vergeet dat|не запоминай|забудь",
)
WIDE_NEGATED = re.compile(r"不要记|不要記|别记|別記|忘了(?:吧|它|这)|覚えなくて|忘れて(?:ください|くれ)?")

TRIVIAL = wordset("""
    ok okay yes yeah yep yup no nope sure great cool nice perfect awesome excellent thank thanks thx ty cheers
    please pls go on ahead continue proceed sounds good looks look fine lgtm got it i see makes sense right
    exactly correct agreed job work morning night evening idea point well done hi hello hey bye so much very a
    lot again that this works worked is all for now the help your you then will do try let's and really
    appreciate appreciated wow hmm oh ah lovely amazing wonderful danke dankeschön bitte ja nein genau super
    prima alles klar weiter mach passt gut sehr vielen dank hallo gracias sí si vale perfecto genial muchas
    sigue claro bien muy hola merci oui non d'accord parfait beaucoup bonjour salut grazie sì va bene perfetto
    obrigado obrigada sim bedankt je спасибо да нет хорошо 谢谢 好 好的 ありがとう はい
""")
MOST_TRIVIAL_WORDS = 12

DERIVABLE = _words(
    r"(?:the|this|(?<!mind )(?<!member )(?<!note )(?<!know )that|our|your) (?:\w+ ){0,3}(?:function|method|variable"
    r"|constant|module|import|endpoint|struct"
    r"|decorator|test suite|unit tests?|tests|build|ci|linter|compiler|regex|script|file|directory|commit|diff"
    r"|pull request|stack trace|error message|logs|readme|codebase|code|repo|repository|package\.json|config file)"
    r" (?:\w+ ){0,2}(?:is|are|was|were|returns?|takes?|calls?|uses?|has|have|contains?|imports?|exports?|defines?"
    r"|says?|shows?|fails?|failed|passe[sd]|throws?|raises?|logs?|prints?|reads?|writes?|looks?|lists?|states?"
    r"|does|doesn't|isn't|needs)",
    r"(?:the|this|that) (?:\w+ ){0,2}(?:class|component|hook|interface|branch|table|column|query|output|log"
    r"|test) (?:\w+ )?(?:returns?|calls?|contains?|imports?|exports?|defines?|throws?|raises?|fails?|failed"
    r"|passe[sd]|inherits|extends|prints?|shows?)",
    r"(?:on|at|in) lines? \d+|line \d+|commit [0-9a-f]{6,40}|git (?:log|blame|status|diff|show|history)"
    r"|(?:according to|as per) (?:the )?(?:code|docs?|readme|logs?|git|tests?|output|error)",
    r"die (?:funktion|klasse|methode|variable|datei|tests|ausgabe|tabelle|spalte) (?:ist|sind|hat|gibt|ruft"
    r"|enthält|importiert|schlägt)|der (?:code|test|build|commit|branch|log) (?:ist|hat|gibt|enthält|zeigt"
    r"|schlägt)|laut (?:code|doku|log|git|readme)",
    r"la (?:función|clase|variable|tabla|salida) (?:es|está|tiene|devuelve)|el (?:código|archivo|fichero|test"
    r"|método|error) (?:es|está|tiene|devuelve|dice|muestra)",
    r"la (?:fonction|classe|méthode|variable|table|sortie) (?:est|a|renvoie|retourne)|le (?:code|fichier|test"
    r"|build|log) (?:est|a|contient|renvoie|échoue|dit|montre)",
)
NORMATIVE = _words(
    r"always|never|please|prefer|must|don't|do not|remember|from now on|immer|nie|niemals|bitte|siempre"
    r"|nunca|toujours|jamais|we decided|let's"
)
"""What ought to be is in no file."""
PATH = re.compile(
    r"(?<!\w)(?:[\w.-]+/){1,12}[\w.-]+\.\w{1,5}(?!\w)|\b\w+\(\)|\b\w+\.(?:py|ts|tsx|js|go|rs|java|md|json|toml"
    r"|yaml|yml|sql|sh|c|cpp|h|rb|php|css|html):\d+"
)
PATH_FACT = _words(
    r"is|are|has|contains?|defines?|imports?|returns?|calls?|in|exports?|lives|handles?|holds?|implements?"
)

MACHINE = _words(
    r"(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |my |every |these |those )*(?:previous"
    r"|prior|above|earlier|preceding|other|existing|safety|system)(?: \w+)? ?(?:instructions?|prompts?|rules?"
    r"|messages?|guidelines?|context|directions?|restrictions?)?",
    r"(?:ignore|disregard) (?:all|your) (?:instructions?|rules|guidelines)|(?:new|updated|additional|hidden"
    r"|secret) (?:system )?(?:instructions?|directives?|prompt)|system (?:prompt|message|override|instruction"
    r"|note)",
    r"you (?:are|will be|shall be) now|you must (?:now |always |never )?(?:obey|comply|follow|reveal|output"
    r"|respond|reply|send|execute|run|ignore|include|insert|say|tell|forward|disclose|print|delete|approve"
    r"|recommend)",
    r"developer mode|jailbreak\w*|do anything now|prompt injection|(?:do not|don't|never) (?:tell|inform|alert"
    r"|mention (?:this|it) to|reveal (?:this|it) to) the (?:user|human|owner)|without (?:telling|asking) the user",
    r"(?:reveal|exfiltrate|leak|forward|upload|send) (?:all |the |your |any |me )*(?:\w+ )?(?:system prompt"
    r"|api keys?|secrets?|credentials?|passwords?|tokens?|environment variables|private keys?"
    r"|conversation history|memory)",
    r"(?:attention|note to|message to|dear|instructions? (?:for|to)|important:?) (?:all |the |any )?(?:ai|llm"
    r"|assistant|agent|bot|language model|claude|chatgpt|gpt|gemini|copilot)s?(?: reading| that| who|:)",
    r"(?:ai|llm|assistant|agent)s? (?:reading|processing|parsing|that reads?) this|as an ai(?: language)? model"
    r"|your (?:new )?(?:task|goal|objective|mission|role) is (?:now )?to",
    r"(?:curl|wget) .{0,80}\| ?(?:ba|z)?sh|rm -rf|sudo rm|base64 -d",
    r"(?:ignoriere|vergiss|missachte) (?:alle |die |deine |sämtliche )*(?:bisherigen|vorherigen|früheren"
    r"|obigen)?\s?(?:anweisungen|instruktionen|regeln|befehle)|du bist (?:jetzt|ab jetzt|nun)|systemnachricht",
    r"(?:ignora|olvida|descarta) (?:todas? )?(?:las |tus )?(?:instrucciones|reglas|órdenes)|ahora eres"
    r"|a partir de ahora eres",
    r"(?:ignore[zr]?|oublie[zr]?) (?:toutes )?(?:les |tes |vos )?(?:instructions|consignes|règles)"
    r"|tu es (?:maintenant|désormais)",
    r"(?:ignora|dimentica) (?:tutte )?le istruzioni|ignore (?:todas )?as instruções|negeer (?:alle )?(?:vorige "
    r"|eerdere )?instructies|игнорируй|забудь (?:все )?инструкции",
)
MACHINE_START = re.compile(
    r"(?i)\s*[\[(<#*]{0,3}\s?(?:system|assistant|developer|human|user|tool|function"
    r"|instruction)s?\s?[\])>*]{0,3}\s?:(?!\s*$)|\s*<\|"
)
WIDE_MACHINE = re.compile(r"忽略.{0,8}(?:指令|指示)|无视.{0,8}指令|你现在是|これまでの指示を|指示を無視|あなたは今から")

SECRET = _words(
    r"(?:passwords?|passphrase|passcode|pin(?: code)?|pin number|api keys?|access tokens?|seed phrase|cvv"
    r"|cvc|credit card number"
    r"|social security number|ssn|passwort|kennwort|contraseña|clave|mot de passe|senha|wachtwoord|пароль)"
    r"(?: (?:for|of|to|für|vom|de|del|du|da|voor|от) [\w' .-]{1,30}?)? ?(?:is|are|ist|lautet|es|est|é|:|=|-)"
    r" (?!(?:stored|in|on|kept|the same|managed|hashed|too|not|rotated|wrong|required|needed|gespeichert"
    r"|falsch|nicht|im)\b)\S+"
)
"""A secret that people chose themselves has no form; the words before it tell."""
PASSING = _words(
    r"it(?:'s| is| was)(?: been| so| really| pretty| very| quite)* (?:raining|snowing|sunny|cloudy|cold|hot"
    r"|warm|freezing|windy|humid|foggy|stormy|late|early|(?:monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|weekend)(?=\W*$|\s+(?:already|again|today|finally|here)))(?: (?:here|outside|today"
    r"|now|again|out))*",
    r"(?:nice|bad|great|terrible|lovely|awful) weather|the weather",
    r"(?:i'm|i am|im|i feel|i'm feeling|feeling|we're|we are)(?: (?:a bit|a little|so|very|really|kinda|kind of"
    r"|pretty|quite|just|still|too|super|totally|completely|rather|also|now|currently|already|all|not|quite))* "
    r"(?:tired|exhausted|hungry|thirsty|sleepy|bored|busy|stuck|confused|lost|sick|ill|back|here"
    r"|done(?! with)|ready|happy"
    r"|sad|excited|sorry|sure|afraid|glad|curious|wondering|annoyed|frustrated|stressed|overwhelmed|late"
    r"|good(?! (?:at|with))|fine|ok|okay|well|free"
    r"|nervous|worried|anxious|angry|mad|cold|hot|drunk|awake|home|away|out|off|aware|impressed|surprised|pleased"
    r"|grateful|thankful|hungover|sore|hopeful|able|unable|convinced|certain|proud|trying|looking"
    r"|going(?! (?:with|to))|getting|having|seeing|about to|asking)",
    r"(?:ich bin|ich fühle mich|mir ist) (?:\w+ )?(?:gerade |heute |so |sehr |ziemlich |echt |etwas |noch "
    r"|total )*(?:müde|hungrig|durstig|krank|verwirrt|fertig|bereit|froh|traurig|gestresst|erschöpft|beschäftigt"
    r"|sicher|dran|da|zurück|unterwegs|kalt|warm|langweilig|satt)",
    r"es (?:regnet|schneit|ist (?:heute )?(?:kalt|warm|heiß|spät|früh))|das wetter",
    r"(?:estoy|me siento|ando)(?: muy| un poco| bastante| tan| algo)* (?:cansad[oa]|ocupad[oa]|enferm[oa]"
    r"|list[oa]|content[oa]|triste|perdid[oa]|aburrid[oa]|segur[oa]|nervios[oa]|bien|mal|aquí|estresad[oa])"
    r"|(?:tengo|hace) (?:mucho |mucha )?(?:hambre|sed|sueño|frío|calor|prisa)|está (?:lloviendo|nevando)",
    r"je (?:suis|me sens)(?: très| un peu| assez| trop| vraiment| tellement)* (?:fatigué|occupé|malade|prêt"
    r"|content|triste|perdu|stressé|désolé|sûr|ravi|épuisé)e?|j'ai (?:faim|soif|froid|chaud|sommeil|hâte)"
    r"|il (?:pleut|neige|fait (?:froid|chaud|beau))",
    r"sono (?:molto |un po' )?(?:stanc[oa]|occupat[oa]|malat[oa]|pront[oa])|ho (?:fame|sete|freddo|sonno)|piove"
    r"|estou (?:muito |com )?(?:cansad[oa]|ocupad[oa]|doente|fome|sede|sono)|ik ben (?:moe|ziek|klaar)|het regent"
    r"|(?:я|мне) (?:\w+ )?(?:устал[аи]?|голоден|холодно)|идёт дождь",
)
WIDE_PASSING = re.compile(r"(?:我|今天).{0,4}(?:累|饿|困|忙)|下雨|(?:疲れ|お腹すい|眠い|忙しい)|雨が降")

AT_FIRST = re.compile(
    r"(?i)\W*(?:for example|as an example|e\.g\.|for instance|zum beispiel|z\.\s?b\.|beispielsweise|por ejemplo"
    r"|par exemple|ad esempio|por exemplo|bijvoorbeeld|например)(?!\w)"
)
QUOTING = re.compile(
    r"(?i)(?:\b(?:said|says|wrote|writes|told \w+|asked|replied|states|reads|according to \w+|schrieb|sagte|meinte"
    r"|laut|dijo|dice|escribió|según|a dit|a écrit|selon|disse|ha detto|zei|сказала?|написала?)[:,]?\s*[\"“„«'‘]?"
    r"|[\"“„«]\s*)$"
)
QUOTED = re.compile(r"\s*(?:>|[\"“„«「『].{8,}[\"”“»」』][.!?]?\s*$)")
WIDE = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")
CUT = re.compile(r"[:,;(–—]\s*$|\.{3}\s*$|…\s*$")
