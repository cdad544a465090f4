"""Places: where the person is. The only addresses of a channel that are heard and written to.

An address becomes a place by a code that is good once and for minutes, or by the word of the person at the computer.
Only `Places` writes these tables, and those of how far a channel has read.
"""
