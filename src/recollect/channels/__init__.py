"""Channels: the ways by which somebody talks with the mind. `mind.channel` says what one is; each is one file here."""
