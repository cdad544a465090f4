"""What is learned of a conversation while it goes on: after each exchange, from its newest words."""
