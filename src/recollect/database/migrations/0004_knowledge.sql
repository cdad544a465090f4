-- The feed of changes is one for everything that is indexed, not only for messages. It is operational: who followed the
-- old one begins anew.
DROP TABLE history_changes;
DROP TABLE history_feed;
CREATE TABLE feed_changes (
    house {key} NOT NULL,
    change BIGINT NOT NULL,
    kind {key} NOT NULL,
    id {key} NOT NULL,
    PRIMARY KEY (house, change, kind, id)
);
CREATE TABLE feed_state (
    house {key} NOT NULL,
    id {key} NOT NULL,
    forgotten BIGINT NOT NULL,
    PRIMARY KEY (house)
);
CREATE TABLE feed_followers (
    house {key} NOT NULL,
    name {key} NOT NULL,
    change BIGINT NOT NULL,
    PRIMARY KEY (house, name)
);

-- Scopes: who sees what.
CREATE TABLE scopes (
    house {key} NOT NULL,
    id {key} NOT NULL,
    kind {key} NOT NULL,
    parent_id {key} NOT NULL,
    made_at {key} NOT NULL,
    PRIMARY KEY (house, id)
);
CREATE TABLE scope_grants (
    house {key} NOT NULL,
    scope {key} NOT NULL,
    target {key} NOT NULL,
    granted_at {key} NOT NULL,
    PRIMARY KEY (house, scope, target)
);
CREATE TABLE scope_bindings (
    house {key} NOT NULL,
    source {key} NOT NULL,
    prefix {key} NOT NULL,
    scope {key} NOT NULL,
    bound_at {key} NOT NULL,
    PRIMARY KEY (house, source, prefix)
);
ALTER TABLE history_files ADD COLUMN scope {key} NOT NULL DEFAULT 'house';
CREATE INDEX history_files_by_scope ON history_files (house, scope) WHERE scope <> 'house';
ALTER TABLE history_titles ADD COLUMN file_id {key} NOT NULL DEFAULT '';

-- Lineage: what came from what, and what was forgotten.
CREATE TABLE lineage_edges (
    house {key} NOT NULL,
    from_kind {key} NOT NULL,
    from_id {key} NOT NULL,
    to_kind {key} NOT NULL,
    to_id {key} NOT NULL,
    PRIMARY KEY (house, from_kind, from_id, to_kind, to_id)
);
CREATE INDEX lineage_edges_by_derived ON lineage_edges (house, to_kind, to_id);
CREATE TABLE lineage_keys (
    house {key} NOT NULL,
    secret {bytes} NOT NULL,
    PRIMARY KEY (house)
);
CREATE TABLE lineage_tombstones (
    house {key} NOT NULL,
    hash {key} NOT NULL,
    kind {key} NOT NULL,
    origin {key} NOT NULL,
    PRIMARY KEY (house, hash, origin)
);
CREATE INDEX lineage_tombstones_by_origin ON lineage_tombstones (house, origin);
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
CREATE TABLE lineage_exports (
    house {key} NOT NULL,
    id {key} NOT NULL,
    at {key} NOT NULL,
    kind {key} NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (house, id)
);

-- Knowledge: what was learned.
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
CREATE TABLE knowledge_marker_reports (
    house {key} NOT NULL,
    message_id {key} NOT NULL,
    place BIGINT NOT NULL,
    problem {key} NOT NULL,
    reported_at {key} NOT NULL,
    PRIMARY KEY (house, message_id, place)
);
