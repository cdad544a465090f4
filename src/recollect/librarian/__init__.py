"""The librarian: reads each finished conversation together with what is known, and files only what it supports.

`reading` makes a readable chat of a conversation, `rules/` or a model (`extraction/`, `prompts/`) find what is worth
keeping, `speech/` and `evidence/` drop what nobody said or meant, `filing` makes records of it, `shelves/` show the
records as Markdown that people edit, `working/` does all that in the background, `nights/` look back. Records and
episodes of one conversation are written in one transaction with its new status; shelves follow the records.
"""
