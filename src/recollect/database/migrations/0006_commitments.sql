-- Open commitments stand in every context. There are few of them among many records: found without reading those.
CREATE INDEX knowledge_records_commitments ON knowledge_records (house, scope, kind, learned_at, id)
    WHERE believed_until = '' AND state = 'current' AND kind = 'commitment';
