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
