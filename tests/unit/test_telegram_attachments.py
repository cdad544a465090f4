"""What comes along with a message of Telegram: what becomes of it by its bytes, and when it cannot be had."""

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.channels.telegram.attachments import MOST_FILE_BYTES, MOST_TEXT_BYTES, fetched
from recollect.channels.telegram.errors import BadRequest, TokenRefused, TooLarge
from recollect.channels.telegram.updates import Attachment
from recollect.errors import NotFound, RecollectError, Unavailable
from recollect.mind.channel import File, Image
from recollect.mind.saying import MOST_IMAGE_BYTES

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 16
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 16
PDF = b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n"


class Shelf:
    """Files by their ids; an error instead of bytes is what comes when somebody asks."""

    def __init__(self, files: Mapping[str, bytes | RecollectError], size: int = 0) -> None:
        self._files = files
        self._size = size
        self.asked: list[str] = []

    async def get_file(self, file_id: str) -> tuple[str, int]:
        self.asked.append(file_id)
        return f"files/{file_id}", self._size

    async def download(self, path: str, most_bytes: int) -> bytes:
        found = self._files[path.removeprefix("files/")]
        if isinstance(found, RecollectError):
            raise found
        if len(found) > most_bytes:
            raise TooLarge("The file is larger than a bot may fetch.")
        return found


def attachment(name: str = "a.bin", media_type: str = "application/octet-stream", size: int = 0) -> Attachment:
    return Attachment(file_id="F", name=name, media_type=media_type, size=size)


def fetch(given: bytes | RecollectError, one: Attachment) -> tuple[tuple[Image, ...], tuple[File, ...], str]:
    return asyncio.run(fetched(Shelf({"F": given}), [one]))


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (b"GIF89a..", "image/gif"), (b"RIFF....WEBPVP8 ", "image/webp")],
)
def test_a_picture_is_one_by_its_bytes_whatever_it_is_called(data: bytes, media_type: str) -> None:
    assert fetch(data, attachment("x.txt", "text/plain")) == ((Image(media_type=media_type, data=data),), (), "")


def test_a_picture_too_large_for_a_model_is_kept_as_a_file() -> None:
    data = PNG + b"\x00" * MOST_IMAGE_BYTES
    images, files, words = fetch(data, attachment("big.png", "image/png"))
    assert (images, words) == ((), "")
    assert files == (File(name="big.png", media_type="image/png", data=data),)


def test_a_text_becomes_words_with_its_name() -> None:
    assert fetch("\ufeffGrüße\r\nzwei\n".encode(), attachment("a.md")) == ((), (), "[File a.md]\n```\nGrüße\nzwei\n```")


def test_a_text_with_fences_ends_where_the_file_does() -> None:
    _, _, words = fetch(b"````\ncode\n````", attachment("a.md"))
    assert words == "[File a.md]\n`````\n````\ncode\n````\n`````"


@pytest.mark.parametrize("data", [PDF, b"\x00\x01", "ü".encode("latin-1"), b"a" * (MOST_TEXT_BYTES + 1)])
def test_what_is_no_text_that_fits_is_kept_as_a_file(data: bytes) -> None:
    kept = File(name="a.bin", media_type="application/octet-stream", data=data)
    assert fetch(data, attachment()) == ((), (kept,), "")


def test_a_file_of_50_mb_is_told_and_not_asked_for() -> None:
    shelf = Shelf({})
    assert asyncio.run(fetched(shelf, [attachment("film.mp4", size=50_000_000)])) == (
        (),
        (),
        "[File film.mp4, 50.0 MB: too large for a bot to fetch; it was not kept.]",
    )
    assert shelf.asked == []


def test_a_file_whose_size_is_told_late_is_not_fetched() -> None:
    shelf = Shelf({}, size=50_000_000)
    _, _, words = asyncio.run(fetched(shelf, [attachment("film.mp4")]))
    assert words == "[File film.mp4, 50.0 MB: too large for a bot to fetch; it was not kept.]"


def test_a_file_that_is_larger_than_it_said_is_told() -> None:
    told = "[File a.bin: too large for a bot to fetch; it was not kept.]"
    assert fetch(b"a" * (MOST_FILE_BYTES + 1), attachment()) == ((), (), told)


def test_a_file_that_is_gone_is_told() -> None:
    _, _, words = fetch(NotFound("gone"), attachment("a.pdf"))
    assert words == "[File a.pdf: Telegram does not have it any more; it was not kept.]"


def test_a_file_that_telegram_refuses_is_told_with_the_reason() -> None:
    _, _, words = fetch(BadRequest("wrong file_id"), attachment("a.pdf"))
    assert words == "[File a.pdf: it was not kept. Telegram refused it: wrong file_id]"


def test_an_empty_file_is_told() -> None:
    assert fetch(b"", attachment("a.txt")) == ((), (), "[File a.txt: it is empty.]")


@pytest.mark.parametrize("error", [Unavailable("No network."), TokenRefused("The token is refused.")])
def test_what_may_be_had_later_is_raised(error: RecollectError) -> None:
    with pytest.raises(type(error)):
        fetch(error, attachment())


def test_several_are_kept_in_their_order() -> None:
    shelf = Shelf({"p": PNG, "t": b"one", "u": b"two", "f": PDF})
    given = [Attachment(file_id=one, name=one, media_type="a/b", size=3) for one in "tpfu"]
    images, files, words = asyncio.run(fetched(shelf, given))
    assert [image.media_type for image in images] == ["image/png"]
    assert [file.name for file in files] == ["f"]
    assert words == "[File t]\n```\none\n```\n\n[File u]\n```\ntwo\n```"


@given(st.binary(max_size=64) | st.text(max_size=64).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_one_of_picture_file_or_words(data: bytes) -> None:
    images, files, words = fetch(data, attachment())
    assert len(images) + len(files) + bool(words) == 1
    assert all(file.data == data for file in files)
