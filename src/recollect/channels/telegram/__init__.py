"""Telegram: a bot by which the person and the agent talk. Its own small client of the Bot API, by long polling."""
