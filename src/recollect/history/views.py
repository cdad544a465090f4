"""What `memory.sql` shows of history: one house, without the vault. Names and columns are a contract."""

from recollect.history.store.seeing import of_seen_files, seen_files
from recollect.scopes import Sight

VIEWS: dict[str, str] = {
    "conversations": """
        SELECT c.id, c.session_id, f.key AS file, c.source, c.project, c.started_at, c.ended_at, c.messages,
            CASE WHEN c.status = 'active' AND c.ended_at < '{ready_before}' THEN 'ready' ELSE c.status END AS status,
            COALESCE(NULLIF(f.title, ''), t.title, c.opening) AS title
        FROM history_conversations c JOIN history_files f ON f.house = c.house AND f.id = c.file_id
            LEFT JOIN history_titles t ON t.house = c.house AND c.leaf_id <> '' AND t.leaf_id = c.leaf_id{titles}
        WHERE c.house = '{house}' AND c.messages > 0{files}
    """,
    "messages": """
        SELECT m.id, m.conversation_id, m.author, m.standing, m.gone, m.at, m.text, m.tools, m.model, m.cwd,
            m.session_id, m.agent_id, m.kind, f.key AS file, m.line, m.source
        FROM history_messages m JOIN history_files f ON f.house = m.house AND f.id = m.file_id
        WHERE m.house = '{house}'{files}
    """,
    "files": """
        SELECT f.id, f.key AS file, f.source, f.kind, f.session_id, f.agent_id, f.status, f.reason, f.read_to AS bytes,
            f.generation, f.last_entry_at, f.last_read_at, f.title, f.counts, f.scope
        FROM history_files f WHERE f.house = '{house}'{files}
    """,
    "occurrences": """
        SELECT l.message_id, f.key AS file, l.line, l.kind,
            CASE WHEN l.generation < f.generation THEN 1 ELSE 0 END AS gone
        FROM history_lines l JOIN history_files f ON f.house = l.house AND f.id = l.file_id
        WHERE l.house = '{house}'{files}
    """,
}


def history_views(house: str, sight: Sight, ready_before: str) -> dict[str, str]:
    """The views with this house, this sight and this moment written into them; all are ours, never a stranger's
    text."""
    given = {
        "house": house,
        "ready_before": ready_before,
        "files": seen_files(sight, "f."),
        "titles": of_seen_files(sight, "t.file_id", f"'{house}'"),
    }
    return {name: body.format(**given) for name, body in VIEWS.items()}
