-- Sources: a transcript may lie inside another file, such as an export, an archive or a database.
ALTER TABLE history_files ADD COLUMN container_id {key} NOT NULL DEFAULT '';
CREATE INDEX history_files_by_container ON history_files (house, container_id) WHERE container_id <> '';
