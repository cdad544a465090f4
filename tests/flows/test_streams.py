"""Standard streams that are closed or full: programs start programs in odd ways."""

import subprocess
from pathlib import Path

import pytest
from commands import Result, command, environment, run

FULL = Path("/dev/full")


def in_a_shell(redirection: str, *arguments: str, home: Path) -> Result:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command(*arguments)],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def test_a_closed_input_is_an_empty_one(home: Path) -> None:
    made = run("remember", "Beans need warm soil.", "--json", home=home).json()

    done = in_a_shell("<&-", "remember", "-", home=home)
    assert (done.code, done.explains("the text is empty")) == (2, True)
    done = in_a_shell("<&-", "edit", made["id"], home=home)
    assert (done.code, done.explains("give the new TEXT")) == (2, True)


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["people", "programs"])
def test_what_nobody_reads_is_done_all_the_same(options: list[str], home: Path) -> None:
    for command_line in (["remember", "Beans need warm soil."], ["records"], ["context"], ["agents"]):
        assert in_a_shell(">&-", *command_line, *options, home=home) == Result(0, "", "")

    assert in_a_shell("2>&-", "record", "beef", *options, home=home).code == 3
    assert len(run("records", "--json", home=home).json()) == 1


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["people", "programs"])
def test_output_on_a_full_disk_is_named(options: list[str], home: Path) -> None:
    run("remember", "Beans need warm soil.", home=home)

    for name in ("records", "context"):
        done = in_a_shell(f"> {FULL}", name, *options, home=home)
        assert (done.code, done.explains("The disk is full.")) == (6, True)
