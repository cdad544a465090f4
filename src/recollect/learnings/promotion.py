"""Promotion: somebody chooses what is worth keeping from a message."""

from collections.abc import Sequence

from recollect import markers
from recollect.errors import Invalid
from recollect.history import Author, History, Message
from recollect.knowledge import Evidence, Knowledge, Learned, Origin, Statement, reasons
from recollect.knowledge.statements import category_named, tags_of
from recollect.scopes import Principal

PEOPLES_AUTHORS = (Author.USER, Author.ASSISTANT)


def promote(
    history: History,
    knowledge: Knowledge,
    principal: Principal,
    name: str,
    text: str | None,
    category: str,
    tags: Sequence[str],
) -> Learned:
    message = history.message(name)
    if message.author not in PEOPLES_AUTHORS:
        raise Invalid(
            f"Message {message.id} is of a {message.author}: only what a user or an assistant said can be promoted. "
            "`recollect remember` keeps your own words."
        )
    words = shown_text(message) if text is None else text
    words = words.strip()
    statement = Statement(
        text=words,
        category=category_named(category),
        tags=tags_of(tags),
        origin=Origin.PROMOTED,
        # What a person keeps stays with those who could read it. An agent keeps things for itself.
        scope="" if principal.is_confined else history.file_scopes([message.file_id]).get(message.file_id, ""),
        true_from=message.at,
        sources=(Evidence(message_id=message.id, quote=words if words in message.text else ""),),
    )
    # Which message is said by the sources. In a reason its id would be words that forgetting looks for everywhere.
    return knowledge.learn(statement, reason=reasons.PROMOTED)


def shown_text(message: Message) -> str:
    """Its text blocks joined, without the markers of an assistant."""
    if message.author is not Author.ASSISTANT:
        return message.text
    return markers.read(*message.text_blocks).display
