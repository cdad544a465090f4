"""How people are named: by what they are to the speaker, or by where they are from. Groups: `name`, `role`, `low`."""

import re

NAME = (
    r"(?P<name>(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|M|Señora?|Sra?|Mme|Mlle|Madame|Monsieur|Don"
    r"|Doña)\.? )?[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё'’-]+(?:-[A-ZÀ-Þ][a-zà-ÿ]+)?(?: (?:van |von |de |da |di |del |der "
    r"|den )?[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё'’-]+)?))"
)
_LITTLE = (
    r"(?:(?:older|younger|little|big|elder|late|new|old|best|good|close|dear|former|ex|oldest|youngest"
    r"|eldest|middle|direct|current|first|twin|half|great|step|dear|long-time|longtime|next-door|upstairs"
    r"|other|previous)[- ])*"
)
ROLE = (
    r"(?P<role>(?:ex-|step-?|half-|grand|great-grand)?(?:wife|husband|partner|girlfriend|boyfriend|fiancée?"
    r"|spouse|mother|father|mom|mum|dad|mama|papa|parents?|sister|brother|son|daughter|child|kid|baby"
    r"|toddler|aunt|uncle|cousin|niece|nephew|grandma|grandpa|grandmother|grandfather|granny|nan|grandson"
    r"|granddaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|mil|fil|godson|goddaughter"
    r"|godfather|godmother"
    r"|friend|best friend|buddy|mate|flatmate|roommate|housemate|neighbou?r|landlord|landlady|colleague"
    r"|coworker|co-worker|boss|manager|supervisor|line manager|team lead|tech lead|lead|cto|ceo|cfo"
    r"|co-?founder|business partner|assistant|intern|mentor|mentee|student|teacher|tutor|professor|coach"
    r"|trainer|therapist|psychologist|psychiatrist|doctor|gp|dentist|physio(?:therapist)?|surgeon|midwife"
    r"|paediatrician|pediatrician|vet|lawyer|accountant|designer|developer|engineer|client|customer|investor"
    r"|advisor|adviser|editor|publisher|agent|nanny|babysitter|cleaner|gardener|hairdresser|mechanic|plumber"
    r"|electrician|architect|organi[sz]er|teammate|bandmate|guitarist|drummer|pm|product manager"
    r"|project manager|product owner|scrum master|operations lead|ops lead|head of \w+|recruiter|contact"
    r"|counterpart|admin|sysadmin|carer|pastor|priest|rabbi|imam))"
)
JOB = (
    r"(?P<role>(?:[\w&/-]+ ){0,3}?(?:\w+(?:ologist|iatrist|therapist|ician)|lead|manager|designer|developer"
    r"|engineer|director|boss|head(?: of \w+)?"
    r"|accountant|lawyer|organi[sz]er|coach|teacher|dentist|doctor|landlord|landlady|neighbou?r|colleague"
    r"|coworker|intern|assistant|cto|ceo|cfo|founder|co-founder|owner|client|contact|admin|analyst|architect"
    r"|consultant|tester|recruiter|sister|brother|cousin|wife|husband|son|daughter|aunt|uncle|nephew|niece"
    r"|flatmate|roommate|mentor|therapist|tutor|midwife|nurse|vet|partner|friend|buddy|trainer|plumber"
    r"|electrician|mechanic|gardener|babysitter|nanny|editor|agent|girlfriend|boyfriend|fiancée?|mother"
    r"|father|mom|mum|dad|grandma|grandpa|supervisor|professor|pm|customer|investor|advisor|maintainer"
    r"|drummer|singer|guitarist))"
)
ENGLISH_PATTERNS = (
    re.compile(
        rf"(?i)\b(?:my|our) {_LITTLE}{ROLE}(?:,| is called| is named|'s name is| called| named"
        rf"| is)? {NAME}(?=[\s,.;:!?()']|$)"
    ),
    re.compile(
        rf"(?i)(?:^|(?<=[\s(])){NAME}(?:(?:,| is| was|,? who is|,? who's| will be) | \()(?:my"
        rf"|our) (?:new )?{_LITTLE}{JOB}\b"
    ),
    re.compile(rf"(?i)^{NAME}, an? {_LITTLE}{JOB}(?=,)"),
    re.compile(rf"(?i)^(?P<low>[a-zà-ÿ'-]{{3,20}}) is (?:my|our) (?:new )?{_LITTLE}{JOB}\b"),
    re.compile(
        rf"(?i)(?:^|(?<=[\s(])){NAME},? (?:who is |who's |is )?the (?:new )?{JOB}(?= (?:at|of|from|for|on|in)\b"
        r"|[,.;:!?)]|$)"
    ),
    re.compile(
        r"(?i)\b(?:met|meet|meeting|talked to|spoke (?:to|with)|talking to|know|work with|working with|ask"
        rf"|asked|called|call) {NAME},? (?:from|of) (?P<role>(?:the )?[\w&' -]{{3,30}}?)(?=[,.;:!?)]| (?:who|and"
        r"|about|yesterday|today|last|on|because|to)\b|$)"
    ),
    re.compile(
        rf"(?i)(?:^|(?<!in)(?<!of)(?<!at)(?<!for)(?<=[\s(])){NAME} from (?P<role>(?:the |my )?(?:choir|office"
        r"|gym|team|band|club|church|school|work|accounting|hr|sales|marketing|legal|finance|support|orchestra"
        r"|book club|neighbou?rhood|allotment|kindergarten)\b)"
    ),
    re.compile(
        rf"(?i)\b{_LITTLE}(?P<role>sister|brother|cousin|aunt|uncle|niece|nephew|coach|grandma"
        rf"|grandpa) {NAME}(?=[\s,.;:!?()']|$)"
    ),
    re.compile(
        rf"(?i)(?:^|, (?:and )?)(?:my|our|the)? ?(?:new )?{_LITTLE}(?P<role>(?:[\w-]+ )?(?:manager|boss|lead"
        r"|interviewer|contact(?: person)?|landlord|landlady|dentist|doctor|vet|coach|teacher|accountant|lawyer"
        r"|designer|supervisor|mentor|therapist|organi[sz]er|director|ceo|cto|head of \w+|neighbou?r|successor"
        rf"|tutor|midwife|gp|physio)) (?:is|will be) (?:an? |called |named )?{NAME}(?=[\s,.;:!?()']|$)"
    ),
    re.compile(rf"^{NAME} and (?:I|me)\b"),
    re.compile(rf"(?i)\b(?:my|our) {_LITTLE}{ROLE} (?:in|at|from|of) [\w' ]{{2,24}}, {NAME}(?=[\s,.;:!?()']|$)"),
    re.compile(
        r"(?i)\b(?:meet|met|meeting|invited?|thanked|talk(?:ed)? (?:to|with)|spoke (?:to"
        r"|with)|speak (?:to|with)"
        r"|e-?mailed|texted|promised|wrote to|write to|stay(?:ed|ing)? with|dinner with|lunch with"
        rf"|coffee with) {NAME}(?=[\s,.;:!?()']|$)"
    ),
    re.compile(r"\b(?P<name>Dr\.? [A-ZÀ-Þ][a-zà-ÿ'-]+)"),
)
PATTERNS = {
    "en": ENGLISH_PATTERNS,
    "de": (
        re.compile(
            r"(?i)\b(?:meine?[rmns]?|unsere?[rmns]?) (?:\w+e[rn]? )?(?P<role>[a-zäöüß-]*(?:frau|mann|freund(?:in)?"
            r"|schwester|bruder|mutter|vater|mama|papa|oma|opa|tochter|sohn|kind|tante|onkel|cousine?|neffe|nichte"
            r"|chef(?:in)?|kolleg(?:e|in|en)|nachbar(?:in|n)?|vermieter(?:in)?|ärztin|arzt|zahnarzt|zahnärztin"
            r"|lehrer(?:in)?|trainer(?:in)?|mitbewohner(?:in)?|partner(?:in)?|chorleiter(?:in)?"
            r"|steuerberater(?:in)?|anwalt|anwältin|kunde|kundin|enkel(?:in)?|schwager|schwägerin|hausarzt"
            rf"|hausärztin))(?:,| heißt)? {NAME}"
        ),
        re.compile(
            r"(?i)\b(?:meine?|unsere?|die|der)? ?(?P<role>nachfolger(?:in)?|stellvertreter(?:in)?"
            rf"|ansprechpartner(?:in)?|trauzeug(?:e|in)|vorsitzende[r]?) (?:wird|ist|heißt) {NAME}"
        ),
        re.compile(
            rf"(?i)(?:^|(?<=\s)){NAME}(?:,| ist| war| wird) (?:meine?"
            r"|unsere?) (?:\w+e[rn]? )?(?P<role>[\wäöüß-]+)(?=[,.;!?]|$| (?:und|aus|bei|in)\b)"
        ),
    ),
    "es": (
        re.compile(
            r"(?i)\b(?:mi|nuestr[oa]) (?:\w+ )?(?P<role>herman[oa](?: mayor| menor| pequeñ[oa])?|madre|padre|mamá"
            r"|papá|hij[oa]|espos[oa]|mujer|marido|novi[oa]|pareja|abuel[oa]|tí[oa]|prim[oa]|sobrin[oa]|amig[oa]"
            r"|jef[ae]|compañer[oa](?: de \w+)?|vecin[oa]|casero|casera|médic[oa]|doctora?|dentista"
            rf"|fisio(?:terapeuta)?|profesora?|entrenadora?|cuñad[oa]|suegr[oa]|niet[oa])(?:,| se llama| es)? {NAME}"
        ),
        re.compile(
            rf"(?i)(?:^|(?<=\s)){NAME}(?:,| es) (?:mi|nuestr[oa]) (?P<role>\w+(?: de \w+)?)(?=[,.;!?]|$| (?:y|que)\b)"
        ),
    ),
    "fr": (
        re.compile(
            r"(?i)\b(?:mon|ma|notre) (?:\w+ )?(?P<role>sœur|soeur|frère|mère|père|maman|papa|fils|fille|femme|mari"
            r"|copain|copine|compagne|compagnon|grand-mère|grand-père|mamie|papi|tante|oncle|cousine?|nièce|neveu"
            r"|amie?|chef(?:fe)?|patron(?:ne)?|collègue|voisine?|propriétaire|médecin|dentiste|prof(?:esseure?)?"
            r"|coach|colocataire|coloc|beau-frère|belle-sœur|petit-fils|petite-fille|conjointe?|manager)(?:,"
            rf"| s'appelle| est| c'est)? {NAME}"
        ),
        re.compile(
            rf"(?i)(?:^|(?<=\s)){NAME}(?:,| est|,? c'est) (?:mon|ma|notre) (?P<role>\w+(?: de \w+)?)(?=[,.;!?]|$"
            r"| (?:et|qui)\b)"
        ),
    ),
    "it": (
        re.compile(
            r"(?i)\b(?:(?:il|la) )?(?:mio|mia|nostr[oa]) (?P<role>sorella|fratello|madre|padre|mamma|papà|figli[oa]"
            r"|moglie|marito|ragazz[oa]|compagn[oa]|nonn[oa]|zi[oa]|cugin[oa]|nipote|amic[oa]|cap[oa]|collega"
            rf"|vicin[oa]|dentista|medico|coinquilin[oa])(?:,| si chiama| è)? {NAME}"
        ),
    ),
    "pt": (
        re.compile(
            r"(?i)\b(?:(?:o|a) )?(?:meu|minha|nosso|nossa) (?P<role>irmão|irmã|mãe|pai|filh[oa]|mulher|esposa"
            r"|marido|namorad[oa]|avó|avô|ti[oa]|prim[oa]|sobrinh[oa]|amig[oa]|chefe|colega|vizinh[oa]|dentista"
            rf"|médic[oa])(?:,| chama-se| se chama| é)? {NAME}"
        ),
    ),
    "nl": (
        re.compile(
            r"(?i)\b(?:mijn|onze?) (?P<role>zus|broer|moeder|vader|mama|papa|zoon|dochter|vrouw|man|vriend(?:in)?"
            r"|partner|oma|opa|tante|oom|neef|nicht|baas|collega|buurman|buurvrouw|tandarts|huisarts|dokter)(?:,"
            rf"| heet| is)? {NAME}"
        ),
        re.compile(rf"(?i)(?:^|(?<=\s)){NAME}, (?:de|mijn|onze) (?P<role>[a-z]+)(?=[,.;!?]|$)"),
    ),
    "ru": (
        re.compile(
            rf"(?i)\b(?:мо[йяюего]{{1,3}}|моей) (?P<role>сестр[аыуе]|брат[ау]?|мам[ауы]|пап[ауы]|муж[ау]?|жен[ауы]"
            r"|сын[ау]?|доч(?:ь|ка|ери)|друг|подруг[ауи]|начальни(?:к|ца)|коллег[аи]|сосед(?:ка|ки)?|бабушк[аи]"
            rf"|дедушк[аи])(?:,| зовут)? {NAME}"
        ),
    ),
    "zh": (
        re.compile(
            r"我(?:的|家)?(?P<role>妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|媽媽|老婆|老公|妻子|丈夫|女儿|女兒|儿子|兒子|朋友|老板|老闆|同事|邻居|鄰居|经理|男朋友|女朋友|奶奶|爷爷|老师"
            r"|老師)(?:叫|是|，)?(?P<name>[小阿老][\u4e00-\u9fff]|[\u4e00-\u9fff]{2,3}?)(?=[，。,.!！喜不对在是住有很也会叫和]|$)"
        ),
    ),
    "ja": (
        re.compile(
            r"(?P<role>妹|姉|兄|弟|母|父|妻|夫|娘|息子|友人|友達|上司|同僚|先生|祖母|祖父|隣人|彼女|彼氏)の(?P<name>[\u4e00-\u9fffァ-ヶー]{1,6}"
            r"|[ぁ-ん]{2,4}?(?=さん|ちゃん|くん))(?:さん|ちゃん|くん|君)?(?=[はがもとをに、。])"
        ),
    ),
}

_GERMAN_KIN = (
    r"(?:opa|oma|vater|mutter|bruder|schwester|mann|frau|sohn|tochter|chef(?:in)?|nachbar(?:in)?|onkel|tante"
    r"|freund(?:in)?|schwiegervater|schwiegermutter)"
)
_SPANISH_KIN = (
    r"(?:suegr[oa]|madre|padre|herman[oa]|hij[oa]|mujer|marido|espos[oa]|novi[oa]|abuel[oa]|jef[ae]"
    r"|vecin[oa]|tí[oa]|prim[oa])"
)
_FRENCH_KIN = (
    r"(?:mère|père|sœur|soeur|frère|fils|fille|femme|mari|grand-mère|grand-père|copain|copine|chef(?:fe)?"
    r"|voisine?|tante|oncle|beau-père|belle-mère)"
)
UNNAMED = {
    "en": re.compile(rf"(?i)(?:my|our) {_LITTLE}{ROLE}(?= \w|'s )"),
    "de": re.compile(rf"(?i)(?:meine?[nm]?|unsere?) {_GERMAN_KIN}(?:, (?:der|die))?(?= \w)"),
    "es": re.compile(rf"(?i)mis? {_SPANISH_KIN}s?(?= \w)"),
    "fr": re.compile(rf"(?i)(?:mon|ma) {_FRENCH_KIN}(?= \w)"),
}
"""Relatives and others who are not named: what is said of them is known of the speaker's life."""
