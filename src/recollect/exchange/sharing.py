"""Records that several files say: the same fact in the folders of two projects is one record, with the tags of both."""

from collections.abc import Sequence
from pathlib import Path

from recollect.database import Database
from recollect.errors import Invalid
from recollect.exchange.facts import PROJECT_TAG, Malformed, fact_of
from recollect.exchange.folders import content_at, project_of
from recollect.exchange.store import FactStore, Place
from recollect.history.store.files import THIS_HOST
from recollect.knowledge import Knowledge, Record, reasons
from recollect.knowledge.statements import MOST_TAGS


class Sharing:
    def __init__(self, database: Database, house: str, knowledge: Knowledge, learning: Knowledge) -> None:
        """`learning`: in whose name tags change."""
        self._database = database
        self._house = house
        self._knowledge = knowledge
        self._learning = learning

    def others(self, record: Record, folder: Path, name: str) -> list[Place]:
        """The files beside this one that still say what this record was read from. One that is gone, or says something
        else by now, keeps nothing as it is: a file that was renamed is still one fact."""
        with self._database.read() as session:
            places = FactStore(session, self._house).places_of(record.id)
        own = (THIS_HOST, str(folder), name)
        return [one for one in places if (one.computer, one.folder, one.name) != own and _still_says(one, record)]

    def join(self, record: Record, tags: Sequence[str], reason: str) -> None:
        """The record of another file, or of somebody, is said in this project too: who asks for the project finds it
        there. Not where somebody took the tag away."""
        lacking = [tag for tag in tags if tag.startswith(PROJECT_TAG) and tag not in record.tags]
        lacking = [tag for tag in lacking if not self._was_taken_away(record, tag)]
        if lacking and record.state == "current" and len(record.tags) + len(lacking) <= MOST_TAGS:
            self._learning.edit(record.id, tags=[*record.tags, *lacking], reason=reason)

    def leave(self, record: Record, tags: Sequence[str], reason: str) -> None:
        """These projects do not say it any more."""
        kept = [tag for tag in record.tags if not (tag.startswith(PROJECT_TAG) and tag in tags)]
        if len(kept) < len(record.tags):
            self._learning.edit(record.id, tags=kept, reason=reason)

    def _was_taken_away(self, record: Record, tag: str) -> bool:
        return any(
            event.before
            and event.after
            and tag in event.before.tags
            and tag not in event.after.tags
            and not event.reason.startswith(reasons.IMPORTED)
            for event in self._knowledge.events(record.id)
        )


def _still_says(place: Place, record: Record) -> bool:
    """Where that cannot be known, it does: nothing is taken from a file that another computer reads."""
    if place.computer != THIS_HOST:
        return True
    folder = Path(place.folder)
    content = content_at(folder, place.name)
    if not isinstance(content, bytes):
        return content is not None
    # A link to a folder hides the project it was read for; the tags of the record have it.
    tagged = {tag.removeprefix(PROJECT_TAG) for tag in record.tags if tag.startswith(PROJECT_TAG)}
    try:
        facts = [fact_of(place.name, content, project) for project in ("", project_of(folder), *sorted(tagged))]
    except (Malformed, Invalid):
        return True
    return any(fact and fact.digest == place.digest for fact in facts)
