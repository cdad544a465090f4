"""What a model is asked, one question a file, each beside the form of its answer."""
