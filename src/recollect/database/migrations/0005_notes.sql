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
