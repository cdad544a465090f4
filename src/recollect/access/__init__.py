"""Access: the tokens by which other programs ask over HTTP.

A token speaks for the person of the house or for one agent, may be for reading alone, may expire, and can be revoked.
Only a person makes and revokes tokens. The secret itself is shown once, when it is made: what is kept is a digest, so
that whoever reads the database cannot ask with it. It is random and long, so that a plain digest is enough.
"""

from recollect.access.access import Access, Created, looks_like_secret
from recollect.access.store import Token

__all__ = ["Access", "Created", "Token", "looks_like_secret"]
