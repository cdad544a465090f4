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
