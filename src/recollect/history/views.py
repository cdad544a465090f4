"""What `recollect sql` shows: one house, without the vault. Names and columns are a contract."""

VIEWS: dict[str, str] = {
    "conversations": """
        SELECT c.id, c.session_id, f.key AS file, c.source, c.project, c.started_at, c.ended_at, c.messages,
            CASE WHEN c.status = 'active' AND c.ended_at < '{ready_before}' THEN 'ready' ELSE c.status END AS status,
            COALESCE(NULLIF(f.title, ''), t.title, c.opening) AS title
        FROM history_conversations c JOIN history_files f ON f.house = c.house AND f.id = c.file_id
            LEFT JOIN history_titles t ON t.house = c.house AND c.leaf_id <> '' AND t.leaf_id = c.leaf_id
        WHERE c.house = '{house}' AND c.messages > 0
    """,
    "messages": """
        SELECT m.id, m.conversation_id, m.author, m.standing, m.gone, m.at, m.text, m.tools, m.model, m.cwd,
            m.session_id, m.agent_id, m.kind, f.key AS file, m.line, m.source
        FROM history_messages m JOIN history_files f ON f.house = m.house AND f.id = m.file_id
        WHERE m.house = '{house}'
    """,
    "files": """
        SELECT id, key AS file, source, kind, session_id, agent_id, status, reason, read_to AS bytes, generation,
            last_entry_at, last_read_at, title, counts
        FROM history_files WHERE house = '{house}'
    """,
    "occurrences": """
        SELECT l.message_id, f.key AS file, l.line, l.kind,
            CASE WHEN l.generation < f.generation THEN 1 ELSE 0 END AS gone
        FROM history_lines l JOIN history_files f ON f.house = l.house AND f.id = l.file_id
        WHERE l.house = '{house}'
    """,
    "events": """
        SELECT id, name, outcome, started_at, milliseconds, detail FROM runs_events WHERE house = '{house}'
    """,
}


def sql_views(house: str, ready_before: str) -> dict[str, str]:
    """The views with this house and this moment written into them; both are ours, never a stranger's text."""
    return {name: body.format(house=house, ready_before=ready_before) for name, body in VIEWS.items()}
