"""Records that several files say: the same fact in the folders of two projects is one record, with the tags of both."""

from collections.abc import Collection, Sequence
from pathlib import Path

from recollect.database import Database
from recollect.errors import Invalid, Unavailable
from recollect.exchange.facts import PROJECT_TAG, Malformed, fact_of, is_index
from recollect.exchange.folders import content_at, names_of, project_of
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
        return [one for one in places if (one.computer, one.folder, one.name) != own and self._still_says(one, record)]

    def listed(self, folder: Path) -> set[str]:
        """The files that an index in this folder may list: also those that were read once and are gone, as an index may
        be behind."""
        with self._database.read() as session:
            kept = FactStore(session, self._house).of_folder(THIS_HOST, str(folder))
        return names_of(folder) | kept.keys()

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

    def _still_says(self, place: Place, record: Record) -> bool:
        """Where that cannot be known, it does: nothing is taken from a file that another computer reads."""
        if place.computer != THIS_HOST:
            return True
        content = content_at(Path(place.folder), place.name)
        if not isinstance(content, bytes):
            return content is not None
        try:
            listed = self.listed(Path(place.folder)) if is_index(place.name) else ()
            return _says(place, record, content, listed)
        except (Malformed, Invalid, Unavailable):
            return True

    def _was_taken_away(self, record: Record, tag: str) -> bool:
        return any(
            event.before
            and event.after
            and tag in event.before.tags
            and tag not in event.after.tags
            and not event.reason.startswith(reasons.IMPORTED)
            for event in self._knowledge.events(record.id)
        )


def _says(place: Place, record: Record, content: bytes, listed: Collection[str]) -> bool:
    # A link to a folder hides the project it was read for; the tags of the record have it.
    tagged = {tag.removeprefix(PROJECT_TAG) for tag in record.tags if tag.startswith(PROJECT_TAG)}
    projects = ("", project_of(Path(place.folder)), *sorted(tagged))
    facts = [fact_of(place.name, content, project, listed) for project in projects]
    return any(fact and fact.digest == place.digest for fact in facts)
