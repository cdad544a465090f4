"""How many tokens a text costs, estimated without a model and without a network.

No provider publishes the tokenizer of its current models, and each has another, so a number that is right everywhere
cannot be had. One that errs on the safe side can: prose has about four bytes a token and more, code and Chinese about
three. A budget that is kept by this estimate is kept by the models that are in use, save for texts that are mostly
random characters (hashes, base64).
"""

BYTES_PER_TOKEN = 3


def estimate(text: str) -> int:
    """The same text always gives the same number; a text in two parts never less than the whole."""
    return of_bytes(len(text.encode("utf-8", "surrogatepass")))


def of_bytes(number: int) -> int:
    """For who knows how long a text will be before it is written."""
    return -(-number // BYTES_PER_TOKEN)
