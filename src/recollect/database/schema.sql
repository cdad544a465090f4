-- The schema as it is now: what all migrations together make, in one readable piece. Not run by Recollect; a test
-- proves on both engines that it equals the sum of migrations/*.sql. Change it together with a new migration.
--
-- {key} is text that compares byte by byte, {bytes} is binary. Every key starts with the house (tenant). Times are
-- text of one width, 2026-02-21T02:54:11.688Z; yes and no are 1 and 0.

-- Which migrations were applied, and the digest of each: older code refuses what it does not know.
CREATE TABLE schema_versions (
    version BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL
);

-- History: what happened. Canonical: lines, messages, links, titles, spans. Operational: files, paths.
-- Derived: conversations (rebuilt from messages; only their status is operational).

-- A transcript file, known by its key (path below its root) and by its content, wherever it lies. One that holds
-- many transcripts (an export, an archive, a database) is their container.
CREATE TABLE history_files (
    house {key} NOT NULL,
    id {key} NOT NULL,
    source {key} NOT NULL,
    key {key} NOT NULL,
    copy BIGINT NOT NULL,
    host {key} NOT NULL,
    path TEXT NOT NULL,
    kind {key} NOT NULL,
    session_id {key} NOT NULL,
    agent_id {key} NOT NULL,
    status {key} NOT NULL,
    reason TEXT NOT NULL,
    head {key} NOT NULL,
    generation BIGINT NOT NULL,
    read_to BIGINT NOT NULL,
    newlines BIGINT NOT NULL,
    last_entry_at {key} NOT NULL,
    last_read_at {key} NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    counts TEXT NOT NULL,
    container_id {key} NOT NULL DEFAULT '',
    scope {key} NOT NULL DEFAULT 'house',
    PRIMARY KEY (house, id)
);
CREATE UNIQUE INDEX history_files_by_key ON history_files (house, source, key, copy);
CREATE INDEX history_files_by_head ON history_files (house, head);
CREATE INDEX history_files_by_session ON history_files (house, session_id);
CREATE INDEX history_files_by_container ON history_files (house, container_id) WHERE container_id <> '';
CREATE INDEX history_files_by_scope ON history_files (house, scope) WHERE scope <> 'house';

-- Where a file was seen, and how it looked: what lets an unchanged file be skipped without opening it.
CREATE TABLE history_paths (
    house {key} NOT NULL,
    host {key} NOT NULL,
    path {key} NOT NULL,
    file_id {key} NOT NULL,
    size BIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    inode BIGINT NOT NULL,
    PRIMARY KEY (house, host, path)
);
CREATE INDEX history_paths_by_file ON history_paths (house, file_id);

-- The vault: each record as it was read, compressed. A row of an older generation than its file's is gone
-- from the file. Every row that belongs to a message is an occurrence of it.
CREATE TABLE history_lines (
    house {key} NOT NULL,
    file_id {key} NOT NULL,
    generation BIGINT NOT NULL,
    start_byte BIGINT NOT NULL,
    length BIGINT NOT NULL,
    line BIGINT NOT NULL,
    digest BIGINT NOT NULL,
    kind {key} NOT NULL,
    message_id {key},
    parser BIGINT NOT NULL,
    raw {bytes} NOT NULL,
    PRIMARY KEY (house, file_id, generation, start_byte)
);
CREATE INDEX history_lines_by_message ON history_lines (house, message_id) WHERE message_id IS NOT NULL;

-- One thing said, or one thing that stands beside it (tool results, machine text: `standing` and `author` tell).
-- It is stored once, with the place of the occurrence that counts; `gone`: no file has it any more.
CREATE TABLE history_messages (
    house {key} NOT NULL,
    id {key} NOT NULL,
    file_id {key} NOT NULL,
    generation BIGINT NOT NULL,
    start_byte BIGINT NOT NULL,
    line BIGINT NOT NULL,
    home BIGINT NOT NULL,
    gone BIGINT NOT NULL,
    source {key} NOT NULL,
    stream {key} NOT NULL,
    conversation_id {key},
    session_id {key} NOT NULL,
    agent_id {key} NOT NULL,
    author {key} NOT NULL,
    standing {key} NOT NULL,
    kind {key} NOT NULL,
    at {key} NOT NULL,
    last_at {key} NOT NULL,
    text TEXT NOT NULL,
    blocks TEXT NOT NULL,
    tools TEXT NOT NULL,
    model TEXT NOT NULL,
    cwd TEXT NOT NULL,
    parent_id {key} NOT NULL,
    leaf_id {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX history_messages_by_file ON history_messages (house, file_id, start_byte);
CREATE INDEX history_messages_by_conversation ON history_messages (house, conversation_id);
CREATE INDEX history_prompts_by_parent ON history_messages (house, parent_id) WHERE author = 'user' AND parent_id <> '';

-- What was said in one file without a long silence. Rebuilt from messages; `status` is where it stands in its life.
CREATE TABLE history_conversations (
    house {key} NOT NULL,
    id {key} NOT NULL,
    file_id {key} NOT NULL,
    stream {key} NOT NULL,
    source {key} NOT NULL,
    session_id {key} NOT NULL,
    start_byte BIGINT NOT NULL,
    started_at {key} NOT NULL,
    last_start_at {key} NOT NULL,
    ended_at {key} NOT NULL,
    messages BIGINT NOT NULL,
    opening TEXT NOT NULL,
    project TEXT NOT NULL,
    leaf_id {key} NOT NULL,
    status {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX history_conversations_by_file ON history_conversations (house, file_id, stream, start_byte);
CREATE INDEX history_conversations_by_session ON history_conversations (house, session_id);
CREATE INDEX history_conversations_by_time ON history_conversations (house, ended_at);
CREATE INDEX history_conversations_by_status ON history_conversations (house, status, ended_at);

-- Two sessions that are one thread: a fork, a resumed copy, a continuation.
CREATE TABLE history_links (
    house {key} NOT NULL,
    session_id {key} NOT NULL,
    other_id {key} NOT NULL,
    kind {key} NOT NULL,
    PRIMARY KEY (house, session_id, other_id, kind)
);

-- Titles that one file gives to a conversation that may lie in another, by the last entry of that conversation. The
-- file is the one that gives it; empty where that was not noted yet.
CREATE TABLE history_titles (
    house {key} NOT NULL,
    leaf_id {key} NOT NULL,
    title TEXT NOT NULL,
    file_id {key} NOT NULL DEFAULT '',
    PRIMARY KEY (house, leaf_id)
);

-- Times that stay out of history: pauses (session '') and private stretches of one session.
CREATE TABLE history_private_spans (
    house {key} NOT NULL,
    session_id {key} NOT NULL,
    starts_at {key} NOT NULL,
    ends_at {key},
    reason {key} NOT NULL,
    PRIMARY KEY (house, session_id, starts_at)
);

-- Which messages and records were added, changed or deleted, numbered by transaction: what followers read (the index,
-- the search for markers). It is trimmed behind them; the newest number always stays.
CREATE TABLE feed_changes (
    house {key} NOT NULL,
    change BIGINT NOT NULL,
    kind {key} NOT NULL,
    id {key} NOT NULL,
    PRIMARY KEY (house, change, kind, id)
);

-- The identity of these changes, by which a follower knows whose it followed, and the newest number trimmed away.
CREATE TABLE feed_state (
    house {key} NOT NULL,
    id {key} NOT NULL,
    forgotten BIGINT NOT NULL,
    PRIMARY KEY (house)
);

-- How far each follower is: what nobody needs any more is trimmed.
CREATE TABLE feed_followers (
    house {key} NOT NULL,
    name {key} NOT NULL,
    change BIGINT NOT NULL,
    PRIMARY KEY (house, name)
);

-- Scopes: who sees what. The house itself is the root, `house`, and has no row.
CREATE TABLE scopes (
    house {key} NOT NULL,
    id {key} NOT NULL,
    kind {key} NOT NULL,
    parent_id {key} NOT NULL,
    made_at {key} NOT NULL,
    PRIMARY KEY (house, id)
);

-- Who may write above its own scope, and where.
CREATE TABLE scope_grants (
    house {key} NOT NULL,
    scope {key} NOT NULL,
    target {key} NOT NULL,
    granted_at {key} NOT NULL,
    PRIMARY KEY (house, scope, target)
);

-- Whose history a source is, or that part of it whose keys begin so. What is bound to nobody is the house's.
CREATE TABLE scope_bindings (
    house {key} NOT NULL,
    source {key} NOT NULL,
    prefix {key} NOT NULL,
    scope {key} NOT NULL,
    bound_at {key} NOT NULL,
    PRIMARY KEY (house, source, prefix)
);

-- Lineage: what came from what. The edges say where a thing is from, and what goes when its origin is forgotten.
CREATE TABLE lineage_edges (
    house {key} NOT NULL,
    from_kind {key} NOT NULL,
    from_id {key} NOT NULL,
    to_kind {key} NOT NULL,
    to_id {key} NOT NULL,
    PRIMARY KEY (house, from_kind, from_id, to_kind, to_id)
);
CREATE INDEX lineage_edges_by_derived ON lineage_edges (house, to_kind, to_id);

-- The secret behind every keyed hash of the house.
CREATE TABLE lineage_keys (
    house {key} NOT NULL,
    secret {bytes} NOT NULL,
    PRIMARY KEY (house)
);

-- Keyed hashes of what may not come back. `origin`: the receipt or the event that put it there.
CREATE TABLE lineage_tombstones (
    house {key} NOT NULL,
    hash {key} NOT NULL,
    kind {key} NOT NULL,
    origin {key} NOT NULL,
    PRIMARY KEY (house, hash, origin)
);
CREATE INDEX lineage_tombstones_by_origin ON lineage_tombstones (house, origin);

-- What was forgotten, without what it was: how much, by whom, and keyed hashes by which it can be looked for again.
CREATE TABLE lineage_receipts (
    house {key} NOT NULL,
    id {key} NOT NULL,
    at {key} NOT NULL,
    actor {key} NOT NULL,
    actor_name TEXT NOT NULL,
    target {key} NOT NULL,
    state {key} NOT NULL,
    removed TEXT NOT NULL,
    out_of_reach TEXT NOT NULL,
    probes {bytes} NOT NULL,
    verified_at {key} NOT NULL,
    PRIMARY KEY (house, id)
);

-- Copies that were made of the house: forgetting does not reach them, and says so.
CREATE TABLE lineage_exports (
    house {key} NOT NULL,
    id {key} NOT NULL,
    at {key} NOT NULL,
    kind {key} NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (house, id)
);

-- Knowledge: what was learned, every version of it. `believed_until` is empty for the version that holds now. The keys
-- are how subject, attribute and text compare: folded, or a digest.
CREATE TABLE knowledge_records (
    house {key} NOT NULL,
    id {key} NOT NULL,
    version BIGINT NOT NULL,
    scope {key} NOT NULL,
    kind {key} NOT NULL,
    subject TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value TEXT NOT NULL,
    text TEXT NOT NULL,
    category {key} NOT NULL,
    tags TEXT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    importance DOUBLE PRECISION NOT NULL,
    origin {key} NOT NULL,
    learned_at {key} NOT NULL,
    true_from {key} NOT NULL,
    true_until {key} NOT NULL,
    expires_at {key} NOT NULL,
    state {key} NOT NULL,
    replaces {key} NOT NULL,
    replaced_by {key} NOT NULL,
    sources TEXT NOT NULL,
    restated TEXT NOT NULL,
    subject_key {key} NOT NULL,
    attribute_key {key} NOT NULL,
    text_key {key} NOT NULL,
    believed_from {key} NOT NULL,
    believed_until {key} NOT NULL,
    PRIMARY KEY (house, id, version)
);
CREATE UNIQUE INDEX knowledge_records_now ON knowledge_records (house, id) WHERE believed_until = '';
CREATE INDEX knowledge_records_by_key ON knowledge_records (house, scope, subject_key, attribute_key);
CREATE INDEX knowledge_records_by_text ON knowledge_records (house, scope, text_key) WHERE believed_until = '';
CREATE INDEX knowledge_records_by_time ON knowledge_records (house, scope, learned_at, id);
CREATE INDEX knowledge_records_by_importance ON knowledge_records (house, scope, importance, learned_at, id)
    WHERE believed_until = '' AND state = 'current';
CREATE INDEX knowledge_records_by_expiry ON knowledge_records (house, scope, expires_at)
    WHERE believed_until = '' AND state = 'current' AND expires_at <> '';
CREATE INDEX knowledge_records_commitments ON knowledge_records (house, scope, kind, learned_at, id)
    WHERE believed_until = '' AND state = 'current' AND kind = 'commitment';

-- The stream: every change of a record, in order. `content` is the record after it; empty once it was forgotten.
CREATE TABLE knowledge_events (
    house {key} NOT NULL,
    number BIGINT NOT NULL,
    record_id {key} NOT NULL,
    version BIGINT NOT NULL,
    at {key} NOT NULL,
    action {key} NOT NULL,
    actor {key} NOT NULL,
    actor_name TEXT NOT NULL,
    reason TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (house, number)
);
CREATE INDEX knowledge_events_by_record ON knowledge_events (house, record_id, number);
CREATE INDEX knowledge_events_by_time ON knowledge_events (house, at);

-- Markers in messages that made no learning: where, and why not.
CREATE TABLE knowledge_marker_reports (
    house {key} NOT NULL,
    message_id {key} NOT NULL,
    place BIGINT NOT NULL,
    problem {key} NOT NULL,
    reported_at {key} NOT NULL,
    PRIMARY KEY (house, message_id, place)
);

-- Notes: what is written down, every version of it. `content` is compressed; `digest` is empty where the file was gone.
-- `unseen`: the version that this one took the place of without its writer having seen it; 0: none.
CREATE TABLE notes_versions (
    house {key} NOT NULL,
    path {key} NOT NULL,
    number BIGINT NOT NULL,
    scope {key} NOT NULL,
    at {key} NOT NULL,
    actor {key} NOT NULL,
    actor_name TEXT NOT NULL,
    action {key} NOT NULL,
    reason TEXT NOT NULL,
    digest {key} NOT NULL,
    size BIGINT NOT NULL,
    content {bytes} NOT NULL,
    moved_from {key} NOT NULL,
    unseen BIGINT NOT NULL,
    review {key} NOT NULL,
    latest BIGINT NOT NULL,
    PRIMARY KEY (house, path, number)
);
CREATE UNIQUE INDEX notes_versions_latest ON notes_versions (house, path) WHERE latest = 1;
CREATE INDEX notes_versions_by_scope ON notes_versions (house, scope, path) WHERE latest = 1;
CREATE INDEX notes_versions_by_content ON notes_versions (house, digest) WHERE digest <> '';
CREATE INDEX notes_versions_for_review ON notes_versions (house, at) WHERE review = 'open';

-- What a folder of notes on some computer last had of each note: by this a change with another tool is told from one
-- of ours. `purge`: something of the note was forgotten, and the file may still have it.
CREATE TABLE notes_copies (
    house {key} NOT NULL,
    copy {key} NOT NULL,
    path {key} NOT NULL,
    number BIGINT NOT NULL,
    digest {key} NOT NULL,
    size BIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    inode BIGINT NOT NULL,
    purge BIGINT NOT NULL,
    PRIMARY KEY (house, copy, path)
);
CREATE INDEX notes_copies_by_path ON notes_copies (house, path);

-- Jobs: what is to be done once, by whoever takes it first. `due_at`: not before. `claim`: raised by each taking, so that
-- a worker whose lease ran out cannot end what another one has by now. `place`: the order in which they are taken.
CREATE TABLE jobs_jobs (
    house {key} NOT NULL,
    kind {key} NOT NULL,
    target {key} NOT NULL,
    state {key} NOT NULL,
    place {key} NOT NULL,
    attempts BIGINT NOT NULL,
    queued_at {key} NOT NULL,
    due_at {key} NOT NULL,
    owner {key} NOT NULL,
    lease_until {key} NOT NULL,
    claim BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (house, kind, target)
);
CREATE INDEX jobs_jobs_by_state ON jobs_jobs (house, kind, state, place, target);

-- Kinds of jobs that nobody takes for now.
CREATE TABLE jobs_pauses (
    house {key} NOT NULL,
    kind {key} NOT NULL,
    since {key} NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (house, kind)
);

-- What each conversation was when the librarian last read it, and what became of that. No words of it stand here.
CREATE TABLE librarian_episodes (
    house {key} NOT NULL,
    conversation_id {key} NOT NULL,
    scope {key} NOT NULL,
    page {key} NOT NULL,
    project {key} NOT NULL,
    started_at {key} NOT NULL,
    ended_at {key} NOT NULL,
    messages BIGINT NOT NULL,
    fingerprint {key} NOT NULL,
    reader {key} NOT NULL,
    read_at {key} NOT NULL,
    kept BIGINT NOT NULL,
    dropped TEXT NOT NULL,
    PRIMARY KEY (house, conversation_id)
);
CREATE INDEX librarian_episodes_by_page ON librarian_episodes (house, page, started_at);
CREATE INDEX librarian_episodes_by_project ON librarian_episodes (house, scope, project, started_at);

-- What is told of each conversation, line by line; 0 is its title. `sources`: the messages that a line was made from.
-- `author`: who wrote it last, the librarian or a person; `state`: shown, or removed by a person.
CREATE TABLE librarian_lines (
    house {key} NOT NULL,
    id {key} NOT NULL,
    conversation_id {key} NOT NULL,
    number BIGINT NOT NULL,
    text TEXT NOT NULL,
    sources TEXT NOT NULL,
    author {key} NOT NULL,
    state {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX librarian_lines_by_conversation ON librarian_lines (house, conversation_id, number);

-- What a model answered: with these the shelves can be made again without asking it again. `reply` is compressed.
CREATE TABLE librarian_replies (
    house {key} NOT NULL,
    id {key} NOT NULL,
    conversation_id {key} NOT NULL,
    part BIGINT NOT NULL,
    model {key} NOT NULL,
    prompt {key} NOT NULL,
    fingerprint {key} NOT NULL,
    reply {bytes} NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    at {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX librarian_replies_by_conversation ON librarian_replies (house, conversation_id, part);

-- The version of each shelf up to which the changes of others were read.
CREATE TABLE librarian_shelves (
    house {key} NOT NULL,
    path {key} NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (house, path)
);

-- What the librarian cannot know by itself, and what it was told.
CREATE TABLE librarian_questions (
    house {key} NOT NULL,
    id {key} NOT NULL,
    scope {key} NOT NULL,
    kind {key} NOT NULL,
    about TEXT NOT NULL,
    text TEXT NOT NULL,
    state {key} NOT NULL,
    answer TEXT NOT NULL,
    asked_at {key} NOT NULL,
    answered_at {key} NOT NULL,
    answered_by TEXT NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX librarian_questions_by_state ON librarian_questions (house, state, asked_at);

-- What the librarian would do and a person has to decide.
CREATE TABLE librarian_proposals (
    house {key} NOT NULL,
    id {key} NOT NULL,
    scope {key} NOT NULL,
    kind {key} NOT NULL,
    record_id {key} NOT NULL,
    path {key} NOT NULL,
    text TEXT NOT NULL,
    statement TEXT NOT NULL,
    state {key} NOT NULL,
    made_at {key} NOT NULL,
    decided_at {key} NOT NULL,
    decided_by TEXT NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX librarian_proposals_by_state ON librarian_proposals (house, state, made_at);
CREATE INDEX librarian_proposals_by_record ON librarian_proposals (house, record_id);

-- Each reflection: which records and notes it changed, by their versions before and after, so that a night can be undone.
CREATE TABLE librarian_nights (
    house {key} NOT NULL,
    id {key} NOT NULL,
    at {key} NOT NULL,
    state {key} NOT NULL,
    reader {key} NOT NULL,
    changes TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX librarian_nights_by_time ON librarian_nights (house, at);

-- Mind: what is held now is in the runtime folder; here is what it is made again from. Canonical: entries, compactions.
-- Operational: turns, deliveries.

-- What was said in the one conversation of an agent, in its order. The words are history's: a row names a message. What
-- a user says waits (`turn` 0) until a turn takes it. `role`: user, note (a change of notes), assistant, tool.
-- `channel_key`: a channel's own name of a message, by which one that comes twice is known.
CREATE TABLE mind_entries (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    number BIGINT NOT NULL,
    message_id {key} NOT NULL,
    role {key} NOT NULL,
    turn BIGINT NOT NULL,
    state {key} NOT NULL,
    channel {key} NOT NULL,
    address TEXT NOT NULL,
    at {key} NOT NULL,
    channel_key {key} NOT NULL DEFAULT '',
    PRIMARY KEY (house, agent, number)
);
CREATE UNIQUE INDEX mind_entries_by_message ON mind_entries (house, message_id);
CREATE INDEX mind_entries_by_turn ON mind_entries (house, agent, turn, number);
CREATE UNIQUE INDEX mind_entries_by_channel_key ON mind_entries (house, agent, channel, channel_key)
WHERE channel_key <> '';

-- Each turn, and how it ended: open, done, failed, stopped, refused. `attempts`: how often it was begun. `kind`:
-- `outreach` where the agent wrote first.
CREATE TABLE mind_turns (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    number BIGINT NOT NULL,
    state {key} NOT NULL,
    began_at {key} NOT NULL,
    ended_at {key} NOT NULL,
    reason TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    kind {key} NOT NULL DEFAULT '',
    PRIMARY KEY (house, agent, number)
);
CREATE INDEX mind_turns_by_state ON mind_turns (house, agent, state);
CREATE INDEX mind_turns_by_kind ON mind_turns (house, agent, kind, number) WHERE kind <> '';

-- Where the answer of a turn is to go, and whether it went. `sending` stands there before it is sent: after a crash
-- nobody knows whether it arrived (`unsure`): only channels that can say so send it again (`again`).
CREATE TABLE mind_deliveries (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    turn BIGINT NOT NULL,
    channel {key} NOT NULL,
    address {key} NOT NULL,
    state {key} NOT NULL,
    at {key} NOT NULL,
    PRIMARY KEY (house, agent, turn, channel, address)
);
CREATE INDEX mind_deliveries_by_state ON mind_deliveries (house, channel, state);

-- What stands for the turns up to `through`: the summary as it can be read, and the block as its provider wants it back.
-- Once something in it was forgotten both are empty, and it counts no more.
CREATE TABLE mind_compactions (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    number BIGINT NOT NULL,
    at {key} NOT NULL,
    kind {key} NOT NULL,
    model TEXT NOT NULL,
    through BIGINT NOT NULL,
    summary TEXT NOT NULL,
    block TEXT NOT NULL,
    state {key} NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (house, agent, number)
);

-- Where the person is: the only addresses of a channel that are heard and written to. `paired`, or `blocked` when the
-- other side takes nothing any more.
CREATE TABLE mind_places (
    house {key} NOT NULL,
    channel {key} NOT NULL,
    address {key} NOT NULL,
    name TEXT NOT NULL,
    state {key} NOT NULL,
    since {key} NOT NULL,
    PRIMARY KEY (house, channel, address)
);

-- Codes that make one address a place, each once. Only a salted digest is kept.
CREATE TABLE mind_pairings (
    house {key} NOT NULL,
    channel {key} NOT NULL,
    id {key} NOT NULL,
    salt {key} NOT NULL,
    digest {key} NOT NULL,
    made_at {key} NOT NULL,
    expires_at {key} NOT NULL,
    tries BIGINT NOT NULL,
    PRIMARY KEY (house, channel, id)
);

-- How far a channel has read what waits for it elsewhere: all before it was heard.
CREATE TABLE mind_positions (
    house {key} NOT NULL,
    channel {key} NOT NULL,
    name {key} NOT NULL,
    position BIGINT NOT NULL,
    at {key} NOT NULL,
    PRIMARY KEY (house, channel, name)
);

-- When an agent's next moment of its own is due, for each kind: `outreach`, `reflection`.
CREATE TABLE mind_ticks (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    kind {key} NOT NULL,
    schedule TEXT NOT NULL,
    due_at {key} NOT NULL,
    ran_at {key} NOT NULL,
    PRIMARY KEY (house, agent, kind)
);

-- Runs: what the system did. Diagnostics only.
CREATE TABLE runs_events (
    house {key} NOT NULL,
    id {key} NOT NULL,
    name {key} NOT NULL,
    outcome {key} NOT NULL,
    started_at {key} NOT NULL,
    milliseconds BIGINT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE INDEX runs_events_by_name ON runs_events (house, name, started_at);

-- What every call of a model cost, in millionths of a dollar. A row is there before the call, with what it may cost at
-- the most: a ceiling holds for all workers, and after a crash.
CREATE TABLE runs_spending (
    house {key} NOT NULL,
    id {key} NOT NULL,
    day {key} NOT NULL,
    at {key} NOT NULL,
    purpose {key} NOT NULL,
    model {key} NOT NULL,
    state {key} NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    microdollars BIGINT NOT NULL,
    written_tokens BIGINT NOT NULL DEFAULT 0,
    turn {key} NOT NULL DEFAULT '',
    PRIMARY KEY (house, id)
);
CREATE INDEX runs_spending_by_day ON runs_spending (house, day);
CREATE INDEX runs_spending_by_turn ON runs_spending (house, turn) WHERE turn <> '';

-- By which other programs ask over HTTP. Only a digest of a token is kept; `agent` is empty for the person.
CREATE TABLE access_tokens (
    house {key} NOT NULL,
    id {key} NOT NULL,
    digest {key} NOT NULL,
    agent {key} NOT NULL,
    label TEXT NOT NULL,
    may_write BIGINT NOT NULL,
    made_at {key} NOT NULL,
    expires_at {key} NOT NULL,
    revoked_at {key} NOT NULL,
    last_used_at {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE UNIQUE INDEX access_tokens_by_digest ON access_tokens (house, digest);

-- Sessions in which records were shown, until it is decided whether they were used. `looked`: how far the session was
-- when somebody last looked; `answers`: how often its assistant spoke after the first showing.
CREATE TABLE showings_sessions (
    house {key} NOT NULL,
    scope {key} NOT NULL,
    session_id {key} NOT NULL,
    purpose {key} NOT NULL,
    shown_at {key} NOT NULL,
    looked {key} NOT NULL,
    looked_at {key} NOT NULL,
    answers BIGINT NOT NULL,
    PRIMARY KEY (house, scope, session_id)
);
CREATE INDEX showings_sessions_by_time ON showings_sessions (house, shown_at);

-- What was shown in them. `open`, `used`, or `unused` when the days in which it could be used are over.
CREATE TABLE showings_records (
    house {key} NOT NULL,
    scope {key} NOT NULL,
    session_id {key} NOT NULL,
    record_id {key} NOT NULL,
    version BIGINT NOT NULL,
    shown_at {key} NOT NULL,
    state {key} NOT NULL,
    PRIMARY KEY (house, scope, session_id, record_id)
);
CREATE INDEX showings_records_by_record ON showings_records (house, record_id, scope);

-- What it came to: in how many sessions a record was shown to a scope, how often it was used, and in how many sessions
-- in a row it was not, in the version it has since.
CREATE TABLE showings_counts (
    house {key} NOT NULL,
    scope {key} NOT NULL,
    record_id {key} NOT NULL,
    version BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    used BIGINT NOT NULL,
    unused BIGINT NOT NULL,
    last_shown_at {key} NOT NULL,
    last_used_at {key} NOT NULL,
    last_used_how {key} NOT NULL,
    PRIMARY KEY (house, scope, record_id)
);
CREATE INDEX showings_counts_by_record ON showings_counts (house, record_id);

-- Which record each file of another program's memory folder became, and what the file was then.
CREATE TABLE exchange_facts (
    house {key} NOT NULL,
    computer {key} NOT NULL,
    folder {key} NOT NULL,
    name {key} NOT NULL,
    digest {key} NOT NULL,
    record_id {key} NOT NULL,
    at {key} NOT NULL,
    PRIMARY KEY (house, computer, folder, name)
);
CREATE INDEX exchange_facts_by_record ON exchange_facts (house, record_id);
