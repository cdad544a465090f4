-- Recall: which messages were touched, so that an index can follow. What is there already has no rows: a new index
-- reads all messages once.
CREATE TABLE history_changes (
    house {key} NOT NULL,
    change BIGINT NOT NULL,
    message_id {key} NOT NULL,
    PRIMARY KEY (house, change, message_id)
);
CREATE TABLE history_feed (
    house {key} NOT NULL,
    id {key} NOT NULL,
    forgotten BIGINT NOT NULL,
    PRIMARY KEY (house)
);
