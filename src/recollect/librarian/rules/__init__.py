"""The librarian without a model: what is said outright is found by its form, and quoted.

It says less than it could and nothing that was not said. Pure: turns in, an `Extract` out.
"""
