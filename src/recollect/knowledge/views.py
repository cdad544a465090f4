"""What `memory.sql` shows of knowledge: one house. Names and columns are a contract."""

from recollect.scopes import Sight

_RECORD = (
    "r.id, r.version, r.scope, r.kind, r.subject, r.attribute, r.value, r.text, r.category, r.tags, r.confidence, "
    "r.importance, r.origin, r.learned_at, r.true_from, r.true_until, r.expires_at, r.state, r.replaces, r.replaced_by"
)
_SEEN_RECORD = """ AND EXISTS (
    SELECT 1 FROM knowledge_records r WHERE r.house = '{house}' AND r.id = {column} AND r.believed_until = ''{records}
)"""

VIEWS: dict[str, str] = {
    "records": f"""
        SELECT {_RECORD} FROM knowledge_records r WHERE r.house = '{{house}}' AND r.believed_until = ''{{records}}
    """,
    "record_versions": f"""
        SELECT {_RECORD}, r.believed_from, r.believed_until
        FROM knowledge_records r WHERE r.house = '{{house}}'{{records}}
    """,
    "record_events": """
        SELECT {number} AS number, e.record_id, e.version, e.at, e.action, e.actor, e.actor_name, e.reason
        FROM knowledge_events e WHERE e.house = '{house}'{events}
    """,
    "record_sources": """
        SELECT s.to_id AS record_id, s.from_id AS message_id
        FROM lineage_edges s
        WHERE s.house = '{house}' AND s.from_kind = 'message' AND s.to_kind = 'record'{sources}
    """,
}


def knowledge_views(house: str, sight: Sight) -> dict[str, str]:
    """The views with this house and this sight written into them; both are ours, never a stranger's text.

    Events and sources have no scope of their own: they are seen with the record they belong to. The number of an event
    counts what happened in all of the house, so who does not see it all is told its place among those of its record.
    """
    records = sight.condition("r.scope")
    given = {"house": house, "records": records, "number": "e.number", "events": "", "sources": ""}
    if records:
        given["number"] = "row_number() OVER (PARTITION BY e.record_id ORDER BY e.number)"
        given["events"] = _SEEN_RECORD.format(house=house, column="e.record_id", records=records)
        given["sources"] = _SEEN_RECORD.format(house=house, column="s.to_id", records=records)
    return {name: body.format(**given) for name, body in VIEWS.items()}
