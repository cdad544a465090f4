-- A channel's own name of a message, by which one that comes twice is known. Empty: it has none.
ALTER TABLE mind_entries ADD COLUMN channel_key {key} NOT NULL DEFAULT '';
CREATE UNIQUE INDEX mind_entries_by_channel_key ON mind_entries (house, agent, channel, channel_key)
WHERE channel_key <> '';

-- Who began a turn. Empty: a user, who said something. `outreach`: the agent, who wrote first.
ALTER TABLE mind_turns ADD COLUMN kind {key} NOT NULL DEFAULT '';
CREATE INDEX mind_turns_by_kind ON mind_turns (house, agent, kind, number) WHERE kind <> '';

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
