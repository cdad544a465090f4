"""The doors for people and programs. Each parses, calls one method of Memory, and renders; no SQL, no policy."""
