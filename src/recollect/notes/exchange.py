"""Two files change places in one step, so that whatever lay at a place until that moment can still be read.

Linux and macOS can do it. Elsewhere, and on file systems that cannot, the old file is kept by a second name before the
new one takes its place: a change of the place itself between these two steps is not seen.
"""

import errno
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_HERE = -100
"""AT_FDCWD of Linux: paths as they are."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""
_CANNOT = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY)


def exchange(one: Path, other: Path) -> None:
    """Both must be there: FileNotFoundError."""
    code = _swap(os.fsencode(one), os.fsencode(other))
    if code in _CANNOT:
        _exchange_in_steps(one, other)
    elif code:
        raise OSError(code, os.strerror(code), str(other))


def _swap(one: bytes, other: bytes) -> int:
    """The number of the error; 0: done."""
    import ctypes

    function = _function()
    if function is None:
        return errno.ENOSYS
    if sys.platform == "darwin":
        failed = function(one, other, _EXCHANGE)
    else:
        failed = function(_HERE, one, _HERE, other, _EXCHANGE)
    return ctypes.get_errno() if failed else 0


@cache
def _function() -> Any:
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            function = library.renamex_np
            function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
        else:
            function = library.renameat2
            function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    except (AttributeError, OSError, TypeError):
        return None
    function.restype = ctypes.c_int
    return function


def _exchange_in_steps(one: Path, other: Path) -> None:
    kept = one.with_name(f"{one.name}.old")
    try:
        os.link(other, kept, follow_symlinks=False)
    except FileNotFoundError:
        raise
    except OSError:  # No second names here: for a moment there is no file.
        os.rename(other, kept)
    os.replace(one, other)
    os.replace(kept, one)


def link_or_move(one: Path, other: Path) -> None:
    """The file gets the other name, and only that. FileExistsError where something is there."""
    try:
        os.link(one, other, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (*_CANNOT, errno.EPERM, errno.EMLINK, errno.EACCES):
            raise
        if os.path.lexists(other):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(other)) from error
        os.rename(one, other)
        return
    with suppress(FileNotFoundError):
        os.unlink(one)
