"""What may be said to a mind: checked before it is written down, so that a clear word comes back at once."""

from dataclasses import replace

from recollect.errors import Invalid
from recollect.history.privacy import keeps_itself_out
from recollect.mind.channel import Image, Said
from recollect.texts import clean

MOST_CHARACTERS = 4_000_000
PRIVATE = "[private]"
"""Counts here with words behind it, too: who writes it means it, and what is sent cannot be taken back."""
MOST_IMAGE_BYTES = 5_000_000
"""What providers take for one."""
MOST_IMAGES = 20
_SIGNS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def checked(said: Said) -> Said:
    if not said.channel:
        raise Invalid("A message needs the name of the channel it came by.")
    if not said.text.strip() and not said.images and not said.files:
        raise Invalid("There is nothing to say in an empty message. Write some words.")
    if len(said.text) > MOST_CHARACTERS:
        raise Invalid(
            f"A message of {len(said.text):,} characters is too long: {MOST_CHARACTERS:,} at the most. Save it as a "
            "file and take that in with `recollect ingest`, or send it in parts."
        )
    if keeps_itself_out(said.text) or said.text.lstrip().lower().startswith(PRIVATE):
        raise Invalid(
            "The message is marked to stay out of memory, and this conversation is memory: it was neither kept nor "
            "sent. Take the mark out, or say it elsewhere."
        )
    if len(said.images) > MOST_IMAGES:
        raise Invalid(f"{len(said.images)} images are too many: {MOST_IMAGES} at the most in one message.")
    for image in said.images:
        _check(image)
    return replace(said, text=clean(said.text))


def media_type_of(data: bytes) -> str:
    """By its first bytes; empty: none that a model reads."""
    for media_type, signs in _SIGNS.items():
        if data.startswith(signs) and (media_type != "image/webp" or data[8:12] == b"WEBP"):
            return media_type
    return ""


def _check(image: Image) -> None:
    if len(image.data) > MOST_IMAGE_BYTES:
        size = f"{len(image.data) / 1e6:.1f} MB"
        raise Invalid(f"An image of {size} is too large: {MOST_IMAGE_BYTES / 1e6:.0f} MB at the most. Make it smaller.")
    found = media_type_of(image.data)
    if not found:
        raise Invalid("The image is none that a model reads. Give a PNG, JPEG, GIF or WebP.")
    if found != image.media_type:
        raise Invalid(f"The image is called {image.media_type} and is {found}. Call it what it is.")
