"""Reading by a model: parts of a conversation, what is known, the question (`prompts/`), the kept reply, its items."""
