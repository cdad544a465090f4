"""What people say about themselves in German, Spanish and French."""

from recollect.knowledge import Kind
from recollect.librarian.rules.forms import HIGH, Form, form

_F = Kind.FACT
_END = r"(?=[,.;:!?()]| (?:und|aber|seit|weil|mit|y|pero|con|desde|et|mais|avec|depuis|e|ma|en|maar|и|а)\b|$)"
GERMAN_FORMS: tuple[Form, ...] = (
    form(
        r"(?:ich heiße|mein name ist|nenn mich(?: bitte)?"
        r"|man nennt mich) (?P<value>[A-ZÄÖÜ][\w'-]+(?: [A-ZÄÖÜ][\w'-]+)?)",
        _F,
        "name",
        HIGH,
    ),
    form(
        rf"(?:ich|wir) (?:wohnen?|leben?)(?: (?:jetzt|derzeit|aktuell|inzwischen|seit [\w .]{{2,20}}|zusammen"
        rf"|allein|hier))* (?:in|bei|auf|am|an|nahe) (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
        _F,
        "lives in",
        HIGH,
    ),
    form(
        r"(?:ich bin|wir sind)(?: \w+)?(?: [\w ]{2,20})? nach (?P<value>[A-ZÄÖÜ][^,.;:!?()]{1,40}?)"
        r" (?:gezogen|umgezogen)",
        _F,
        "lives in",
        HIGH,
    ),
    form(rf"ich (?:komme|stamme)(?: ursprünglich)? aus (?P<value>[^,.;:!?()]{{2,40}}?){_END}", _F, "comes from"),
    form(
        r"ich arbeite(?: (?:jetzt|derzeit|seit [\w .]{2,20}|aktuell|freiberuflich"
        r"|in teilzeit))* als (?P<value>[^,.;:!?()]{2,60})",
        _F,
        "job",
        HIGH,
    ),
    form(
        r"ich arbeite(?: (?:jetzt|derzeit|seit [\w .]{2,20}|aktuell))* (?:bei|für|beim|in der|im"
        r"|am) (?P<value>[^,.;:!?()]{2,60})",
        _F,
        "works at",
        HIGH,
    ),
    form(
        r"ich bin (?:von beruf )?(?P<value>(?:[\w-]+ )?[A-ZÄÖÜ]\w*(?:er|erin|in|ist|istin|arzt|ärztin|or|orin"
        r"|ent|entin|mann|frau|meister|pfleger|lehrer|krankenschwester|wart|wartin|koch|köchin|eur|eurin|ant"
        r"|antin|loge|login|student))(?= (?:bei|beim|vom|zur|der|des|in|im|am|an|und|von|aus|für|mit)\b|[,.;!?]"
        r"|$)",
        _F,
        "job",
        HIGH,
    ),
    form(
        r"ich bin (?:strenge?r? |überzeugte?r? )?(?P<value>Vegetarier(?:in)?|Veganer(?:in)?|vegan|vegetarisch"
        r"|Diabetiker(?:in)?|schwanger|farbenblind|Linkshänder(?:in)?|Allergiker(?:in)?|laktoseintolerant"
        r"|glutenintolerant)\b.*",
        _F,
        importance=HIGH,
    ),
    form(
        r"ich (?:bin (?:\w+ )?allergisch (?:gegen|auf)|habe eine [\w-]*(?:allergie|unverträglichkeit|intoleranz)"
        r"|vertrag(?:e)? (?:keine?n?)|leide (?:an|unter)) ?(?P<value>.*)",
        _F,
        importance=HIGH,
    ),
    form(
        r"ich hab(?:e)? (?P<value>[\w-]*(?:allergie|asthma|diabetes|migräne|rheuma|zöliakie|adhs|bluthochdruck"
        r"|heuschnupfen)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(
        (r"ich (?:esse|trinke|rauche) (?P<value>(?:keine?n?|kein|nicht|nie|vegan|vegetarisch|nichts)\b.*)"),
        _F,
        importance=HIGH,
    ),
    form(r"(?:ich bin (?P<value>\d{2})(?: jahre alt)?(?=[,.!;]| und|$))", _F, "age"),
    form(
        r"(?:mein geburtstag ist|ich habe|ich bin)(?: am)? (?P<value>\d{1,2}\. ?\w+)(?: \d{4})?(?: geburtstag"
        r"| geboren)?\b",
        _F,
        "birthday",
        HIGH,
    ),
    form(
        r"(?:ich hab(?:e)?|wir haben)(?: seit \w+)? (?P<value>(?:\w+ ){0,2}(?:kinder|kind|sohn|söhne|tochter"
        r"|töchter|bruder|brüder|schwestern?|geschwister|enkel|hund|hunde|katzen?|kater|pferd|hühner|hasen"
        r"|wellensittiche?|garten|balkon|hühner)\b.*)",
        _F,
    ),
    form(
        (r"ich bin (?P<value>(?:\w+ )?(?:verheiratet|geschieden|ledig|verlobt|verwitwet|alleinerziehend))\b.*"),
        _F,
        "marital status",
    ),
    form(
        r"ich (?:spreche|lerne)(?: (?:fließend|gerade|auch|seit [\w ]{2,15}|ein bisschen"
        r"|etwas))* (?P<value>(?:deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|niederländisch"
        r"|russisch|chinesisch|japanisch|polnisch|türkisch|arabisch|koreanisch|schwedisch|norwegisch|griechisch"
        r"|ungarisch|tschechisch|rust|python|go|klavier|gitarre|geige)\b.*)",
        _F,
    ),
    form(r"ich arbeite (?P<value>(?:\w+ tage?\b|in teilzeit|von zu hause|im homeoffice|nachts|schicht)\b.*)", _F),
    form(r"ich studiere (?P<value>\S.*)", _F),
    form(
        r"ich (?:benutze|nutze|verwende|fahre|besitze)(?: (?:meist|derzeit|immer"
        r"|seit [\w ]{2,15}))* (?P<value>(?!es|das|dies|die funktion|den befehl|folgende)\S.*)",
        _F,
    ),
    form(
        r"meine? (?P<attr>adresse|telefonnummer|handynummer|e-mail|mail|firma|arbeitgeber|beruf|muttersprache"
        r"|schuhgröße|editor|laptop|auto|fahrrad|hund|katze|wohnung|adresse|zeitzone) (?:ist|lautet|heißt"
        r"|hat) (?P<value>\S.*)",
        _F,
    ),
    form(
        r"ich (?P<value>(?:spiele|singe|male|sammle|tanze|klettere|schwimme|laufe|jogge|reite|koche|gärtnere"
        r"|trainiere|wandere|radle) (?!mit dem gedanken|das|es|die|den)\S.*)",
        _F,
    ),
)
SPANISH_FORMS: tuple[Form, ...] = (
    form(
        r"(?:me llamo|mi nombre es|soy|llámame) (?P<value>[A-ZÁÉÍÓÚÑ][\wáéíóúñ'-]+(?:"
        r" [A-ZÁÉÍÓÚÑ][\wáéíóúñ'-]+)?)(?=[,.!;]| y |$)",
        _F,
        "name",
        HIGH,
    ),
    form(
        r"(?:yo |nosotros |ahora )?(?:vivo|vivimos|resido|me (?:he mudado|mudé) a|nos mudamos a"
        rf"|nos hemos mudado a)(?: (?:ahora|actualmente|desde [\w ]{{2,15}}|sol[oa]))*(?: en| a"
        rf"| cerca de)? (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
        _F,
        "lives in",
        HIGH,
    ),
    form(rf"soy de (?P<value>[A-ZÁÉÍÓÚÑ][^,.;:!?()]{{1,40}}?){_END}", _F, "comes from"),
    form(r"(?:yo )?trabajo (?:ahora |actualmente )?(?:como|de) (?P<value>[^,.;:!?()]{2,60})", _F, "job", HIGH),
    form(
        r"(?:yo )?trabajo (?:ahora |actualmente )?(?:en|para|con) (?!ello|eso|esto|un proyecto|el proyecto"
        r"|una tarea)(?P<value>[^,.;:!?()]{2,60})",
        _F,
        "works at",
        HIGH,
    ),
    form(
        r"soy (?P<value>(?:un |una )?(?:\w+ )?(?:ingenier[oa]|médic[oa]|doctora?|enfermer[oa]|profesora?"
        r"|maestr[oa]|abogad[oa]|arquitect[oa]|diseñadora?|programadora?|desarrolladora?|estudiante|cociner[oa]"
        r"|periodista|contable|contadora?|fotógraf[oa]|músic[oa]|escritora?|traductora?|psicólog[oa]|dentista"
        r"|veterinari[oa]|electricista|carpinter[oa]|camarer[oa]|autónom[oa]|jubilad[oa]|farmacéutic[oa]"
        r"|biólog[oa]|investigadora?|consultora?|gerente|directora?|comercial|conductora?|piloto|panader[oa]"
        r"|pescadora?|agricultora?))\b.*",
        _F,
        "job",
        HIGH,
    ),
    form(
        r"soy (?P<value>(?:muy )?(?:alérgic[oa] (?:a|al)\b.*|vegetarian[oa]|vegan[oa]|celíac[oa]|diabétic[oa]"
        r"|intolerante (?:a|al)\b.*|zurd[oa]|daltónic[oa]|asmátic[oa]))\b.*",
        _F,
        importance=HIGH,
    ),
    form(
        r"tengo (?P<value>(?:una )?(?:alergia|intolerancia) (?:a|al)\b.*|(?:asma|diabetes|migrañas|hipertensión"
        r"|celiaquía)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(
        r"no (?:puedo )?(?P<value>(?:como|comer|bebo|beber|tomo|tomar|fumo) (?:\w+ )?(?:carne|pescado|marisco"
        r"|gluten|lácteos|leche|azúcar|alcohol|café|cerdo|huevos?|frutos secos|nueces|cacahuetes)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(r"tengo (?P<value>\d{2}) años", _F, "age"),
    form(r"mi cumpleaños es (?:el )?(?P<value>\d{1,2} de \w+)", _F, "birthday", HIGH),
    form(
        r"(?:tengo|tenemos) (?P<value>(?:\w+ ){0,2}(?:hij[oa]s?|herman[oa]s?|niet[oa]s?|perr[oa]s?|gat[oa]s?"
        r"|caballos?|gallinas|mascotas?|niñ[oa]s?)\b.*)",
        _F,
    ),
    form(
        (r"estoy (?P<value>casad[oa]|divorciad[oa]|solter[oa]|prometid[oa]|embarazada|jubilad[oa])\b.*"),
        _F,
        "marital status",
    ),
    form(
        r"(?:hablo|estoy aprendiendo|aprendo) (?P<value>(?:español|inglés|francés|alemán|italiano|portugués|ruso"
        r"|chino|japonés|árabe|catalán|euskera|gallego|coreano|holandés|polaco)\b.*)",
        _F,
    ),
    form(r"(?:yo )?(?:uso|utilizo|conduzco) (?P<value>(?!esto|eso|esta función|este)\S.*)", _F),
    form(r"estudio (?P<value>(?!esto|eso|el código)\S.*)", _F),
    form(
        r"mi (?P<attr>dirección|teléfono|correo|empresa|trabajo|editor|portátil|coche|bici|perr[oa]|gat[oa]"
        r"|lengua materna|profesión) (?:es|se llama|está en) (?P<value>\S.*)",
        _F,
    ),
    form(
        r"(?:yo )?(?P<value>(?:toco (?:el|la)|juego al?|canto en|colecciono|pinto|bailo|corro|nado|escalo"
        r"|cocino)\b (?!esto|eso)\S.*)",
        _F,
    ),
)
FRENCH_FORMS: tuple[Form, ...] = (
    form(
        (r"(?:je m'appelle|mon nom est|appelle-moi|moi c'est) (?P<value>[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?)"),
        _F,
        "name",
        HIGH,
    ),
    form(
        r"(?:moi,? )?(?:j'habite|je vis|nous (?:habitons|vivons)|on habite|je viens de déménager|j'ai déménagé"
        r"|nous avons déménagé|je suis installée?)(?: (?:maintenant|actuellement|désormais|seule?"
        rf"|depuis [\w ]{{2,15}}))*(?: à| en| au| aux| dans| près de| sur"
        rf"| chez)? (?P<value>[^,.;:!?()]{{2,50}}?){_END}",
        _F,
        "lives in",
        HIGH,
    ),
    form(
        (rf"je (?:viens|suis originaire) (?:de|d'|du) ?(?P<value>[A-ZÀ-Þ][^,.;:!?()]{{1,40}}?){_END}"), _F, "comes from"
    ),
    form(
        r"je travaille(?: (?:maintenant|actuellement|aujourd'hui|désormais))* (?:comme"
        r"|en tant que) (?P<value>[^,.;:!?()]{2,60})",
        _F,
        "job",
        HIGH,
    ),
    form(
        r"je travaille(?: (?:maintenant|actuellement|désormais))* (?:chez|pour|à|au|dans) (?!ce|cette|ça"
        r"|un projet|le projet)(?P<value>[^,.;:!?()]{2,60})",
        _F,
        "works at",
        HIGH,
    ),
    form(
        r"je suis (?P<value>(?:une? )?(?:\w+ )?(?:ingénieure?|médecin|docteure?|infirmi(?:er|ère)|professeure?"
        r"|prof|enseignante?|avocate?|architecte|designer|développeu(?:r|se)|programmeu(?:r|se)|étudiante?"
        r"|cuisini(?:er|ère)|journaliste|comptable|photographe|musicien(?:ne)?|écrivaine?|traduct(?:eur|rice)"
        r"|psychologue|dentiste|vétérinaire|électricien(?:ne)?|menuisi(?:er|ère)|boulang(?:er|ère)|retraitée?"
        r"|pharmacien(?:ne)?|biologiste|cherch(?:eur|euse)|consultante?|direct(?:eur|rice)|graphiste|libraire"
        r"|bibliothécaire|kiné|sage-femme|indépendante?|chauffeur))\b.*",
        _F,
        "job",
        HIGH,
    ),
    form(
        r"(?:moi,? )?je suis (?P<value>(?:très )?(?:allergique (?:à|aux|au)\b.*|végétarien(?:ne)?|végane?"
        r"|cœliaque|diabétique|intolérante? (?:à|au|aux)\b.*|gauch(?:er|ère)|daltonien(?:ne)?|asthmatique"
        r"|enceinte))\b.*",
        _F,
        importance=HIGH,
    ),
    form(
        r"j'ai (?P<value>(?:une )?(?:allergie|intolérance) (?:à|au|aux)\b.*|(?:de l'asthme|du diabète"
        r"|des migraines)\b.*)",
        _F,
        importance=HIGH,
    ),
    form(
        r"(?:moi,? )?je ne (?P<value>(?:mange|bois|fume|conduis|peux pas manger|supporte) (?:pas|plus"
        r"|jamais)?\b.*)",
        _F,
        importance=HIGH,
    ),
    form(r"j'ai (?P<value>\d{2}) ans\b", _F, "age"),
    form(r"mon anniversaire (?:est|c'est|tombe) (?:le )?(?P<value>\d{1,2}(?:er)? \w+)", _F, "birthday", HIGH),
    form(
        r"(?:j'ai|nous avons|on a) (?P<value>(?:\w+ ){0,2}(?:enfants?|fils|filles?|frères?|sœurs?|petits-enfants"
        r"|chiens?|chats?|chatte|chienne|cheval|chevaux|poules|lapins?|jumeaux|jumelles)\b.*)",
        _F,
    ),
    form(
        (r"je suis (?P<value>mariée?|divorcée?|célibataire|fiancée?|veu(?:f|ve)|pacsée?|retraitée?)\b.*"),
        _F,
        "marital status",
    ),
    form(
        r"(?:je parle|j'apprends) (?P<value>(?:couramment |un peu )?(?:le |l'|la )?(?:français|anglais|espagnol"
        r"|allemand|italien|portugais|russe|chinois|japonais|arabe|néerlandais|coréen|breton|piano|guitare)\b.*)",
        _F,
    ),
    form(r"j'(?:utilise) (?P<value>(?!ça|cette fonction|ce )\S.*)|je conduis (?P<car>une?\b.*)", _F),
    form(r"j'étudie (?P<value>(?!ça|le code)\S.*)", _F),
    form(
        r"(?:mon|ma) (?P<attr>adresse|téléphone|mail|entreprise|métier|éditeur|ordinateur|ordi|voiture|vélo"
        r"|chien|chat|langue maternelle|profession) (?:est|s'appelle|c'est) (?P<value>\S.*)",
        _F,
    ),
    form(
        r"je (?P<value>(?:joue (?:du|de la|au|à la)|chante dans|collectionne|cours|nage|danse|fais (?:du|de la"
        r"|de l'))\b \S.*)",
        _F,
    ),
)
