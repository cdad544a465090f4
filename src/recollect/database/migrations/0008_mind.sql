-- What was said in the one conversation of an agent, in its order. The words are history's: a row names a message. What
-- a user says waits (`turn` 0) until a turn takes it. `role`: user, note (a change of notes), assistant, tool.
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
    PRIMARY KEY (house, agent, number)
);
CREATE UNIQUE INDEX mind_entries_by_message ON mind_entries (house, message_id);
CREATE INDEX mind_entries_by_turn ON mind_entries (house, agent, turn, number);

-- Each turn, and how it ended: open, done, failed, stopped, refused. `attempts`: how often it was begun.
CREATE TABLE mind_turns (
    house {key} NOT NULL,
    agent {key} NOT NULL,
    number BIGINT NOT NULL,
    state {key} NOT NULL,
    began_at {key} NOT NULL,
    ended_at {key} NOT NULL,
    reason TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (house, agent, number)
);
CREATE INDEX mind_turns_by_state ON mind_turns (house, agent, state);

-- Where the answer of a turn is to go, and whether it went. `sending` stands there before it is sent: after a crash
-- nobody knows whether it arrived, and it is not sent again.
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

-- Of the input, what was written to a provider's cache; and the turn of a mind that a call was for.
ALTER TABLE runs_spending ADD COLUMN written_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs_spending ADD COLUMN turn {key} NOT NULL DEFAULT '';
CREATE INDEX runs_spending_by_turn ON runs_spending (house, turn) WHERE turn <> '';
