"""`recollect token`."""

from pathlib import Path

from commands import run

from recollect.access import looks_like_secret


def test_a_token_is_shown_once_listed_and_revoked(home: Path) -> None:
    run("agents", "add", "ada", home=home)
    made = run("token", "create", "--agent", "ada", "--read-only", "--expires", "in 30 days", "--label", "x", home=home)
    secret = made.out.strip()
    assert looks_like_secret(secret)
    assert "only time" in made.err
    listed = run("token", "list", home=home)
    assert secret not in listed.out
    assert "ada" in listed.out
    assert "read" in listed.out
    (one,) = run("token", "--json", home=home).json()
    assert (one["agent"], one["may_write"], one["label"]) == ("ada", False, "x")
    assert run("token", "revoke", one["id"], home=home).code == 0
    assert "revoked" in run("token", home=home).out
    again = run("token", "revoke", one["id"], home=home)
    assert again.code == 5
    assert again.explains("was revoked")


def test_programs_are_told_the_secret_in_the_one_document(home: Path) -> None:
    made = run("token", "create", "--json", home=home).json()
    assert looks_like_secret(made["secret"])
    assert made["agent"] == ""
    assert made["may_write"] is True


def test_a_token_whose_agent_was_removed_is_listed_so(home: Path) -> None:
    run("agents", "add", "ada", home=home)
    run("token", "create", "--agent", "ada", home=home)
    run("agents", "remove", "ada", home=home)

    assert "its agent is gone" in run("token", "list", home=home).out
    assert [one["is_agent_gone"] for one in run("token", "list", "--json", home=home).json()] == [True]


def test_with_no_tokens_it_says_how_to_make_one(home: Path) -> None:
    assert "token create" in run("token", home=home).out


def test_an_agent_that_is_not_there_is_named(home: Path) -> None:
    refused = run("token", "create", "--agent", "nobody", home=home)
    assert refused.code == 3
    assert refused.explains("nobody", "recollect agents")
