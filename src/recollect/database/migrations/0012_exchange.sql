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
