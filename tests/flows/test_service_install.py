"""`recollect service`: the file it writes is read by the system as it was meant, and goes again without a trace."""

import json
import os
import plistlib
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Result, environment, lone_interpreter, run
from hypothesis import given
from hypothesis import strategies as st
from supervisors import Supervisor, everything_below

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from recollect.lock import HomeLock
from recollect.service import Given, Installer, Launch, kind_of, launch_of
from recollect.service import launchd as launchd_form
from recollect.service import systemd as systemd_form
from recollect.service.launchd import plist_bytes
from recollect.service.systemd import NAME, unit_text
from recollect.settings import Computer

STRANGE = ("/home/ada lovelace/100%/re\"co'llect\\$HOME;`x`", "ü & <b> #")
"""What a path and an argument may hold."""
printable = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.isprintable)
PASSWORD = "postgresql://ada:hunter2@db.example/house"


def launch(tmp_path: Path, **options: object) -> Launch:
    given: dict[str, object] = {"program": ("/opt/recollect/bin/recollect", "up", "--log"), **options}
    return Launch(runtime=tmp_path / "home" / "runtime", **given)  # type: ignore[arg-type]


def lines_of(unit: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{key}=")]


def read_by_systemd(line: str) -> list[str]:
    """Quotes and backslashes as in C, doubled percent signs as one."""
    return [word.replace("%%", "%") for word in shlex.split(line)]


# What it says


def test_strange_paths_and_values_come_through_systemd_unchanged(tmp_path: Path) -> None:
    path, value = STRANGE

    unit = unit_text(launch(tmp_path, program=(path, "up", value, "$5"), variables={"RECOLLECT_HOME": path}))

    *shell, command, up, given, dollars = read_by_systemd(lines_of(unit, "ExecStart")[0])
    assert shell == ["/bin/sh", "-c", 'exec "$$0" "$$@"'], "systemd takes no quotes in the path of a program"
    assert (command, up, given, dollars) == (path.replace("$", "$$"), "up", value, "$$5")
    assert read_by_systemd(lines_of(unit, "Environment")[0]) == [f"RECOLLECT_HOME={path}"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed here")
@pytest.mark.parametrize("name", ["plain", "ada love 100% $HOME", 'ada "love" 100% $HOME it\'s'])
def test_systemd_takes_the_unit(tmp_path: Path, name: str) -> None:
    """With a program whose path has all in it that is hard to write."""
    folder = tmp_path / name
    folder.mkdir()
    program = folder / "recollect"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    variables = folder / "variables.env"
    variables.touch(mode=0o600)
    unit = tmp_path / NAME
    unit.write_text(
        unit_text(
            launch(
                tmp_path,
                program=(str(program), "up", "--log"),
                variables={"RECOLLECT_HOME": str(folder)},
                environment_file=variables,
            )
        )
    )

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )

    assert [line for line in done.stderr.splitlines() if NAME in line or "recollect" in line] == []
    assert done.returncode == 0, done.stderr


def test_a_unit_begins_again_after_failures_and_not_after_an_end(tmp_path: Path) -> None:
    unit = unit_text(launch(tmp_path))

    assert lines_of(unit, "Restart") == ["on-failure"]
    assert lines_of(unit, "StartLimitIntervalSec") == ["0"], "it never gives up"
    assert float(lines_of(unit, "RestartSec")[0]) >= 10
    assert lines_of(unit, "RestartPreventExitStatus") == [f"{Invalid.exit_code} {Denied.exit_code}"]
    assert float(lines_of(unit, "TimeoutStopSec")[0]) > 5
    assert lines_of(unit, "UMask") == ["0077"]
    assert lines_of(unit, "Environment") == []


def test_nothing_that_it_prints_gets_into_the_journal_but_errors(tmp_path: Path) -> None:
    unit = unit_text(launch(tmp_path))

    assert lines_of(unit, "StandardOutput") == ["null"], "titles of conversations would outlive a forget there"
    assert lines_of(unit, "StandardError") == []


def test_a_property_list_has_the_same_in_it(tmp_path: Path) -> None:
    path, value = STRANGE

    plist = plistlib.loads(plist_bytes(launch(tmp_path, program=(path, value), variables={"RECOLLECT_HOME": path})))

    assert plist["ProgramArguments"] == [path, value]
    assert plist["EnvironmentVariables"] == {"RECOLLECT_HOME": path}
    assert plist["KeepAlive"] == {"SuccessfulExit": False}
    assert plist["StandardErrorPath"] == str(tmp_path / "home" / "runtime" / "logs" / "stderr.log")


def test_a_property_list_reads_the_variables_by_a_shell(tmp_path: Path) -> None:
    variables = tmp_path / "my variables.env"
    variables.write_text("RECOLLECT_DB='postgresql://ada:$ecret@db/house'\n")
    variables.chmod(0o600)
    program = (sys.executable, "-c", "import os; print(os.environ['RECOLLECT_DB'])")

    plist = plistlib.loads(plist_bytes(launch(tmp_path, program=program, environment_file=variables)))
    done = subprocess.run(plist["ProgramArguments"], capture_output=True, text=True, check=True)

    assert done.stdout == "postgresql://ada:$ecret@db/house\n"


def test_what_runs_is_this_program_by_its_absolute_path(tmp_path: Path) -> None:
    made = launch_of(tmp_path, "", is_default_home=True)

    assert made.program == (str(Path(sys.executable).with_name("recollect")), "up", "--log")
    assert made.variables == {}


def test_a_module_in_the_folder_a_service_is_started_in_is_not_run(home: Path, tmp_path: Path) -> None:
    python, variables = lone_interpreter(tmp_path / "bin")
    asked = (
        "from pathlib import Path; from recollect.service.launch import launch_of; "
        "print(*launch_of(Path.cwd(), '', is_default_home=True).program, sep='\\n')"
    )
    surroundings = {"env": environment(home, **variables), "cwd": tmp_path, "capture_output": True, "text": True}
    *program, _up, _log = subprocess.run([python, "-c", asked], check=True, **surroundings).stdout.splitlines()
    (tmp_path / "click.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")

    done = subprocess.run([*program, "--version"], check=True, **surroundings)

    assert program[0] == python
    assert recollect.__version__ in done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("address", [PASSWORD, "postgresql://db/house?user=ada&password=hunter2"])
def test_a_password_does_not_get_into_a_file_that_others_may_read(tmp_path: Path, address: str) -> None:
    with pytest.raises(Denied) as refused:
        launch_of(tmp_path, address, is_default_home=True)

    assert "--environment" in str(refused.value)
    assert "600" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_database_without_a_password_may_be_named(tmp_path: Path) -> None:
    assert launch_of(tmp_path, "postgresql://db/house", is_default_home=False).variables == {
        "RECOLLECT_HOME": str(tmp_path),
        "RECOLLECT_DB": "postgresql://db/house",
    }
    assert launch_of(tmp_path, "below.db", is_default_home=True).variables["RECOLLECT_DB"].startswith("/")


def test_a_file_of_variables_is_for_its_owner_alone_and_well_formed(tmp_path: Path) -> None:
    file = tmp_path / "variables.env"
    with pytest.raises(NotFound):
        launch_of(tmp_path, "", is_default_home=True, environment_file=file)
    file.write_text("# keys\n\nANTHROPIC_API_KEY=abc\n")
    file.chmod(0o644)
    with pytest.raises(Denied, match="chmod 600"):
        launch_of(tmp_path, "", is_default_home=True, environment_file=file)
    file.chmod(0o600)
    assert launch_of(tmp_path, "", is_default_home=True, environment_file=file).environment_file == file
    file.write_text("export ANTHROPIC_API_KEY=abc\n")
    with pytest.raises(Invalid, match="line 1") as wrong:
        launch_of(tmp_path, "", is_default_home=True, environment_file=file)
    assert "abc" not in str(wrong.value)


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        launch_of(tmp_path / "a\nExecStart=b", "", is_default_home=False)


@given(
    home=printable,
    database=printable,
    file=printable,
)
def test_what_a_service_was_given_is_read_out_of_its_file_again(home: str, database: str, file: str) -> None:
    made = Launch(
        program=("/opt/recollect", "up"),
        runtime=Path("/runtime"),
        variables={"RECOLLECT_HOME": home, "RECOLLECT_DB": database},
        environment_file=Path("/", file),
    )
    wanted = Given(home=home, database=database, environment_file=Path("/", file))

    assert systemd_form.given_in(unit_text(made).encode()) == wanted
    assert launchd_form.given_in(plist_bytes(made)) == wanted
    assert launchd_form.given_in(b"no list of properties") == Given()
    assert systemd_form.given_in(unit_text(Launch(program=("/r",), runtime=Path("/"))).encode()) == Given()
    assert launchd_form.given_in(plist_bytes(Launch(program=("/r",), runtime=Path("/")))) == Given()


# The command, with systemd


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "recollect home"


@pytest.fixture
def user(home: Path) -> Path:
    folder = home.parent / "user"
    (folder / ".profile.d").mkdir(parents=True)
    return folder


@pytest.fixture
def systemd(tmp_path: Path) -> Supervisor:
    return Supervisor(tmp_path / "systemd", "systemctl", "loginctl")


def service(home: Path, supervisor: Supervisor, *arguments: object, **variables: str) -> Result:
    return run("service", *arguments, home=home, variables={"PATH": supervisor.path, **variables})


def test_install_writes_starts_tells_and_changes_nothing_the_second_time(
    home: Path, user: Path, systemd: Supervisor
) -> None:
    done = service(home, systemd, "install")

    unit = user / ".config" / "systemd" / "user" / NAME
    assert done.code == 0, done.err
    assert f'Environment="RECOLLECT_HOME={home}"' in unit.read_text()
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644
    assert str(unit) in done.out
    assert "systemctl --user enable recollect.service" in done.out
    assert "loginctl enable-linger" in done.out
    assert ["systemctl", "--user", "restart", NAME] in systemd.asked
    before, asked = everything_below(user), len(systemd.asked)
    again = service(home, systemd, "install")
    assert again.code == 0
    assert everything_below(user) == before
    assert "as it should be" in again.out
    assert ["systemctl", "--user", "daemon-reload"] not in systemd.asked[asked:]


def test_beside_one_that_was_started_by_hand_nothing_is_installed(home: Path, user: Path, systemd: Supervisor) -> None:
    before = everything_below(user)
    by_hand = HomeLock(home / "runtime")
    by_hand.acquire()
    try:
        refused = service(home, systemd, "install")
        assert refused.code == Conflict.exit_code
        assert refused.explains(f"process {os.getpid()}", "Ctrl-C", f"kill {os.getpid()}", "--no-start")
        assert everything_below(user) == before
        assert service(home, systemd, "install", "--print").code == 0
        assert service(home, systemd, "install", "--no-start").code == 0
    finally:
        by_hand.release()
    assert service(home, systemd, "install").code == 0
    its_own = HomeLock(home / "runtime")
    its_own.acquire()
    try:
        assert service(home, systemd, "install").code == 0, "the one that runs is the service"
    finally:
        its_own.release()


def test_print_shows_the_file_and_writes_nothing(home: Path, user: Path, systemd: Supervisor) -> None:
    before = everything_below(user)

    shown = service(home, systemd, "install", "--print")

    assert shown.out.startswith("# Written by `recollect service install`")
    assert "[Install]\nWantedBy=default.target\n" in shown.out
    assert everything_below(user) == before
    assert not home.exists() or not list(home.iterdir())
    assert systemd.asked == []


def test_uninstall_takes_away_exactly_what_was_added(home: Path, user: Path, systemd: Supervisor) -> None:
    before = everything_below(user)
    assert service(home, systemd, "install").code == 0
    assert everything_below(user) != before

    done = service(home, systemd, "uninstall")

    assert done.code == 0, done.err
    assert everything_below(user) == before
    assert not (home / "runtime" / "service.json").exists()
    assert ["systemctl", "--user", "disable", "--now", NAME] in systemd.asked
    again = service(home, systemd, "uninstall")
    assert (again.code, "is not there" in again.out) == (0, True)


def test_uninstall_leaves_what_others_have_beside_it(home: Path, user: Path, systemd: Supervisor) -> None:
    assert service(home, systemd, "install").code == 0
    other = user / ".config" / "systemd" / "user" / "other.service"
    other.write_text("[Unit]\n")

    assert service(home, systemd, "uninstall").code == 0

    assert [path for path in everything_below(user) if path.endswith(".service")] == [
        str(other.relative_to(user)),
    ]


def test_a_file_that_is_not_ours_or_was_changed_stays(home: Path, user: Path, systemd: Supervisor) -> None:
    unit = user / ".config" / "systemd" / "user" / NAME
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\nDescription=mine\n")
    for command in ("install", "uninstall"):
        refused = service(home, systemd, command)
        assert refused.code == Conflict.exit_code
        assert refused.explains(str(unit), "was not written by Recollect")
    assert unit.read_text() == "[Unit]\nDescription=mine\n"
    unit.unlink()
    assert service(home, systemd, "install").code == 0
    unit.write_text(unit.read_text() + "# mine\n")
    assert service(home, systemd, "uninstall").explains("--force")
    assert unit.read_text().endswith("# mine\n")
    assert service(home, systemd, "uninstall", "--force").code == 0
    assert not unit.exists()


def test_another_home_replaces_the_unit(home: Path, user: Path, systemd: Supervisor) -> None:
    assert service(home, systemd, "install").code == 0
    unit = user / ".config" / "systemd" / "user" / NAME

    assert service(home, systemd, "install", RECOLLECT_DB="postgresql://db/house").code == 0

    assert 'Environment="RECOLLECT_DB=postgresql://db/house"' in unit.read_text()
    assert systemd.asked[-2] == ["systemctl", "--user", "restart", NAME]
    assert service(home, systemd, "uninstall").code == 0
    assert not (user / ".config").exists()


def test_installed_again_it_keeps_what_it_was_given(home: Path, user: Path, systemd: Supervisor) -> None:
    keys = user / "keys 100%.env"
    keys.write_text("ANTHROPIC_API_KEY=abc\n")
    keys.chmod(0o600)
    unit = user / ".config" / "systemd" / "user" / NAME
    assert service(home, systemd, "install", "--environment", keys, RECOLLECT_DB="postgresql://db/house").code == 0
    before = unit.read_text()

    again = service(home, systemd, "install")

    assert unit.read_text() == before
    assert "as it should be" in again.out
    assert again.explains("As before: --environment", keys.name, "--no-environment", "postgresql://db/house", "--no-db")
    assert service(home, systemd, "install", "--print").out == before
    keys.rename(user / "moved.env")
    assert service(home, systemd, "install").explains("is not there", "--no-environment")
    assert unit.read_text() == before
    assert service(home, systemd, "install", "--no-environment").code == 0
    assert (lines_of(unit.read_text(), "EnvironmentFile"), len(lines_of(unit.read_text(), "Environment"))) == ([], 2)
    assert service(home, systemd, "install", "--no-db").code == 0
    assert lines_of(unit.read_text(), "Environment") == [f'"RECOLLECT_HOME={home}"']
    assert "As before" not in service(home, systemd, "install").err


@pytest.mark.parametrize("step", ["daemon-reload", "restart"])
def test_after_a_start_that_failed_the_next_install_brings_the_file_into_force(
    home: Path, user: Path, systemd: Supervisor, step: str
) -> None:
    assert service(home, systemd, "install").code == 0
    systemd.fail(step)
    failed = service(home, systemd, "install", RECOLLECT_DB="postgresql://db/house")
    assert failed.explains(step, "Connection timed out")
    systemd.fail()
    asked = len(systemd.asked)

    assert service(home, systemd, "install").code == 0

    assert [words[2] for words in systemd.asked[asked:] if words[0] == "systemctl"] == [
        "show-environment",
        "daemon-reload",
        "enable",
        "restart",
    ]
    asked = len(systemd.asked)
    assert service(home, systemd, "install").code == 0
    assert ["systemctl", "--user", "restart", NAME] not in systemd.asked[asked:], "it is in force by now"


def test_a_file_that_was_only_written_is_brought_into_force_by_the_next_install(
    home: Path, user: Path, systemd: Supervisor
) -> None:
    assert service(home, systemd, "install").code == 0
    assert service(home, systemd, "install", "--no-start", RECOLLECT_DB="postgresql://db/house").code == 0
    asked = len(systemd.asked)

    assert service(home, systemd, "install").code == 0

    assert ["systemctl", "--user", "daemon-reload"] in systemd.asked[asked:]
    assert ["systemctl", "--user", "restart", NAME] in systemd.asked[asked:]


def test_what_an_older_version_remembered_is_read_and_its_file_brought_into_force(
    home: Path, user: Path, systemd: Supervisor
) -> None:
    before = everything_below(user)
    assert service(home, systemd, "install").code == 0
    remembered = home / "runtime" / "service.json"
    older = json.loads(remembered.read_text())
    del older["started"]
    remembered.write_text(json.dumps(older))
    asked = len(systemd.asked)

    assert service(home, systemd, "install").code == 0

    assert ["systemctl", "--user", "restart", NAME] in systemd.asked[asked:]
    assert service(home, systemd, "uninstall").code == 0
    assert everything_below(user) == before, "which folders it had made was not lost"


def test_an_option_and_its_opposite_are_refused(home: Path, user: Path, systemd: Supervisor) -> None:
    keys = user / "keys.env"
    keys.touch(mode=0o600)
    assert service(home, systemd, "install", "--environment", keys, "--no-environment").code == 2
    assert run("--db", "x.db", "service", "install", "--no-db", home=home).code == 2
    assert not (user / ".config").exists()


def test_a_service_of_another_home_is_called_that(home: Path, user: Path, systemd: Supervisor, tmp_path: Path) -> None:
    assert service(home, systemd, "install").code == 0
    other = {"RECOLLECT_HOME": str(tmp_path / "other")}
    unit = user / ".config" / "systemd" / "user" / NAME

    assert f"not for this home; ~/.config/systemd/user/{NAME} is that of {home}" in (
        service(home, systemd, "status", **other).out
    )
    assert "active, for that home" in service(home, systemd, "status", **other).out
    found = service(home, systemd, "status", "--json", **other).json()
    assert (found["is_installed"], found["is_ours"], found["home"]) == (True, False, str(home))
    for command in ("install", "uninstall"):
        assert service(home, systemd, command, **other).explains("another home", str(home), "--force")
    assert unit.exists()
    found = service(home, systemd, "status", "--json").json()
    assert (found["is_ours"], found["home"]) == (True, str(home))
    assert "not for this home" not in service(home, systemd, "status").out
    unit.write_text("[Unit]\n")
    assert "is that of somebody else" in service(home, systemd, "status").out


def test_when_its_home_was_deleted_the_service_can_still_be_uninstalled(
    home: Path, user: Path, systemd: Supervisor
) -> None:
    assert service(home, systemd, "install").code == 0
    shutil.rmtree(home)

    assert "is as it should be" in service(home, systemd, "install").out
    done = service(home, systemd, "uninstall")

    assert done.code == 0, done.err
    assert not (user / ".config" / "systemd" / "user" / NAME).exists()
    assert "inactive" in service(home, systemd, "status").out


def test_without_a_session_or_without_systemd_nothing_is_written(
    home: Path, user: Path, systemd: Supervisor, tmp_path: Path
) -> None:
    before = everything_below(user)
    systemd.end_session()
    refused = service(home, systemd, "install")
    assert refused.code == Unavailable.exit_code
    assert refused.explains("No medium found", "enable-linger", "--no-start")

    nobody = Supervisor(tmp_path / "nobody")
    refused = service(home, nobody, "install")
    assert refused.code == Unavailable.exit_code
    assert refused.explains("systemctl was not found", "--print")
    assert everything_below(user) == before

    assert service(home, nobody, "install", "--no-start").code == 0
    assert service(home, systemd, "uninstall").code == 0
    assert everything_below(user) == before


def test_a_password_is_refused_by_the_command_and_not_repeated(home: Path, user: Path, systemd: Supervisor) -> None:
    refused = service(home, systemd, "install", RECOLLECT_DB=PASSWORD)

    assert refused.code == Denied.exit_code
    assert refused.explains("--environment")
    assert "hunter2" not in refused.err + refused.out


def test_status_tells_whether_it_is_installed_and_runs(home: Path, user: Path, systemd: Supervisor) -> None:
    nothing = service(home, systemd, "status", "--json").json()
    assert (nothing["is_installed"], nothing["is_running"], nothing["state"]) == (False, False, "inactive")
    assert "service install" in service(home, systemd, "status").out
    service(home, systemd, "install")

    found = service(home, systemd, "status", "--json").json()

    assert (found["kind"], found["is_installed"], found["is_changed"], found["state"]) == (
        "systemd",
        True,
        False,
        "active",
    )
    assert found["log"] == str(home / "runtime" / "logs" / "recollect.log")
    systemd.end_session()
    assert "session" in service(home, systemd, "status", "--json").json()["problem"]


# launchd


def test_on_a_mac_it_is_an_agent_of_launchd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = Supervisor(tmp_path / "launchd", "launchctl")
    monkeypatch.setenv("PATH", supervisor.path)
    user = tmp_path / "ada"
    user.mkdir()
    told: list[str] = []
    installer = Installer(Computer(home=str(user), system="macos"), tmp_path / "runtime", told.append, user=501)
    wanted = launch(tmp_path)

    assert installer.install(wanted)
    assert not installer.install(wanted)

    file = user / "Library" / "LaunchAgents" / "recollect.plist"
    assert plistlib.loads(file.read_bytes())["ProgramArguments"] == list(wanted.program)
    assert ["launchctl", "bootstrap", "gui/501", str(file)] in supervisor.asked
    assert sum(asked[1] == "bootstrap" for asked in supervisor.asked) == 1
    assert installer.look().state == "active"
    assert installer.uninstall()
    assert ["launchctl", "bootout", "gui/501/recollect"] in supervisor.asked
    assert everything_below(user) == {}
    assert f"Removed {file}" in told


def test_on_a_mac_a_file_that_was_only_written_is_brought_into_force_by_the_next_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor = Supervisor(tmp_path / "launchd", "launchctl")
    monkeypatch.setenv("PATH", supervisor.path)
    user = tmp_path / "ada"
    user.mkdir()
    installer = Installer(Computer(home=str(user), system="macos"), tmp_path / "runtime", print, user=501)
    installer.install(launch(tmp_path))
    other = launch(tmp_path, variables={"RECOLLECT_DB": "postgresql://db/house"})
    installer.install(other, starts=False)
    asked = len(supervisor.asked)

    assert not installer.install(other), "it is written already"

    assert [words[1] for words in supervisor.asked[asked:]] == ["bootout", "bootstrap"]
    installer.install(other)
    assert supervisor.asked[-1][1] == "print", "it is in force by now"


def test_on_windows_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="Task Scheduler"):
        kind_of(Computer(home=str(tmp_path), system="windows"))
