"""Signatures of the webhook: what is taken, what is refused, and that no secret is told."""

import base64
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.channels.webhook.signing import (
    ID,
    MOST_SECONDS,
    SIGNATURE,
    TIMESTAMP,
    Secret,
    claimed_id,
    secrets_in,
    sign,
    signed_headers,
    verified,
)
from recollect.errors import Denied, Invalid

PAGE = Path(__file__).parents[2] / "docs" / "channels" / "webhook.md"
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
SECRET = Secret(b"the swifts are back in the yard")
OTHER = Secret(b"the storks have gone to Morocco")
BODY = '{"address": "+49 30 1234", "text": "Grüße"}'.encode()
VARIABLE = "SOME_SECRET"


def headers(body: bytes = BODY, at: datetime = NOW, *secrets: Secret) -> dict[str, str]:
    return signed_headers(secrets or (SECRET,), "msg_1", at, body)


def encoded(key: bytes) -> str:
    return "whsec_" + base64.b64encode(key).decode()


def test_the_published_example_of_standard_webhooks_gives_its_signature() -> None:
    key = "MfKQ9r8GKYqr" + "TwjUPD8ILPZIo2LaLaSw"
    (secret,) = secrets_in(f"whsec_{key}", VARIABLE)
    signature = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_worked_example_of_the_page_is_right() -> None:
    text = PAGE.read_text(encoding="utf-8")
    values = dict(re.findall(r"^\| `?([\w-]+)`? +\| `(.*)` +\|$", text, re.MULTILINE))
    secrets = secrets_in(values["secret"], VARIABLE)
    body = values["body"].encode()
    signature = sign(secrets[0], values[ID], int(values[TIMESTAMP]), body)
    assert signature == values[SIGNATURE]
    by_hand = hmac.new(
        values["secret"].encode(), f"{values[ID]}.{values[TIMESTAMP]}.{values['body']}".encode(), hashlib.sha256
    )
    assert values[SIGNATURE] == f"v1,{base64.b64encode(by_hand.digest()).decode()}"
    now = datetime.fromtimestamp(int(values[TIMESTAMP]), UTC)
    assert verified(secrets, values, body, now) == values[ID]


@given(
    st.binary(max_size=300), st.text("abc-_.0189", min_size=1, max_size=30), st.integers(-MOST_SECONDS, MOST_SECONDS)
)
def test_what_was_signed_is_verified_within_five_minutes(body: bytes, message_id: str, seconds: int) -> None:
    signed = signed_headers([SECRET], message_id, NOW, body)
    assert verified([SECRET], signed, body, NOW + timedelta(seconds=seconds)) == message_id


@given(st.data())
def test_a_body_that_differs_by_one_bit_is_refused(data: st.DataObject) -> None:
    changed = bytearray(BODY)
    changed[data.draw(st.integers(0, len(BODY) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Denied, match="not right"):
        verified([SECRET], headers(), bytes(changed), NOW)


@pytest.mark.parametrize("body", [BODY + b" ", BODY[:-1], b""])
def test_a_body_that_was_made_longer_or_shorter_is_refused(body: bytes) -> None:
    with pytest.raises(Denied, match="not right"):
        verified([SECRET], headers(), body, NOW)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (SIGNATURE, "v1,AAAA"),
        (SIGNATURE, "v1"),
        (SIGNATURE, "v1,größe"),
        (SIGNATURE, "v2," + sign(SECRET, "msg_1", int(NOW.timestamp()), BODY).removeprefix("v1,")),
        (SIGNATURE, " "),
        (ID, "msg_2"),
        (TIMESTAMP, str(int(NOW.timestamp()) + 1)),
    ],
)
def test_a_header_that_was_changed_is_refused(name: str, value: str) -> None:
    with pytest.raises(Denied, match="not right"):
        verified([SECRET], {**headers(), name: value}, BODY, NOW)


@pytest.mark.parametrize("name", [ID, TIMESTAMP, SIGNATURE])
def test_a_header_that_is_missing_is_named(name: str) -> None:
    signed = headers()
    del signed[name]
    with pytest.raises(Denied, match=name):
        claimed_id(signed, NOW)


@pytest.mark.parametrize("timestamp", ["", "soon", "1e9", "-1", "12.5", "٣", "9" * 13, "0x10"])
def test_a_time_that_is_none_is_refused(timestamp: str) -> None:
    with pytest.raises(Denied, match=TIMESTAMP):
        claimed_id({**headers(), TIMESTAMP: timestamp}, NOW)


@pytest.mark.parametrize("message_id", ["a b", "x" * 201, "ä", "a\n"])
def test_an_id_that_is_none_is_refused(message_id: str) -> None:
    with pytest.raises(Denied, match=ID):
        claimed_id({**headers(), ID: message_id}, NOW)


def test_a_message_that_is_too_old_or_from_the_future_is_refused_and_told_why() -> None:
    with pytest.raises(Denied, match=r"301 seconds ago.*same id"):
        verified([SECRET], headers(), BODY, NOW + timedelta(seconds=301))
    with pytest.raises(Denied, match=r"301 seconds from now.*clocks"):
        verified([SECRET], headers(), BODY, NOW - timedelta(seconds=301))


def test_while_a_secret_is_replaced_both_are_good_in_both_directions() -> None:
    both = secrets_in("the-new-secret-of-spring  the-old-secret-of-winter", VARIABLE)
    new, old = both
    for known in (new, old):
        assert verified(both, headers(BODY, NOW, known), BODY, NOW) == "msg_1"
        assert verified([known], headers(BODY, NOW, *both), BODY, NOW) == "msg_1"
    with pytest.raises(Denied):
        verified(both, headers(BODY, NOW, OTHER), BODY, NOW)


def test_signatures_of_versions_that_nobody_knows_yet_are_passed_over() -> None:
    signed = headers()
    signed[SIGNATURE] = f"v1a,abcd {signed[SIGNATURE]} v9,efgh"
    assert verified([SECRET], signed, BODY, NOW) == "msg_1"


@given(st.binary(min_size=16, max_size=64))
def test_a_secret_in_base64_is_the_bytes_it_stands_for(key: bytes) -> None:
    assert secrets_in(encoded(key), VARIABLE) == (Secret(key),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no secret"),
        (" \n", "no secret"),
        ("fifteen-letters", "too short"),
        ("long-enough-for-a-secret briefly", "too short"),
        (encoded(b"fifteen letters"), "too short"),
        ("whsec_no base64!", "no base64"),
        ("whsec_größe-und-länge", "no base64"),
    ],
)
def test_a_secret_that_is_missing_weak_or_broken_is_refused_without_being_told(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        secrets_in(text, VARIABLE)
    assert VARIABLE in str(refused.value)
    assert not any(one in str(refused.value) for one in text.split())
    assert refused.value.__cause__ is None


def test_no_secret_is_in_what_python_prints_of_it() -> None:
    assert "swifts" not in repr(SECRET) + str(SECRET)
