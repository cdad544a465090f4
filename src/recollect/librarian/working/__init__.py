"""The worker: which conversations are queued, who has claimed one, and that each is filed once."""
