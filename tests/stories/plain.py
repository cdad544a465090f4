"""Claude Code, Aider and any program: files that only grow, and a Claude Code that rewrites."""

import json
from typing import Any

import transcripts

from stories import Files, Story, words


class ClaudeCode(Story):
    moves = (
        "prompt",
        "prompt",
        "call",
        "pieces",
        "queue",
        "back",
        "sidechain",
        "agent",
        "fork",
        "title",
        "summary",
        "wait",
        "insert",
        "drop",
    )

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.told = [transcripts.Transcript("main")]
        self.agents: dict[str, transcripts.Transcript] = {}

    def files(self) -> Files:
        return {told.key: told.raw for told in [*self.told, *self.agents.values()]}

    @property
    def open(self) -> transcripts.Transcript:
        return self.told[-1]

    def _prompt(self, number: int) -> None:
        self.open.user(words(number))
        self.open.assistant(transcripts.thinking("hm"), f"Answer {number}: {words(number + 1)}")

    def _call(self, number: int) -> None:
        call = f"toolu_{self.count()}"
        self.open.assistant("I look.", transcripts.tool_use("Bash", call, command=words(number)))
        self.open.tool_result(call, words(number))

    def _pieces(self, number: int) -> None:
        reply = self.open.assistant("First.")
        self.open.assistant(f"Then {words(number)}", message_id=reply)

    def _queue(self, number: int) -> None:
        self.open.queue("enqueue", words(number))
        if number % 3 == 0:
            self.open.queue("popAll", words(number))
        elif number % 3 == 1:
            self.open.queue("dequeue")
            self.open.user(words(number))
        else:
            self.open.queue("remove")

    def _back(self, number: int) -> None:
        known = [record["uuid"] for record in self.open.records if "uuid" in record]
        self.open.go_back_to(known[number % len(known)] if known else None)
        self.open.user(f"rather {words(number)}")

    def _sidechain(self, number: int) -> None:
        self.open.sidechain(words(number), "Two.")

    def _agent(self, number: int) -> None:
        name = f"a{number % 2:07d}"
        agent = self.agents.setdefault(name, transcripts.subagent(self.open, name))
        agent.user(words(number))
        agent.assistant("Two.")

    def _fork(self, number: int) -> None:
        is_new = number % 3 == 2
        fork = self.open.fork(f"fork {self.count()}", rewrite_session=number % 3 == 1, new_uuids=is_new)
        self.told.append(fork)
        self._prompt(number)

    def _title(self, number: int) -> None:
        (self.open.custom_title if number % 2 else self.open.ai_title)(words(number))

    def _summary(self, number: int) -> None:
        if self.open.last:
            self.open.summary(words(number), self.open.last)

    def _wait(self, number: int) -> None:
        self.open.wait(hours=number % 3 + 1)

    def _insert(self, _: int) -> None:
        """The file is written anew, with a record more in its middle."""
        self.open.records.insert(
            len(self.open.records) // 2, {"type": "mode", "mode": "plan", "sessionId": self.open.session_id}
        )

    def _drop(self, number: int) -> None:
        """The file is written anew, without some records of its end."""
        del self.open.records[max(len(self.open.records) - number % 4, 1) :]


class Aider(Story):
    """One file to which every session is appended, byte by byte as Aider writes it."""

    moves = ("prompt", "prompt", "output", "lines", "command", "answer", "session")

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.text = ""
        self._session(0)

    def files(self) -> Files:
        return {"garden/.aider.chat.history.md": self.text.encode()}

    def _session(self, _: int) -> None:
        self.text += f"\n# aider chat started at {self.tick(4_000):%Y-%m-%d %H:%M:%S}\n\n"
        self._say("Aider v0.86.2", "Main model: gpt-4o with diff edit format")

    def _ask(self, text: str) -> None:
        lines = "  \n#### ".join(text.splitlines())
        self.text += f"\n#### {lines}".rstrip() + "  \n"

    def _say(self, *printed: str) -> None:
        for one in printed:
            self.text += f"> {one.strip()}".rstrip() + "  \n"

    def _prompt(self, number: int) -> None:
        self._ask(words(number))
        reply = f"Answer {number}: {words(number + 1)}\n\n#### A heading\n\n> quoted\n\nThe end."
        self.text += f"\n{reply}\n\n"

    def _output(self, number: int) -> None:
        self._say(f"Applied edit to {words(number)}", "Commit 1")

    def _lines(self, number: int) -> None:
        self._say(f"commit {number}\nAuthor: Ada\n\n    #### not a prompt\n\n> nor output\nthe end")

    def _command(self, number: int) -> None:
        self._ask(("/add beds.py", "/ask why beans?", "!ls", "/clear")[number % 4])
        if number % 4 == 1:
            self._ask("why beans?")
            self.text += "\nBecause.\n\n"

    def _answer(self, number: int) -> None:
        self._say(f"Add beds.py to the chat? (Y)es/(N)o [Yes]: {'yn'[number % 2]}")


class Generic(Story):
    """Variant 0 gives ids and sessions, variant 1 only times, variant 2 neither."""

    moves = ("prompt", "prompt", "more", "tool", "title", "session", "wait", "odd", "named")
    variants = 3

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.lines: list[bytes] = []
        self.session = 0
        self._title(0)
        self._prompt(0)

    def files(self) -> Files:
        return {"kitchen.jsonl": b"".join(self.lines)}

    def _write(self, **fields: Any) -> None:
        if self.variant == 0:
            fields = {"id": str(self.count()), "session": f"dinner-{self.session}", **fields}
        if self.variant < 2:
            fields["at"] = self.stamp()
        self.lines.append(json.dumps(fields, ensure_ascii=False).encode() + b"\n")

    def _prompt(self, number: int) -> None:
        self._write(author="user", text=words(number), cwd="/home/mara/kitchen")
        self._write(role="assistant", content=[{"type": "text", "text": words(number + 1)}], model="local-7b")

    def _more(self, number: int) -> None:
        own = str(self.count())
        for part in range(2):
            self._write(id=own, author="assistant", text=f"Part {part}: {words(number)}", tools=["recipes"])

    def _tool(self, number: int) -> None:
        self._write(author="tool", text=words(number))

    def _title(self, number: int) -> None:
        self._write(title=words(number))

    def _session(self, _: int) -> None:
        self.session += 1

    def _named(self, number: int) -> None:
        """Two people, of whom both are users."""
        self._write(author="user", name="Mara", text=words(number))
        self._write(author="user", speaker="Tomas", text=words(number))

    def _odd(self, number: int) -> None:
        """A line that is no message, one with several, and an empty one."""
        odd = (b"no JSON at all\n", b'{"author": "user", "text": "a"}{"author": "user", "text": "b"}\n', b"\n")
        self.lines.append(odd[number % 3])
