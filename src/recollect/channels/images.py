"""Pictures that a person shows, from files."""

from pathlib import Path

from recollect.channels.cleaning import on_one_line
from recollect.errors import Invalid, NotFound
from recollect.mind.channel import Image

MOST_BYTES = 5_000_000
"""What providers take of one picture."""
BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
KINDS = "PNG, JPEG, GIF or WebP"


def image_in(path: str) -> Image:
    name = on_one_line(path)
    try:
        with Path(path).expanduser().open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {name!r}. Give the path of a picture.") from None
    except (OSError, RuntimeError, ValueError) as error:  # A folder; a ~ of nobody; a NUL in a name.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Invalid(f"{name!r} cannot be read: {reason}. Give the path of a picture.") from None
    if len(data) > MOST_BYTES:
        raise Invalid(f"{name!r} is larger than {MOST_BYTES / 1_000_000:.0f} MB. Make the picture smaller.")
    return Image(media_type=_media_type(data, name), data=data)


def _media_type(data: bytes, name: str) -> str:
    """By its first bytes: the ending of a name proves nothing."""
    for beginning, media_type in BEGINNINGS:
        if data.startswith(beginning):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise Invalid(f"{name!r} is no picture that a model takes: {KINDS}.")
