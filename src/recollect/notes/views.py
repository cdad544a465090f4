"""What `memory.sql` shows of notes: one house, and which notes there are, not what they say: texts are kept compressed,
and read with `recollect notes show` or found with a search. Names and columns are a contract."""

from recollect.scopes import Sight

_MOVED_FROM = """
    coalesce((SELECT max(o.path) FROM notes_versions o
        WHERE o.house = n.house AND o.path = n.moved_from{moved_from}), '') AS moved_from
"""
"""Told to who may see that place."""
_VERSION = (
    f"n.path, n.number, n.scope, n.at, n.actor, n.actor_name, n.action, n.reason, n.size, {_MOVED_FROM}, n.unseen, "
    "n.review"
)

VIEWS: dict[str, str] = {
    "notes": f"""
        SELECT {_VERSION} FROM notes_versions n
        WHERE n.house = '{{house}}' AND n.latest = 1 AND n.digest <> ''{{notes}}
    """,
    "note_versions": f"""
        SELECT {_VERSION}, CASE WHEN n.digest = '' THEN 1 ELSE 0 END AS is_gone
        FROM notes_versions n WHERE n.house = '{{house}}'{{notes}}
    """,
}


def note_views(house: str, sight: Sight) -> dict[str, str]:
    """The views with this house and this sight written into them; both are ours, never a stranger's text."""
    given = {"house": house, "notes": sight.condition("n.scope"), "moved_from": sight.condition("o.scope")}
    return {name: body.format(**given) for name, body in VIEWS.items()}
