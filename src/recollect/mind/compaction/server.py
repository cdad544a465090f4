"""The provider's own compaction: it keeps what it made in a block that only it can read in full."""

from dataclasses import replace

from recollect.llm.talking import Condensing, Request, TalkModel
from recollect.mind.compaction.compaction import Compacted
from recollect.mind.compaction.trimming import closed


class ServerCompaction:
    def __init__(self, model: TalkModel, kind: Condensing) -> None:
        self._model = model
        self._kind = kind

    @property
    def kind(self) -> str:
        return self._kind.value

    async def compact(self, request: Request, instructions: str) -> Compacted | None:
        """A block without words is no success: what it stands for could not be told to another model."""
        condensed = await self._model.condense(replace(request, turns=closed(request.turns)), instructions)
        summary = condensed.summary.strip()
        if condensed.block is None or not summary:
            return None
        return Compacted(kind=self.kind, summary=summary, block=condensed.block, usage=condensed.usage)
