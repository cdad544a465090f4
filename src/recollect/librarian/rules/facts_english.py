"""What people say about themselves in English: one form for each way to say it."""

from recollect.knowledge import Kind
from recollect.librarian.rules.forms import HIGH, Form, form

_F = Kind.FACT
_NOW = (
    r"(?:(?:currently|now|just|recently|finally|also|actually|still|mostly|already|only|originally|usually"
    r"|really|officially) ){0,2}"
)
_BE = r"i(?:'m| am|m) "
_HAVE = r"i(?:'ve| have|ve)?(?: got)? "
_PLACE = (
    r"(?P<value>[^\s,.;:!?()][^,.;:!?()]{1,60}?)(?= (?:and|but|with|since|for|because|so|now|right|where"
    r"|which|who|last|this|next|as|in (?:(?:19|20)\d\d|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)|when|at the|these days|to be|from|until|but|while|btw)\b"
    r"|[,.;:!?()]|$)"
)
_JOB_WORD = (
    r"(?:engineer|developer|programmer|designer|teacher|nurse|doctor|physician|surgeon|dentist|lawyer"
    r"|attorney|accountant|architect|artist|author|writer|journalist|editor|musician|singer|actor|actress"
    r"|chef|cook|baker|waiter|waitress|barista|farmer|gardener"
    r"|carpenter|plumber|electrician|mechanic|driver|pilot|sailor|soldier|officer|firefighter|paramedic"
    r"|pharmacist|vet|veterinarian|psychologist|therapist|physiotherapist|counsellor|counselor|social worker"
    r"|librarian|translator|interpreter|researcher|scientist"
    r"|biologist|chemist|physicist|mathematician|statistician|economist|analyst|consultant|manager|director"
    r"|ceo|cto|cfo|founder|co-founder|cofounder|entrepreneur|freelancer|contractor|student|undergrad|postdoc"
    r"|professor|lecturer|tutor|coach|trainer|photographer"
    r"|filmmaker|producer|recruiter|administrator|sysadmin|secretary|assistant|receptionist|clerk|cashier"
    r"|salesperson|marketer|product owner|scrum master|tester|tech lead|team lead|data scientist|technician"
    r"|operator|apprentice|intern|trainee|retiree|pensioner|midwife"
    r"|optician|optometrist|tailor|potter|blacksmith|bookkeeper|beekeeper|blogger|podcaster|streamer"
    r"|youtuber|volunteer|priest|pastor|monk|nun|judge|paralegal|realtor|estate agent|broker|banker|trader"
    r"|actuary|auditor|curator|archivist|historian|geologist|astronomer|surveyor|sommelier|brewer|butcher"
    r"|fisherman|forester|ranger|stay-at-home (?:mom|mum|dad|parent)|illustrator|animator|copywriter"
    r"|videographer|florist|jeweller|jeweler|upholsterer|welder|roofer|painter|janitor|cleaner|caretaker"
    r"|nanny|playwright|composer|conductor|dancer|choreographer|homemaker|single (?:mom|mum|dad|parent"
    r"|mother|father)|mother of \w+|father of \w+|mom of \w+|dad of \w+)s?"
)
_JOB = rf"(?P<value>(?:[\w-]+ ){{0,4}}?{_JOB_WORD})"
_DIET = (
    r"(?:vegan|vegetarian|pescatarian|pescetarian|celiac|coeliac|gluten[- ]free|lactose[- ]intolerant"
    r"|diabetic|asthmatic|dyslexic|colou?r[- ]?blind|deaf|blind|left[- ]handed|autistic|epileptic|teetotal"
    r"|sober|halal|kosher|hard of hearing|short-sighted|near-sighted|hypertensive|an?emic|pregnant"
    r"|immunocompromised|wheelchair user)"
)
_ILL = (
    r"(?:asthma|diabetes|adhd|add|autism|migraines?|epilepsy|arthritis|dyslexia|c(?:o)?eliac(?: disease)?"
    r"|ibs|crohn's|tinnitus|anxiety|depression|hay fever|insomnia|high blood pressure|hypertension|a (?:bad"
    r"|weak) (?:back|knee|shoulder|heart)|back (?:pain|problems)|eczema|psoriasis|endometriosis|scoliosis"
    r"|an? (?:\w+ )?(?:allergy|intolerance|pacemaker|heart condition|disability|food allergy))"
)
_LANGUAGE = (
    r"(?:latvian|lithuanian|estonian|georgian|armenian|albanian|mongolian|nepali|afrikaans|zulu|yoruba"
    r"|english|german|french|spanish|italian|portuguese|dutch|russian|chinese|mandarin|cantonese|japanese"
    r"|korean|arabic|hebrew|turkish|polish|czech|slovak|hungarian|romanian|bulgarian|greek|swedish|norwegian"
    r"|danish|finnish|icelandic|ukrainian|croatian|serbian|slovenian|hindi|urdu|bengali|tamil|telugu|punjabi"
    r"|persian|farsi|vietnamese|thai|indonesian|malay|tagalog|swahili|catalan|basque|irish|welsh|latin"
    r"|esperanto|sign language|asl)"
)
_PET = (
    r"(?:dogs?|cats?|puppy|puppies|kittens?|parrots?|budgies?|rabbits?|hamsters?|guinea pigs?|horses?|pony"
    r"|hens?|chickens|goats?|turtles?|tortoise|snake|gecko|lizard|goldfish|fish|aquarium|ferrets?|canary"
    r"|labrador|poodle|retriever|beagle|dachshund|corgi|tabby|bees|beehives?|sheep|donkeys?|ducks)"
)
_KIN = (
    r"(?:kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|twins|triplets|wife|husband"
    r"|partner|girlfriend|boyfriend|fiancée?|grandchildren|grandkids|nieces?|nephews?|stepson|stepdaughter"
    r"|grandson|granddaughter|baby|toddler|teenagers?|roommates?|flatmates?|housemates?|newborn)"
)
_DEVICE = (
    r"(?:fairphone|phone|macbook|imac|mac mini|mac studio|thinkpad|laptop|desktop|pc|iphone|ipad|pixel"
    r"|galaxy|android phone|kindle|chromebook|surface|framework|raspberry pi|nas|synology|steam deck|switch"
    r"|playstation|ps5|xbox|oculus|quest|car|bike|bicycle|e-bike|ebike|motorcycle|motorbike|scooter|van"
    r"|camper|truck|boat|kayak|piano|guitar|violin|cello|ukulele|drum kit|camera|dslr|telescope|3d printer"
    r"|printer|sewing machine|espresso machine|oven|air fryer|instant pot|garden|balcony|allotment"
    r"|greenhouse|tesla|volvo|toyota|honda|ford|bmw|audi|vw|volkswagen|monitor|keyboard|rtx|gpu|server"
    r"|homelab|subaru|mazda|hyundai|kia|skoda|peloton|treadmill|smartwatch|fitbit|garmin|apple watch)"
)
_SYSTEM = (
    r"(?:macos|mac|linux|ubuntu|debian|fedora|arch(?: linux)?|nixos|windows(?: \d+)?|wsl\d?|android|ios"
    r"|freebsd|mint|pop!?_?os|gnome|kde|fish|zsh|bash|neovim|vim|emacs|vs ?code)"
)
_OWN = (
    r"(?:name|full name|first name|last name|surname|nickname|age|birthday|date of birth|address"
    r"|home address|e-?mail(?: address)?|phone number|number|time ?zone|job|job title|profession|occupation"
    r"|employer|company|team|office|shift|school|university|major|degree|hometown|birthplace|nationality"
    r"|native language|mother tongue|first language|blood type|shoe size|size|height|weight|diet|religion"
    r"|star sign"
    r"|editor|ide|shell|terminal|os|operating system|laptop|computer|phone|car|bike|browser|keyboard"
    r"|keyboard layout|setup|stack|tech stack|database|hosting provider|domain|website|blog"
    r"|github(?: (?:handle|username|account))?|username|handle|twitter|bank|insurance|doctor's office|gym"
    r"|flat|apartment|house|garden|landlord|rent|commute|working hours|work hours|office hours|pronouns"
    r"|passport|licen[cs]e plate|locker|allergy|allergies|hobby|hobbies|instrument|car's|rate|day rate"
    r"|hourly rate|garage|mechanic|vet|dentist|wifi|router|thermostat|heating|anniversary"
    r"|wedding anniversary|probation|pension|retirement|notice period|salary|budget for \w+)"
)
ENGLISH_FORMS: tuple[Form, ...] = (
    form(
        r"i (?:had|just had) (?P<value>(?:an? )?(?:\w+ ){0,2}(?:surgery|operation|transplant|stroke|heart attack"
        r"|miscarriage)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(
        r"i(?:'m| am) (?P<value>(?:\w+ (?:weeks|months) )?pregnant|self-employed|unemployed|retired|semi-retired"
        r"|on (?:parental|maternity|paternity|sick) leave)\b.*",
        _F,
    ),
    form(
        r"(?:i|we) share (?P<value>(?:an? |the |my |our )?(?:flat|apartment|house|office|car|studio|room"
        r"|garden) with \S.*)",
        _F,
    ),
    form(
        r"i go (?P<value>(?:swimming|running|climbing|dancing|bouldering|jogging|hiking|cycling|to (?:the gym"
        r"|yoga|church|choir|therapy|the market|the pool))\b.* (?:every|each|on|once|twice|most)\b.*)",
        _F,
    ),
    form(
        r"i (?P<value>(?:get up|wake up|go to bed|start work|finish work|leave work|have lunch"
        r"|go to sleep) (?:at|around|by|before|after) \S.*)",
        _F,
    ),
    form(
        r"i (?P<value>(?:don't|do not) (?:have|own) (?:an? )?(?:car|tv|television|smartphone|driving licen[cs]e"
        r"|driver's licen[cs]e|dog|cat|pets?|kids|children|oven|dishwasher|freezer|balcony|garden|microwave"
        r"|printer|bike|facebook|whatsapp|credit card)\b.*)",
        _F,
    ),
    form(r"i owe (?P<value>[A-Z]\w+ \S.*)", _F),
    form(rf"i(?:'ve| have) been an? {_JOB}\b.*", _F, "job", HIGH),
    form(r"i (?:do|work) (?P<value>(?:night|early|late|double|weekend|rotating|12-hour) shifts?\b.*)", _F),
    form(
        r"i (?:can't|cannot|can not) (?P<value>have (?:gluten|dairy|nuts|sugar|alcohol|caffeine|shellfish|eggs"
        r"|soy|lactose|milk)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(r"i (?:always )?carry (?P<value>(?:an? |my )\S.*)", _F),
    form(
        (r"i take (?P<value>\S+(?: \S+)? (?:once|twice|every|daily|each|three times|for my|\d+ ?mg)\b.*)"),
        _F,
        importance=HIGH,
    ),
    form(r"i(?:'m| am) (?:also |now |currently )?learning (?P<value>(?:to play (?:the )?|how to )\w+.*)", _F),
    form(
        r"i (?:write|do|keep|code|edit) (?P<value>(?:everything|all my \w+|my notes|most of my \w+) (?:in|with"
        r"|on) \S.*)",
        _F,
    ),
    form(
        r"my (?:main |work |home |own |old |new )*(?P<value>(?:machine|laptop|computer|server|phone|desktop"
        r"|pc) (?:runs|is running|has an?|is an?) (?!(?:slow|hot|problem|issue|bit)\b)\S.*)",
        _F,
    ),
    form(
        r"(?:my|our) (?:local |small |new )?(?P<value>(?:choir|band|club|team|orchestra|family|company|shop"
        r"|office|school|building"
        r"|class|department|startup|theatre group|book club) (?:sings|plays|meets|has(?! been)|uses|does|sells|makes"
        r"|works|trains|performs"
        r"|runs|starts)\b(?!.* (?:problem|issue|trouble|too|no idea)).*)",
        _F,
    ),
    form(r"i(?:'m| am) the one (?P<value>(?:who|organi[sz]ing|handling|running|responsible|in charge|doing)\b.*)", _F),
    form(
        r"i (?:quit|gave up|stopped) (?P<value>(?:smoking|drinking|sugar|caffeine|coffee|meat|alcohol"
        r"|social media)\b.*)",
        _F,
    ),
    form(
        r"(?:my (?:full |first )?name(?:'s| is)|i(?:'m| am) called|people call me|everyone calls me"
        r"|you can call me|please call me|call me"
        r"|i go by) (?P<value>[A-Za-zÀ-ÿ][\w'.-]*(?: [A-ZÀ-Þ][\w'.-]+){0,3})\b",
        _F,
        "name",
        HIGH,
    ),
    form(
        rf"(?:i|we) {_NOW}(?:live|reside) (?:alone |together |with [^,.]{{2,30}} )?(?:in|at|near|on|outside"
        rf"|just outside|close to) {_PLACE}",
        _F,
        "lives in",
        HIGH,
    ),
    form(
        rf"(?:i|we)(?:'m|'re|'ve been| am| are| have been)? {_NOW}(?:living|based|located|settled) (?:in|near"
        rf"|out of|at|outside) {_PLACE}",
        _F,
        "lives in",
        HIGH,
    ),
    form(
        rf"(?:i|we)(?:'ve| have)? {_NOW}(?:moved|relocated|emigrated) (?:back |over |here |down |up "
        rf"|out )?(?:from [^,.]{{2,40}} )?(?:to|into) {_PLACE}",
        _F,
        "lives in",
        HIGH,
    ),
    form(rf"{_BE}{_NOW}(?:originally )?from {_PLACE}", _F, "comes from"),
    form(rf"i (?:grew up|was raised|was born) (?:in|on|near|at) {_PLACE}", _F),
    form(rf"i {_NOW}work (?:as an?|as the) {_JOB}.*", _F, "job", HIGH),
    form(
        rf"i {_NOW}work (?:part[- ]time |full[- ]time |remotely |freelance |nights |shifts )?(?:at|for"
        r"|with) (?!home|the moment|night|least|all|hours|a living|myself|weeks|days|months|free|it|this|that"
        rf"|now|my(?:self)?\b)(?P<value>[^,.;:!?()]{{2,60}}?)(?= (?:and|but|as|in|on|where|which|since|so"
        r"|because|with)\b|[,.;:!?()]|$)",
        _F,
        "works at",
        HIGH,
    ),
    form(
        rf"i {_NOW}work (?P<value>(?:in (?:the )?(?!progress|parallel|the (?:morning|evening|afternoon))"
        r"|from home|remotely|night shifts?|nights|shifts|part[- ]time|full[- ]time|freelance|four days|\d days"
        rf"|on the \w+ team|on the \w+ floor)[^.;!?]{{0,60}})",
        _F,
    ),
    form(
        rf"{_BE}{_NOW}working (?P<how>as an?|at|for) (?P<value>(?!it|this|that|a (?:project|script|paper|new"
        rf"|small|simple|personal)|the moment|home)[^,.;:!?()]{{2,60}}?)(?= (?:and|but|in|on|where|which|since"
        r"|so)\b|[,.;:!?()]|$)",
        _F,
    ),
    form(
        rf"i(?:'ve| have)? {_NOW}(?:started|joined|start|begin|began)(?: (?:working|work|a new job|my new job"
        rf"|a job|my job))? (?:at|for|with) (?P<value>[A-ZÀ-Þ][^,.;:!?()]{{1,50}}?)(?= (?:and|but|as|in|on|where"
        r"|which|last|this|next|today|yesterday|two|three|a)\b|[,.;:!?()]|$)",
        _F,
        "works at",
        HIGH,
    ),
    form(
        rf"i(?:'ve| have)? {_NOW}joined (?P<value>[A-ZÀ-Þ][\w&' -]{{1,40}}?)(?= (?:and|but|as|in|on|last|this)\b"
        r"|[,.;:!?()]|$)",
        _F,
        "works at",
        HIGH,
    ),
    form(
        rf"{_BE}{_NOW}an? {_JOB}(?P<where> (?:at|for|in|from|with|by|who|and|specialising|specializing|working"
        r"|living|based|on)\b.*)?(?=[\s,.;:!?()]|$)",
        _F,
        "job",
        HIGH,
    ),
    form(rf"(?:as an? {_JOB}(?: myself)?),? (?:i|my)\b.*", _F, "job", HIGH),
    form(
        rf"{_BE}{_NOW}(?:the|on the|in the|part of the|leading the|head of|in charge of"
        rf"|responsible for) (?P<value>[\w &'/-]{{2,40}}?(?:team|department|group|squad|lead|maintainer|owner"
        r"|manager|infrastructure|frontend|backend|design|sales|marketing|hr|support|operations|security"
        rf"|data)\b[^,.;!?]{{0,40}})",
        _F,
    ),
    form(
        r"i (?:lead|manage|run|own|co-own|founded|co-founded|started) (?P<value>(?:the|a|an|my"
        r"|our) (?:[\w&'-]+ ){0,4}(?:team|department|company|business|shop|store|startup|bakery|cafe|café"
        r"|restaurant|studio|agency|farm|blog|podcast|channel|newsletter|club|choir|band|school|practice|clinic"
        r"|gallery|bookshop|bookstore|hotel|hostel|bar|pub|brewery|vineyard|workshop|nonprofit|non-profit"
        r"|charity)\b[^.;!?]{0,60})",
        _F,
    ),
    form(
        r"i(?:'m| am)? (?:currently )?(?:study|studying|majoring in|major in|studied|majored in|did my degree in"
        r"|doing a (?:phd|master's|masters|bachelor's|degree) (?:in|on)|graduated (?:from|in|with a degree in)"
        r"|have an? (?:phd|master's|degree|bachelor's|mba) (?:in|from)) (?!this|that|it|the (?:code|log|file"
        r"|docs)|for the|hard)(?P<value>\S.*)",
        _F,
    ),
    form(rf"{_BE}(?P<value>\d{{2}})(?: years old| yrs old| y/?o)?(?=[,.!;]| and | now|$)", _F, "age"),
    form(
        r"i(?:'ll be turning|'m turning| turn| turned| just turned"
        r"|'ve just turned) (?P<value>\d{1,2})\b(?! (?:it|off|degrees)).*",
        _F,
        "age",
    ),
    form(
        r"(?:my birthday(?:'s| is| falls)|i was born)(?: always)?(?: on"
        r"| in)? (?P<value>(?:the )?[\w ]*\d[^;.!?]{0,25}|(?:january|february|march|april|may|june|july|august"
        r"|september|october|november|december)\b[^;.!?]{0,20})",
        _F,
        "birthday",
        HIGH,
    ),
    form(rf"(?:i|we) (?:have|'ve got|have got|got)(?: \w+){{0,3}}? (?:\w+[- ])?(?P<value>{_KIN})\b(?! in mind).*", _F),
    form(
        r"(?:i|we)(?:'m|'re| am| are)(?: \w+)? (?P<value>(?:happily |recently |newly |not )?(?:married|divorced"
        r"|engaged|single|widowed|separated)(?: (?:to|with|for|and) [^.;!?]{2,60})?)(?=[\s,.;!]"
        r"|$)(?! (?:threaded|page|file))",
        _F,
        "marital status",
    ),
    form(
        (rf"(?:{_BE}|i've been |i have been )(?:\w+ly |also |very |highly |mildly )?(?P<value>allergic to \S.*)"),
        _F,
        importance=HIGH,
    ),
    form(
        rf"(?:{_BE}|we're |we are )(?:both |all |also |now |strictly |mostly |an? |a strict |a lifelong "
        rf"|legally |partially |slightly |basically )*(?P<value>{_DIET}s?)\b.*",
        _F,
        importance=HIGH,
    ),
    form(rf"{_HAVE}(?:\w+ )?(?P<value>{_ILL})\b.*", _F, importance=HIGH),
    form(
        (r"i (?:suffer from|was diagnosed with|got diagnosed with|'ve been diagnosed with) (?P<value>\S.*)"),
        _F,
        importance=HIGH,
    ),
    form(
        r"i (?:do |really )?(?P<value>(?:don't|do not|dont|never|can't|cannot|cant|can not|no longer"
        r"|am not allowed to|'m not allowed to|mustn't|must not|shouldn't|stopped|quit) (?:eat|eating|drink"
        r"|drinking|consume|take|tolerate|digest|smoke|smoking|drive|swim|ride|fly|cook|wear)\b(?! (?:it|this"
        r"|that|care|time|access|to|the time|a clue|an idea|any|much|one|enough|place|place)\b)(?: .*|$))",
        _F,
        importance=HIGH,
    ),
    form(
        r"(?:can't|cannot|cant) (?P<value>(?:eat|take|tolerate|drink|digest) (?!it|this|that|any ?more|much|the"
        r"|a\b)\S.*)",
        _F,
        importance=HIGH,
    ),
    form(
        r"i eat (?P<value>(?:only )?(?:vegan|vegetarian|halal|kosher|gluten[- ]free|low[- ]carb|keto"
        r"|plant[- ]based|paleo)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(
        (r"i do eat (?P<value>(?:vegan|vegetarian|halal|kosher|gluten[- ]free|plant[- ]based)\b.*)"),
        _F,
        importance=HIGH,
    ),
    form(
        rf"i {_NOW}(?:speak|can speak|can read|can write|read and write"
        r"|understand)(?: \w+)? (?P<value>(?:fluent |some |a little |a bit of |basic "
        rf"|good )?{_LANGUAGE}\b.*)",
        _F,
    ),
    form(
        rf"(?:i(?:'m| am) )?(?:i )?{_NOW}(?:learning|trying to learn|teaching myself"
        rf"|studying) (?P<value>{_LANGUAGE}|(?:the |to play the )?(?:piano|guitar|violin|cello|drums|ukulele"
        r"|bass|saxophone|flute)|to (?:sail|swim|dance|knit|sew|code|program|paint|draw|drive|surf|ski|climb"
        r"|juggle)|rust|go|python|haskell|kotlin|swift|elixir|clojure|typescript|c\+\+|java)\b.*",
        _F,
    ),
    form(rf"i(?:'m| am) (?:a )?(?P<value>(?:native |fluent |bilingual )(?:{_LANGUAGE} )?(?:speaker|in)\b.*)", _F),
    form(
        r"(?:i|we) (?:have|'ve got|have got|own|adopted|just adopted|got|just got|keep"
        rf"|raise)(?: \w+){{0,3}}? (?P<value>{_PET}\b.*)",
        _F,
    ),
    form(
        rf"(?:my|our)(?: \w+)? (?P<attr>{_PET})(?:'s name)? (?:is|are|'s)(?: called"
        r"| named)? (?P<value>[A-ZÀ-Þ][\w'-]+.*)",
        _F,
    ),
    form(rf"(?:my|our) (?P<attr>{_PET}),? (?P<value>[A-ZÀ-Þ][\w'-]+)\b.*", _F),
    form(
        r"i(?:'m| am|'m still| am still)(?: \w+)? (?:on|using"
        rf"|running) (?:an? )?(?P<value>(?:[\w.]+ )?(?:{_SYSTEM}|{_DEVICE})\b[^;!?]{{0,60}})",
        _F,
    ),
    form(
        rf"i {_NOW}use (?P<value>(?!it\b|this\b|that\b|the\b|them\b|these\b|those\b|an?\s(?:function|loop|class"
        rf"|variable|script|regex|query|for)\b|to\b|your\b)[^;!?]{{2,100}})",
        _F,
    ),
    form(rf"(?:i|we) {_NOW}(?:drive|ride|own|fly|sail) (?:an? |the |my )(?P<value>[\w][^;.!?]{{2,60}})", _F),
    form(
        r"i (?:just |recently |finally |'ve )*bought (?P<value>(?:an? |the |my "
        rf"|our )?(?:[\w-]+ ){{0,3}}{_DEVICE}\b.*)",
        _F,
    ),
    form(r"i (?:earn|make) (?P<value>(?:about |around |roughly )?[$€£]?\d[\d.,k]*.*)", _F),
    form(
        r"i(?:'m| am) (?:currently )?(?P<value>(?:saving(?: up)?|training|preparing|studying) for (?!it|this"
        r"|that|now)\S.*)",
        _F,
    ),
    form(r"i(?:'m| am| wear)(?: a)? (?P<value>(?:shoe )?size [\w.]+)\b.*", _F),
    form(rf"{_HAVE}an? (?P<value>(?:[\w-]+ ){{0,4}}{_DEVICE}\b[^;!?]{{0,60}})", _F),
    form(
        rf"my (?P<attr>{_OWN})(?: is| are|'s|'re|:) (?:called |named )?(?!(?:not |currently |now |really "
        r"|pretty |just |always |actually )*(?:super|such|like|amazing|great|awesome|nice|good|bad|the best|my"
        r"|working|broken|slow|dead|wrong|failing|down|acting|too|so|very|killing|running|getting|giving|stuck"
        r"|crashing|being|going|about to|that|the same|missing|full|empty|messy|a mess|tight"
        r"|limited)\b)(?P<value>\S.*)",
        _F,
    ),
    form(
        r"i (?P<value>(?:play|sing|paint|draw|knit|crochet|sew|collect|volunteer|garden|brew|bake|climb|surf|ski"
        r"|swim|cycle|bike|run|hike|row|dance|meditate|practi[cs]e|train|commute|jog|fish|hunt|skate|box|fence"
        r"|juggle|coach|tutor|teach|mentor)\b(?: (?!it|this|that|with|around|my words|the (?:code|script|test"
        r"|tests|command|migration"
        r"|server|app|program)|into|out|around|a (?:test|query|script|command)|them|tests|`)\S.*))",
        _F,
    ),
    form(
        r"i(?:'m| am) (?:also )?(?:an? )?(?P<value>(?:active |proud |paying |founding )?(?:member|volunteer"
        r"|organi[sz]er|captain|treasurer|chair|president|secretary|maintainer|contributor|supporter"
        r"|native) (?:of|at|for|in|to)\b.*)",
        _F,
    ),
    form(
        r"i(?:'ve| have) (?P<value>(?:been (?:playing|running|working as|coding|programming|teaching|living"
        r"|vegetarian|vegan|married|a \w+|doing|practi[cs]ing|learning|writing|climbing|cycling|swimming"
        r"|using)\b(?!.*\b(?:lately|recently|trying|thinking)\b).*\b(?:for (?:over |about |almost |around "
        r"|more than |nearly )?(?:\d+|a|an|two|three|four|five|six|seven|eight|nine|ten|twenty|many|several) "
        r"|since\b).*|never (?:written|used|learned|learnt|been to|tried|owned|had|worked with|flown|driven"
        r"|touched) (?!it|this|that|such)\S.*))",
        _F,
    ),
    form(r"i(?:'m| am) (?P<value>\d(?:[.,]\d+)? ?(?:m|cm|ft|feet|foot|kg|pounds|lbs)\b.*|\d{3} ?cm\b.*)", _F),
)
