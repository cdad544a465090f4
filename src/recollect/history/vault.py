"""The raw record, compressed. Zstandard at its default level: 240 MB/s and a third of the size on real lines."""

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

LEVEL = 3


class Packer:
    """Compresses record after record; one context is reused, which doubles the speed on short records."""

    def __init__(self) -> None:
        self._compressor = zstd.ZstdCompressor(level=LEVEL)

    def pack(self, raw: bytes) -> bytes:
        return self._compressor.compress(raw, zstd.ZstdCompressor.FLUSH_FRAME)


class BackgroundPacker:
    """Compresses in another thread while this one goes on parsing: Zstandard does not hold Python's lock."""

    GROUP = 32
    """Records handed over together: a hand-over costs as much as compressing one of them."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recollect-pack")
        self._packer = Packer()
        self._waiting: list[bytes] = []
        self._results: list[Future[list[bytes]]] = []

    def add(self, raw: bytes) -> None:
        self._waiting.append(raw)
        if len(self._waiting) == self.GROUP:
            self._hand_over()

    def collect(self) -> Iterator[bytes]:
        """Everything added since the last call, compressed, in order."""
        self._hand_over()
        results, self._results = self._results, []
        for result in results:
            yield from result.result()

    def close(self) -> None:
        self._executor.shutdown()

    def _hand_over(self) -> None:
        if self._waiting:
            self._results.append(self._executor.submit(_pack_all, self._packer, self._waiting))
            self._waiting = []


def _pack_all(packer: Packer, records: list[bytes]) -> list[bytes]:
    return [packer.pack(raw) for raw in records]


def unpack(packed: bytes) -> bytes:
    return zstd.decompress(packed)
