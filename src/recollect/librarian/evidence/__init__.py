"""Evidence: each item must be said, in these words, by who may say it. What is not is dropped and counted."""
