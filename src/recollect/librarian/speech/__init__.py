"""Whose words they are, and whether they state anything: not what was pasted, quoted, injected, asked or joked."""
