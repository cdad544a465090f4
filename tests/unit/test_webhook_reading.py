"""Whatever is sent to the webhook, or written into its settings, is understood or refused in words of ours."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.channels.webhook.listening import listening_place
from recollect.channels.webhook.receiving import MOST_CHARACTERS, Message, read_message
from recollect.channels.webhook.sending import checked_host
from recollect.channels.webhook.signing import ID, SIGNATURE, TIMESTAMP, Secret, verified
from recollect.errors import Denied, Invalid
from recollect.texts import clean

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
FIELDS = st.sampled_from(["address", "text", "name", "images", "media_type", "data", "colour"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


def is_understood(raw: bytes) -> Message | None:
    try:
        return read_message(raw)
    except Invalid:
        return None


@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200))
def test_any_body_is_a_message_or_is_refused(raw: bytes) -> None:
    message = is_understood(raw)
    if message:
        assert message.address.strip()
        assert len(message.address) <= MOST_CHARACTERS
        assert message.address.isprintable()


@given(st.text("ab +0", min_size=1, max_size=50).filter(str.strip), st.text(), st.text("abc ", max_size=50))
def test_a_message_is_read_as_it_was_written(address: str, text: str, name: str) -> None:
    raw = json.dumps({"address": address, "text": text, "name": name}).encode()
    assert is_understood(raw) == Message(address=address, text=clean(text), name=name)


@given(st.text(max_size=40) | st.from_regex(r"[0-9a-f.:\[\]]{0,20}:[0-9]{0,6}", fullmatch=True))
def test_only_this_computer_is_listened_on_whatever_is_written(listen: str) -> None:
    try:
        host, port = listening_place(listen)
    except Invalid:
        return
    assert ip_address(host).is_loopback
    assert 0 <= port <= 65_535


@given(st.text(max_size=40) | st.text("htps:/@[]?#.a1", max_size=30))
def test_any_address_to_send_to_has_a_host_or_is_refused(url: str) -> None:
    with suppress(Invalid):
        assert checked_host(url)


@given(st.dictionaries(st.sampled_from([ID, TIMESTAMP, SIGNATURE]), st.text(max_size=30)), st.binary(max_size=30))
def test_any_headers_that_nobody_signed_are_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(Denied):
        verified([Secret(b"the swifts are back in the yard")], headers, body, NOW)
