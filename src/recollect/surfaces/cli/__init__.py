"""The command line. `main` is the door; one module per group of commands."""
