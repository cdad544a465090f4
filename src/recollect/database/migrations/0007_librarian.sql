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
    PRIMARY KEY (house, id)
);
CREATE INDEX runs_spending_by_day ON runs_spending (house, day);

-- What changed today is found without reading the whole stream.
CREATE INDEX knowledge_events_by_time ON knowledge_events (house, at);
