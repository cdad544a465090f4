"""Messages of which nothing is kept, as a whole: play, puzzles, absurdities, other people's questions, jokes."""

import re
from collections.abc import Sequence

from recollect.librarian.items import Turn

MOST_OPENING_CHARACTERS = 1_000
MOST_TAKEN_BACK = 2
"""Messages before it. A joke is rarely longer."""
_TAKEN_BACK = re.compile(
    r"(?is)\W*(?:(?:haha|hehe|lol|lmao|hihi|jaja|😂|🤣)\w*[\s.,!]*(?:just kidding|jk|kidding|seriously|joking"
    r"|but seriously|no seriously|for real|spaß|im ernst|en serio|sérieusement)|just kidding|jk\b|kidding"
    r"|nur spaß|war nur spaß|es broma|je plaisante|i was (?:only |just )?(?:joking|kidding)|ok seriously"
    r"|seriously though|(?:ok(?:ay)?|right|so|alright)?[\s,]*(?:that's |that was )?enough (?:of (?:that|this)|silliness"
    r"|nonsense|joking|jokes|fooling|fun)|(?:all )?jokes? aside|on a (?:more )?serious note|spaß beiseite"
    r"|genug (?:quatsch|blödsinn|unsinn)|bromas aparte|blague à part|scherzi a parte)"
)
"""How a person begins who did not mean what they wrote before."""
_LAUGHS = re.compile(r"\W*?[😂🤣]\s?[😂🤣]")
"""Somebody who goes on laughing was not in earnest one message before."""
_PLAYED = re.compile(
    r"(?i)\b(?:role[- ]?play(?:ing)?|let's pretend|stay in character|in character\b|text adventure"
    r"|dungeon master|interactive (?:fiction|story)|(?:take|play) the (?:role|part) of"
    r"|you (?:play|are playing)\b.{3,80}\bi(?:'m| am| play)|rollenspiel|juego de rol|jeu de rôle)\b"
)
"""From there on nobody speaks as themselves."""
_PUZZLE = re.compile(
    r"(?i)[,\"”(]\s*\d{1,2}[- ](?:letters?|buchstaben|letras|lettres|lettere)\b|(?:(?<!\w)_ ?){2,}|\b(?:riddle me"
    r"|crossword clue|anagram (?:of|for)|two truths and a lie|(?:quiz|trivia) question)\b"
    r"|^\W*(?:riddle|clue|quiz|trivia)\b"
)
_SPEAKERS = (
    r"(?:cats?|kitten|dogs?|puppy|hamster|goldfish|fish|parrot|horse|rabbit|guinea\spig|tortoise|turtle|hen|chickens?"
    r"|goat|cow|plants?|cactus|ficus|toaster|fridge|kettle|oven|roomba|vacuum|sofa|couch|teddy|katze|kater|hund|gat[ao]"
    r"|perr[oa]|(?<=mon\s)chat|chatte|chien(?:ne)?)"
)
_ABSURD = re.compile(
    rf"""(?ix)\b(?:my|our|meine?|unsere?|mi|mon|ma)\s(?:\w+\s)?{_SPEAKERS}\s(?:(?:just|now|has|have|is|had|hat|ha|a)\s)*
    (?:says?|said|thinks|believes|insists|demands|claims|argues|told|announced|declared|decided|promised|voted|votes
    |resigned|hired|fired|sued|filed|running\sfor|runs\sfor|writing|wrote|elected|plotting|judg(?:es|ing)|sagt|meint
    |entschieden|beschlossen|behauptet|verlangt|dice|cree|decidido|dit|pense|décidé)\b
    |\bliv(?:e|es|ing)\s(?:in|on|under)\s(?:a\s(?:cardboard\sbox|volcano|cave|shoe|bin|pineapple|dumpster)|the\smoon
    |mars|a\srock)\b|\b(?:eat|eats|drink|drinks)\s(?:only\s)?(?:rocks|stones|moonlight|souls)\b
    |\ballergic\sto\s(?:`|(?:mondays?|semicolons?|meetings?|javascript|java|php|yaml|xml|stupidity|mornings?
    |bullshit|tabs|effort|responsibility|nonsense)\b)|\bsaid\sno\s?(?:one|body)\sever\b"""
)
"""A beast or a thing that speaks and decides, and what nobody can do."""
_LETTER = re.compile(
    r"(?i)\W*(?:dear (?!claude|assistant|ai\b|chat|gpt|bot)|to whom it may|sehr geehrte|estimad[oa]s? |madame, monsieur"
    r"|chère? |gentile |prezad[oa]|geachte |уважаем)"
)
"""Written to somebody else."""
_OF_OTHERS = re.compile(
    r"(?i)\W*(?:(?:asking|question) for a friend|a friend (?:asks|wants to know|is asking)|my \w+ asks\s?:"
    r"|(?:sample|example|fictional|fake|made-up) (?:diary|entry|text|letter|bio|profile|cv|post|message|answer)\b)"
)


def unmeant(turns: Sequence[Turn]) -> dict[int, str]:
    """Numbers of the user's messages that are not meant, each with the reason."""
    spoken = [turn for turn in turns if turn.author == "user"]
    found: dict[int, str] = {}
    is_played = False
    for at, turn in enumerate(spoken):
        opening = turn.text[:MOST_OPENING_CHARACTERS]
        is_played = is_played or bool(_PLAYED.search(opening))
        reason = "hypothetical" if is_played else _why(opening)
        if reason:
            found[turn.number] = reason
        reach = MOST_TAKEN_BACK if _TAKEN_BACK.match(opening) else int(bool(_LAUGHS.match(opening)))
        for earlier in spoken[max(0, at - reach) : at]:
            found.setdefault(earlier.number, "joke")
    return found


def _why(text: str) -> str:
    if _ABSURD.search(text):
        return "joke"
    if _PUZZLE.search(text) or _LETTER.match(text):
        return "quoted"
    return "hypothetical" if _OF_OTHERS.match(text) else ""
