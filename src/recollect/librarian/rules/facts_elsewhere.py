"""What people say about themselves in languages of which the rules know the plainest sentences."""

from recollect.knowledge import Kind
from recollect.librarian.rules.forms import HIGH, Form, form

_F = Kind.FACT
_END = r"(?=[,.;:!?()]| (?:und|aber|seit|weil|mit|y|pero|con|desde|et|mais|avec|depuis|e|ma|en|maar|и|а)\b|$)"
OTHER_FORMS: dict[str, tuple[Form, ...]] = {
    "it": (
        form(r"(?:il mio|la mia) (?:cane|gatto|gatta) (?:si chiama|è) (?P<value>\S.*)", _F),
        form(
            (r"(?:mi chiamo|il mio nome è|chiamami) (?P<value>[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?)"), _F, "name", HIGH
        ),
        form(
            r"(?:abito|vivo|viviamo|abitiamo|mi sono trasferit[oa])(?: ora| adesso)? (?:a|in|ad|nel"
            rf"|vicino a) (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
            _F,
            "lives in",
            HIGH,
        ),
        form(
            r"(?:da [\w ]{3,20} )?lavoro (?:(?:a|ad|in) [^,.;]{2,25} )?come (?P<value>[^,.;:!?()]{2,60})",
            _F,
            "job",
            HIGH,
        ),
        form(
            r"(?:da [\w ]{3,20} )?lavoro (?:per|presso|da|in|alla|a) (?!questo|casa)(?P<value>[^,.;:!?()]{2,60})",
            _F,
            "works at",
            HIGH,
        ),
        form(
            r"sono (?P<value>(?:allergic[oa] (?:a|al|alle|ai|agli)\b.*|vegetarian[oa]|vegan[oa]|celiac[oa]"
            r"|diabetic[oa]|intollerante\b.*))\b.*",
            _F,
            importance=HIGH,
        ),
        form(
            r"sono (?P<value>(?:un |una |un')?(?:ingegnere|medico|infermier[ae]|insegnante|professor(?:e|essa)"
            r"|avvocat[oa]|architett[oa]|programmat(?:ore|rice)|sviluppat(?:ore|rice)|student(?:e|essa)|cuoc[oa]"
            r"|giornalista|grafic[oa]|pensionat[oa]|commercialista))\b.*",
            _F,
            "job",
            HIGH,
        ),
        form(
            r"(?:ho|abbiamo) (?P<value>(?:\w+ ){0,2}(?:figli[oae]?|fratell[oi]|sorell[ae]|can[ei]|gatt[oi]"
            r"|nipoti)\b.*)",
            _F,
        ),
        form(r"il mio compleanno è (?:il |l')?(?P<value>\d{1,2} \w+)", _F, "birthday", HIGH),
    ),
    "pt": (
        form(
            r"(?:(?:eu )?me chamo|chamo-me|(?:o )?meu nome é) (?P<value>[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?)",
            _F,
            "name",
            HIGH,
        ),
        form(
            r"(?:eu )?(?:moro|vivo|moramos|vivemos|mudei-me para|me mudei para)(?: agora)? ?(?:em|no|na|nos"
            rf"|nas)? (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
            _F,
            "lives in",
            HIGH,
        ),
        form(r"(?:eu )?trabalho como (?P<value>[^,.;:!?()]{2,60})", _F, "job", HIGH),
        form(
            (r"(?:eu )?trabalho (?:na|no|em|para|com) (?!isto|isso)(?P<value>[^,.;:!?()]{2,60})"), _F, "works at", HIGH
        ),
        form(
            r"(?:eu )?sou (?P<value>(?:alérgic[oa] a\b.*|vegetarian[oa]|vegan[oa]|celíac[oa]|diabétic[oa]"
            r"|intolerante\b.*))\b.*",
            _F,
            importance=HIGH,
        ),
        form(
            r"(?:eu )?sou (?P<value>(?:um |uma )?(?:engenheir[oa]|médic[oa]|enfermeir[oa]|professora?|advogad[oa]"
            r"|arquitet[oa]|programadora?|desenvolvedora?|estudante|cozinheir[oa]|jornalista|designer|dentista))\b.*",
            _F,
            "job",
            HIGH,
        ),
        form(
            r"(?:eu )?(?:tenho|temos) (?P<value>(?:\w+ ){0,2}(?:filh[oa]s?|irmãos?|irmãs?|cães|cão|cachorr[oa]s?"
            r"|gat[oa]s?|net[oa]s?)\b.*)",
            _F,
        ),
        form(r"(?:o )?meu aniversário é (?:no dia |a |em |dia )?(?P<value>\d{1,2} de \w+)", _F, "birthday", HIGH),
    ),
    "nl": (
        form(r"(?:ik heet|mijn naam is|noem me) (?P<value>[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?)", _F, "name", HIGH),
        form(
            rf"(?:ik|we|wij) (?:woon|wonen|leef|ben verhuisd naar|zijn verhuisd naar)(?: (?:nu|sinds [\w ]{{2,15}}"
            rf"|samen|hier))*(?: in| op| bij| aan)? (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
            _F,
            "lives in",
            HIGH,
        ),
        form(r"ik werk(?: nu)? als (?P<value>[^,.;:!?()]{2,60})", _F, "job", HIGH),
        form(r"ik werk(?: nu)? (?:bij|voor|in) (?P<value>[^,.;:!?()]{2,60})", _F, "works at", HIGH),
        form(r"ik ben (?P<value>(?:allergisch voor\b.*|vegetari[eë]r|veganist|diabeet))\b.*", _F, importance=HIGH),
        form(
            r"(?:ik heb|we hebben) (?P<value>(?:\w+ ){0,2}(?:kinderen|kind|zoon|zoons|dochters?|broers?|zus(?:sen)?"
            r"|honden?|kat(?:ten)?)\b.*)",
            _F,
        ),
        form(r"ik (?P<value>(?:fiets|loop|ren|zwem|speel|zing) (?:elke|iedere|altijd|in een|gitaar|piano)\b.*)", _F),
        form(r"ik heb (?P<value>een \w*(?:allergie|intolerantie)\b.*)", _F, importance=HIGH),
    ),
    "ru": (
        form(r"(?:меня зовут|моё имя|мое имя) (?P<value>[А-ЯЁ][\w-]+(?: [А-ЯЁ][\w-]+)?)", _F, "name", HIGH),
        form(
            r"(?:я |мы )?(?:сейчас )?(?:живу|живём|живем|переехала? в|переехали в)(?: (?:сейчас|теперь))? ?(?:в|во"
            rf"|на|под)? (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
            _F,
            "lives in",
            HIGH,
        ),
        form(r"(?:я )?работаю (?P<value>\S.*)", _F, "job", HIGH),
        form(
            r"у меня (?:есть )?(?P<value>аллергия (?:на|к)\b.*|(?:\w+ ){0,2}(?:сын|дочь|дети|брат|сестра|собака"
            r"|кошка|кот|детей)\b.*)",
            _F,
            importance=HIGH,
        ),
        form(r"(?:мой день рождения|день рождения у меня) (?P<value>\d{1,2} \w+)", _F, "birthday", HIGH),
        form(
            r"я (?P<value>вегетарианец|вегетарианка|веган|программист|инженер|врач|учитель|учительница|студент"
            r"|студентка|дизайнер)\b.*",
            _F,
            importance=HIGH,
        ),
    ),
    "zh": (
        form(r"(?:我叫|我的名字是|我的名字叫)(?P<value>[\w·]{1,12})", _F, "name", HIGH),
        form(r"我(?:现在|現在|目前)?(?:住在|搬到了?|搬去)(?P<value>[^，。；,.!！?？]{1,20})", _F, "lives in", HIGH),
        form(r"我在(?P<value>[^，。；,.!！?？]{1,20}?)(?:工作|上班)", _F, "works at", HIGH),
        form(
            r"我是(?:一[名个位個])?(?P<value>[^，。；,.!！?？]{1,10}(?:师|師|生|员|員|者|医|醫|家|工|人))",
            _F,
            "job",
            HIGH,
        ),
        form(
            r"我对(?P<value>[^，。；,.!！?？]{1,20})过敏|我對(?P<other>[^，。；,.!！?？]{1,20})過敏",
            _F,
            importance=HIGH,
        ),
        form(
            r"我(?:有|养了|養了)(?P<value>(?:[一两二三四0-9]+[个隻只条位個])(?:儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹|狗|猫|兒子|女兒|貓).*)",
            _F,
        ),
        form(r"我的生日是(?P<value>[^，。；]{2,12})", _F, "birthday", HIGH),
    ),
    "ja": (
        form(r"(?:私の)?仕事は(?P<value>[^。、]{2,15}?)(?:です|をしています)", _F, "job", HIGH),
        form(r"(?:私の名前は|私は|名前は)?(?P<value>[\w・]{1,10})(?:と申します|といいます)", _F, "name", HIGH),
        form(
            r"(?:私は|僕は|今は|今、)?(?P<value>[^。、]{1,20})(?:に住んで(?:い)?(?:ます|る|て)|に引っ越しました)",
            _F,
            "lives in",
            HIGH,
        ),
        form(r"(?:私は|僕は)?(?P<value>[^。、]{1,20})で(?:働いて(?:い)?(?:ます|る)|勤めて)", _F, "works at", HIGH),
        form(
            r"(?:私は|僕は)(?P<value>[^。、]{1,15}(?:アレルギー|不耐症))(?:です|があります|なんです)?",
            _F,
            importance=HIGH,
        ),
        form(
            r"(?:私は|僕は)(?P<value>[^。、]{1,12}(?:師|者|員|生|家|士|エンジニア|デザイナー|教師))です",
            _F,
            "job",
            HIGH,
        ),
        form(r"(?:私の)?誕生日は(?P<value>[^。、]{2,12}?)です", _F, "birthday", HIGH),
        form(r"(?:うちには|私は|僕は)?(?P<value>(?:犬|猫)を[^。、]{0,6}飼って)", _F),
    ),
}
