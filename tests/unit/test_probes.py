"""Keyed fingerprints find what they were made of, wherever it stands, and nothing else."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recollect.forgetting.probes import WINDOW, Fingerprint, Probes, Search, probes_of
from recollect.lineage import Hasher

HASHER = Hasher(b"s" * 32)
FINGERPRINT = Fingerprint(HASHER)
SENTENCE = "The spare key lies under the third pot of thyme."


def search(text: str) -> Search:
    return Search(FINGERPRINT, probes_of(FINGERPRINT, [text.encode()]))


def test_a_text_is_found_in_the_middle_of_other_bytes() -> None:
    data = b"\x00\xff" * 500 + SENTENCE.encode() + b"\x01" * 77
    places, _ = search(SENTENCE).find(data)
    assert 1_000 in places.tolist()


def test_a_text_is_found_in_json_that_escapes_it() -> None:
    text = f'She said: "{SENTENCE}"\nAnd then\t"goodbye".'
    places, _ = search(text).find(json.dumps({"message": text}).encode())
    assert len(places)


def test_another_secret_gives_other_fingerprints() -> None:
    made = probes_of(FINGERPRINT, [SENTENCE.encode()])
    places, _ = Search(Fingerprint(Hasher(b"t" * 32)), made).find(SENTENCE.encode())
    assert not len(places)


def test_probes_are_kept_as_bytes() -> None:
    made = probes_of(FINGERPRINT, [SENTENCE.encode()])
    places, hashes = Search(FINGERPRINT, Probes.read(made.packed())).find(SENTENCE.encode())
    assert len(places)
    assert not len(made.without(made.rows["hash"].tolist()))
    assert set(hashes.tolist()) <= set(made.rows["hash"].tolist())


def test_what_is_everywhere_is_not_looked_for() -> None:
    assert not len(probes_of(FINGERPRINT, [b"-" * 200, b" " * 200, b"short"]))


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), min_size=1, max_size=200), st.binary(max_size=60))
def test_whatever_has_a_telling_window_is_found_where_it_stands(text: str, before: bytes) -> None:
    made = probes_of(FINGERPRINT, [text.encode()])
    places, _ = Search(FINGERPRINT, made).find(before + text.encode())
    assert bool(len(made)) == bool(len(places))


@given(st.binary(max_size=400), st.binary(min_size=WINDOW, max_size=60))
def test_only_what_was_forgotten_is_found(data: bytes, content: bytes) -> None:
    made = probes_of(FINGERPRINT, [content])
    places, _ = Search(FINGERPRINT, made).find(data)
    for place in places.tolist():
        assert data[place : place + WINDOW] in content
