"""Looking back once a night: what is pruned and promoted, inside a share that can be undone."""
