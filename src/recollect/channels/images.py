"""Pictures that a person shows, from files."""

from pathlib import Path

from recollect.channels.cleaning import on_one_line
from recollect.errors import Invalid, NotFound
from recollect.mind.channel import Image
from recollect.mind.saying import MOST_IMAGE_BYTES, media_type_of


def image_in(path: str) -> Image:
    """What kind it is, its bytes say: the ending of a name proves nothing."""
    name = on_one_line(path)
    try:
        with Path(path).expanduser().open("rb") as stream:
            data = stream.read(MOST_IMAGE_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {name!r}. Give the path of a picture.") from None
    except (OSError, RuntimeError, ValueError) as error:  # A folder; a ~ of nobody; a NUL in a name.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Invalid(f"{name!r} cannot be read: {reason}. Give the path of a picture.") from None
    if len(data) > MOST_IMAGE_BYTES:
        raise Invalid(f"{name!r} is larger than {MOST_IMAGE_BYTES / 1e6:.0f} MB. Make the picture smaller.")
    media_type = media_type_of(data)
    if not media_type:
        raise Invalid(f"{name!r} is no picture that a model reads. Give a PNG, JPEG, GIF or WebP.")
    return Image(media_type=media_type, data=data)
