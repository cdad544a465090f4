-- The tables of the index. All derived: another SCHEMA_VERSION in schema.py, and they are dropped and made anew.
-- {key} is text that compares byte by byte, {bytes} is binary. Every key starts with the house, then the generation:
-- one whole build of the index.

CREATE TABLE recall_schema (
    version BIGINT PRIMARY KEY
);

-- state: serving, building, retired. What made it: words_version, static_model, storage (where
-- its vectors lie), feed_id. How far it is: change (of the
-- feed), said_at and said_id (while is_paged = 0, of the first reading of everything). step counts the commits of
-- followers, version every commit. sources and scopes are JSON lists: a document's source is a place in the one, its
-- scope a place in the other.
CREATE TABLE recall_generations (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    state {key} NOT NULL,
    words_version BIGINT NOT NULL,
    static_model TEXT NOT NULL,
    storage TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    change BIGINT NOT NULL,
    is_paged BIGINT NOT NULL,
    said_at {key} NOT NULL,
    said_id {key} NOT NULL,
    step BIGINT NOT NULL,
    version BIGINT NOT NULL,
    next_doc BIGINT NOT NULL,
    next_conversation BIGINT NOT NULL,
    documents BIGINT NOT NULL,
    dead BIGINT NOT NULL,
    sources TEXT NOT NULL,
    scopes TEXT NOT NULL,
    PRIMARY KEY (house, generation)
);

-- The number of a document, whose id is that of its message, of its record with the version, or of its note with the
-- section. thing: what it is a version or a section of; empty for a message. A document that died has no row.
CREATE TABLE recall_documents (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    document_id {key} NOT NULL,
    thing {key} NOT NULL,
    doc BIGINT NOT NULL,
    text_digest BIGINT NOT NULL,
    facts_digest BIGINT NOT NULL,
    PRIMARY KEY (house, generation, document_id)
){clustered};
CREATE INDEX recall_documents_by_doc ON recall_documents (house, generation, doc);
CREATE INDEX recall_documents_by_thing ON recall_documents (house, generation, thing) WHERE thing <> '';

CREATE TABLE recall_conversations (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    key {key} NOT NULL,
    conversation BIGINT NOT NULL,
    PRIMARY KEY (house, generation, key)
){clustered};
CREATE INDEX recall_conversations_by_number ON recall_conversations (house, generation, conversation);

-- Where a term stands: block = doc / 8192; three bytes for each document, ascending (formats.py).
CREATE TABLE recall_postings (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    term {key} NOT NULL,
    block BIGINT NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (house, generation, term, block)
){clustered};

-- What is known of 512 neighbouring documents (block = doc / 512): facts, and for each model how many passages a
-- document has, and their vectors. version: of the generation when the row was last written.
CREATE TABLE recall_blocks (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    kind {key} NOT NULL,
    block BIGINT NOT NULL,
    version BIGINT NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (house, generation, kind, block)
);
CREATE INDEX recall_blocks_by_version ON recall_blocks (house, generation, version);
