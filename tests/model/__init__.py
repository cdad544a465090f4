"""Real models on this computer (`make test-model`): their weights, and the server that runs them."""
