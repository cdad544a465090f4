"""A conversation in the shape of each source: a prompt, then replies with tool calls and what the tools gave.

Every shape carries the repetitions that the agent really writes (Codex says most things twice, Claude Code keeps what a
tool gave beside the message), so that a megabyte of each is a megabyte as it lies on people's disks. For those of which
there are long real transcripts, the mix of lines and their sizes follow counts over these: Claude Code 3.1 kB a line
(14,576 lines), Codex 1.8 kB (416 lines), Pi 2.4 kB (1,003 lines). The others have the outputs of Claude Code.
"""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "00000000-0000-4000-8000-000000000001"
_WORDS = (
    *("return", "import", "value", "path", "index", "error", "config", "build", "test", "module"),
    *("result", "string", "number", "list", "open", "read", "file"),
)


def _printed(seed: int) -> str:
    """Some 5 kB as programs print them: paths, words, numbers."""
    dice = random.Random(seed)
    lines = (
        f"src/{dice.choice(_WORDS)}_{dice.choice(_WORDS)}.py:{dice.randint(1, 999)}: "
        + " ".join(dice.choice(_WORDS) for _ in range(dice.randint(2, 9)))
        + f" = {dice.getrandbits(32):x}\n"
        for _ in range(80)
    )
    return "".join(lines)


OUTPUTS = [_printed(seed) for seed in range(64)]
USAGE = {
    "input_tokens": 4,
    "cache_creation_input_tokens": 1021,
    "cache_read_input_tokens": 51_204,
    "cache_creation": {"ephemeral_5m_input_tokens": 1021, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 327,
    "service_tier": "standard",
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
}
START = datetime(2026, 1, 1, tzinfo=UTC)
CALLS = 8
"""Tool calls after a prompt."""
TURNS_IN_ONE = 40
"""Turns in a conversation of an export."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    name: str
    """What the file is called, below its folder."""
    write: Callable[[Path, int], None]
    """Write a file of about so many bytes."""
    is_streamed: bool


def stamp(turn: int, seconds: float = 0) -> str:
    return f"{START + timedelta(seconds=turn * 20 + seconds):%Y-%m-%dT%H:%M:%S}.000Z"


def prompt(turn: int) -> str:
    return f"Please look at step {turn} and tell me what it does."


def reply(turn: int) -> str:
    return (
        f"I will run step {turn}, read what it prints, and then say what it is for in a sentence or two. The script "
        "beside it reads the same list, so a change here shows there as well; I keep both in mind. If the step prints "
        "nothing, that is an answer too: then the list is empty, and the question is who should have filled it. I look "
        "at the callers next, beginning with the one that runs every night, because it would be the first to notice."
    )


def output(turn: int, call: int = 0, characters: int = 3_300) -> str:
    return OUTPUTS[(turn * CALLS + call) % len(OUTPUTS)][:characters]


def command(turn: int, characters: int = 100) -> str:
    return f"make step-{turn} <<'END'\n{output(turn)[:characters]}\nEND"


def uuid(turn: int, number: int) -> str:
    """As those of real agents: the later, the larger."""
    return f"{0x19000000 + turn:08x}-0000-7000-8000-{number:012x}"


def lines(turn_of: Callable[[int], list[Record]], first: list[Record] | None = None) -> Callable[[Path, int], None]:
    def write(path: Path, size: int) -> None:
        with open(path, "wb") as file:
            for record in first or []:
                file.write(_line(record))
            turn = 0
            while file.tell() < size:
                file.writelines(_line(record) for record in turn_of(turn))
                turn += 1

    return write


def _line(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def claude_code(turn: int) -> list[Record]:
    def line(kind: str, number: int, **fields: object) -> Record:
        return {
            "parentUuid": uuid(turn, max(0, number - 1)),
            "isSidechain": False,
            "cwd": "/home/someone/project",
            "sessionId": SESSION,
            "version": "2.1.100",
            "type": kind,
            "uuid": uuid(turn, number),
            "timestamp": stamp(turn),
            **fields,
        }

    backups = {f"src/step_{number}.py": {"backupFileName": uuid(turn, number), "version": 1} for number in range(8)}
    records: list[Record] = [
        {"type": "file-history-snapshot", "messageId": uuid(turn, 1), "snapshot": {"trackedFileBackups": backups}},
        line("user", 1, message={"role": "user", "content": prompt(turn)}),
    ]
    for call in range(CALLS):
        name, number = f"{turn:020d}_{call}", 10 * call
        message = {"id": f"msg_{name}", "model": "claude-opus-5-5", "role": "assistant", "type": "message"}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": USAGE}
        use = {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"command": command(turn, 350)}}
        result = {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": f"run {name}\n{output(turn, call, 3_500)}",
        }
        records += [
            line(
                "assistant",
                number + 2,
                message={**message, "content": [{"type": "text", "text": f"{reply(turn)} {reply(turn)}"}]},
            ),
            line("assistant", number + 3, message={**message, "content": [use]}, requestId=f"req_{name}"),
            line("progress", number + 4, data={"type": "bash_progress", "output": output(turn, call)[:2000]}),
            line(
                "user",
                number + 5,
                message={"role": "user", "content": [result]},
                toolUseResult={"stdout": output(turn, call, 3_500), "turn": turn},
            ),
        ]
    return records


CODEX_META = {"id": SESSION, "timestamp": stamp(0), "cwd": "/home/someone/project", "base_instructions": "x" * 20_000}


def codex(turn: int) -> list[Record]:
    turn_id = uuid(turn, 9)

    def item(**payload: object) -> Record:
        return {"timestamp": stamp(turn), "type": "response_item", "payload": payload}

    def event(**payload: object) -> Record:
        return {"timestamp": stamp(turn), "type": "event_msg", "payload": payload}

    context = {"turn_id": turn_id, "cwd": "/home/someone/project", "model": "gpt-6-codex", "instructions": "x" * 1_400}
    told = [{"type": "input_text", "text": "<permissions instructions>" + "Ask before you write. " * 500}]
    records = [
        event(type="task_started", turn_id=turn_id),
        item(type="message", role="developer", content=told),
        {"timestamp": stamp(turn), "type": "turn_context", "payload": context},
        item(type="message", role="user", content=[{"type": "input_text", "text": prompt(turn)}]),
        event(type="user_message", message=prompt(turn), images=[]),
    ]
    usage = {"input_tokens": 17864, "cached_input_tokens": 2432, "output_tokens": 327, "reasoning_output_tokens": 199}
    limit = {"used_percent": 12.0, "window_minutes": 300, "resets_at": 1782392637, "resets_in_seconds": 11_232}
    counted = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258_400}
    limits = {"limit_id": "codex", "primary": limit, "secondary": limit, "credits": None, "plan_type": "pro"}
    for call in range(CALLS):
        name = f"{turn:020d}{call}"
        if call % 2 == 0:
            words = [{"type": "output_text", "text": reply(turn)}]
            records += [
                item(type="reasoning", id=f"rs_{name}", summary=[], encrypted_content="g" * 100),
                event(type="agent_message", message=reply(turn), phase="commentary"),
                item(type="message", role="assistant", id=f"msg_{name}", content=words),
                event(type="token_count", info=counted, rate_limits=limits),
            ]
        printed = f"Chunk ID: {name}\nProcess exited with code 0\nOutput:\n{output(turn, call, 4_500)}"
        given = json.dumps(
            {
                "cmd": f"make step-{turn}",
                "workdir": "/home/someone/project",
                "yield_time_ms": 1000,
                "max_output_tokens": 12000,
            }
        )
        records += [
            item(type="function_call", id=f"fc_{name}", name="exec_command", arguments=given, call_id=f"call_{name}"),
            item(type="function_call_output", call_id=f"call_{name}", output=printed),
        ]
    return [
        *records,
        event(type="task_complete", turn_id=turn_id, last_agent_message=f"{reply(turn)}\n\n{reply(turn)}"),
    ]


def pi(turn: int) -> list[Record]:
    records: list[Record] = []
    moment = int((START + timedelta(seconds=turn * 20)).timestamp() * 1000)
    usage = {"input": 12, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 19, "cost": {"total": 0}}

    def add(**message: object) -> None:
        number = turn * (1 + 2 * CALLS) + len(records) + 1
        ids = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number > 1 else None}
        message["timestamp"] = moment + len(records)
        records.append({"type": "message", **ids, "timestamp": stamp(turn), "message": message})

    add(role="user", content=[{"type": "text", "text": prompt(turn)}])
    for call in range(CALLS):
        name = f"toolu_{turn:020d}_{call}"
        edit = {"path": f"/home/someone/step-{turn}.py", "newText": output(turn, call, 1_000)}
        use = {"type": "toolCall", "id": name, "name": "edit", "arguments": edit}
        words = [{"type": "text", "text": reply(turn)}] if call % 2 == 0 else []
        add(role="assistant", content=[*words, use], api="messages", provider="p", model="m", usage=usage)
        add(
            role="toolResult",
            toolCallId=name,
            toolName="bash",
            content=[{"type": "text", "text": output(turn, call, 2_800)}],
        )
    return records


PI_HEADER = {"type": "session", "version": 3, "id": SESSION, "timestamp": stamp(0), "cwd": "/home/someone/project"}


def gemini(turn: int) -> list[Record]:
    """A reply is written, then written again with what its tool gave."""
    records: list[Record] = [
        {"id": uuid(turn, 1), "timestamp": stamp(turn), "type": "user", "content": [{"text": prompt(turn)}]},
        {"$set": {"lastUpdated": stamp(turn)}},
    ]
    tokens = {"input": 11855, "output": 81, "cached": 0, "thoughts": 0, "tool": 0, "total": 11936}
    for call in range(CALLS):
        use: Record = {"id": f"run_{turn}_{call}", "name": "run_shell_command", "args": {"command": command(turn)}}
        response = {
            "functionResponse": {"id": use["id"], "name": use["name"], "response": {"output": output(turn, call)}}
        }
        done = {**use, "status": "success", "result": [response], "timestamp": stamp(turn)}
        done["resultDisplay"] = output(turn, call)
        message = {"id": uuid(turn, 10 + call), "timestamp": stamp(turn), "type": "gemini", "content": reply(turn)}
        message |= {"thoughts": [], "tokens": tokens, "model": "gemini-4-pro"}
        records += [message, {**message, "toolCalls": [done]}, {"$set": {"lastUpdated": stamp(turn)}}]
    return records


GEMINI_HEADER = {
    "sessionId": SESSION,
    "projectHash": "0" * 64,
    "startTime": stamp(0),
    "lastUpdated": stamp(0),
    "kind": "main",
}


def copilot(turn: int) -> list[Record]:
    records: list[Record] = []

    def add(kind: str, **data: object) -> None:
        ids = {"id": uuid(turn, len(records) + 1), "parentId": uuid(turn, len(records))}
        records.append({"type": kind, "data": data, **ids, "timestamp": stamp(turn)})

    changed = f"<current_datetime>{stamp(turn)}</current_datetime>\n\n{prompt(turn)}"
    add("user.message", content=prompt(turn), transformedContent=changed, attachments=[])
    for call in range(CALLS):
        name, arguments = f"call_{turn:020d}_{call}", {"command": command(turn)}
        request = {"toolCallId": name, "name": "bash", "arguments": arguments}
        add("assistant.turn_start", turnId=str(call))
        add("assistant.message", messageId=uuid(turn, 90 + call), content=reply(turn), toolRequests=[request])
        add("tool.execution_start", toolCallId=name, toolName="bash", arguments=arguments)
        result = {"content": output(turn, call), "detailedContent": output(turn, call)}
        add("tool.execution_complete", toolCallId=name, success=True, result=result)
        add("assistant.turn_end", turnId=str(call))
    return records


COPILOT_START = {
    "type": "session.start",
    "data": {"sessionId": SESSION, "version": 1, "context": {"cwd": "/home/someone/project"}},
    "id": uuid(0, 0),
    "timestamp": stamp(0),
    "parentId": None,
}


def cursor(turn: int) -> list[Record]:
    """It keeps no output of tools: what is written to files stands in the calls."""
    words = f"<timestamp>Thursday, Jan 1, 2026, 2:21 AM (UTC)</timestamp>\n<user_query>\n{prompt(turn)}\n</user_query>"
    records: list[Record] = [{"role": "user", "message": {"content": [{"type": "text", "text": words}]}}]
    for call in range(CALLS):
        given = {"path": f"/home/someone/step-{turn}-{call}", "contents": output(turn, call)}
        use = {"type": "tool_use", "name": "Write", "input": given}
        records.append({"role": "assistant", "message": {"content": [{"type": "text", "text": reply(turn)}, use]}})
    return [*records, {"type": "turn_ended", "status": "success"}]


def generic(turn: int) -> list[Record]:
    common = {"session": SESSION, "at": stamp(turn)}
    records: list[Record] = [{**common, "id": uuid(turn, 1), "author": "user", "text": prompt(turn)}]
    for call in range(CALLS):
        own = uuid(turn, 10 + call)
        records.append({**common, "id": own, "author": "assistant", "text": reply(turn), "tools": ["Bash"]})
        records.append({**common, "id": f"{own}-output", "author": "tool", "text": output(turn, call)})
    return records


def array(conversation_of: Callable[[int], Record]) -> Callable[[Path, int], None]:
    def write(path: Path, size: int) -> None:
        with open(path, "wb") as file:
            number = 0
            while file.tell() < size:
                file.write((b"," if number else b"[") + _line(conversation_of(number)))
                number += 1
            file.write(b"]")

    return write


def _turns(number: int) -> Iterator[int]:
    return iter(range(number * TURNS_IN_ONE, (number + 1) * TURNS_IN_ONE))


def claude_ai(number: int) -> Record:
    messages: list[Record] = []
    for turn in _turns(number):
        for place, (sender, text) in enumerate((("human", prompt(turn)), ("assistant", reply(turn) + output(turn)))):
            content = [{"type": "text", "text": text, "start_timestamp": stamp(turn)}]
            message = {"uuid": uuid(turn, place), "sender": sender, "text": text, "content": content}
            messages.append({**message, "created_at": stamp(turn), "attachments": [], "files": []})
    times = {"created_at": stamp(number), "updated_at": stamp(number)}
    return {"uuid": uuid(number, 7), "name": f"Steps {number}", **times, "chat_messages": messages}


def chatgpt(number: int) -> Record:
    mapping: Record = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"
    for turn in _turns(number):
        for place, (role, text) in enumerate((("user", prompt(turn)), ("assistant", reply(turn) + output(turn)))):
            own = uuid(turn, place)
            message = {
                "id": own,
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": START.timestamp() + turn * 20,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "weight": 1.0,
                "metadata": {"model_slug": "gpt-6"},
                "recipient": "all",
            }
            mapping[last]["children"].append(own)
            mapping[own] = {"id": own, "message": message, "parent": last, "children": []}
            last = own
    times = {"create_time": START.timestamp() + number, "update_time": START.timestamp() + number}
    identity = uuid(number, 8)
    return {"title": f"Steps {number}", **times, "mapping": mapping, "current_node": last, "conversation_id": identity}


def write_telegram(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        file.write(b'{"name": "A bot", "type": "bot_chat", "id": 77, "messages": [')
        turn = 0
        while file.tell() < size:
            for place, (who, text) in enumerate((("user5", prompt(turn)), ("user77", reply(turn) + output(turn)))):
                moment = int(START.timestamp()) + turn * 20 + place
                message = {
                    "id": turn * 2 + place + 1,
                    "type": "message",
                    "date": stamp(turn)[:19],
                    "date_unixtime": str(moment),
                    "from": who,
                    "from_id": who,
                    "text": text,
                    "text_entities": [{"type": "plain", "text": text}],
                }
                file.write((b"," if turn or place else b"") + _line(message))
            turn += 1
        file.write(b"]}")


def write_aider(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        turn = 0
        while file.tell() < size:
            if turn % TURNS_IN_ONE == 0:
                file.write(f"\n# aider chat started at {stamp(turn)[:19].replace('T', ' ')}\n\n".encode())
            printed = "".join(f"> {line}  \n" for line in output(turn).splitlines())
            file.write(f"\n#### {prompt(turn)}  \n\n{reply(turn)}\n\n{printed}".encode())
            turn += 1


def write_opencode(path: Path, size: int) -> None:
    database = sqlite3.connect(path)
    times = "time_created INTEGER, time_updated INTEGER"
    database.executescript(f"""
        CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, {times});
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT, {times});
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT, {times});
        CREATE INDEX message_of ON message (session_id); CREATE INDEX part_of ON part (message_id);
    """)
    written = turn = 0
    while written < size:
        session = f"ses_{turn // TURNS_IN_ONE:026d}"
        moment = int(START.timestamp() * 1000) + turn * 20_000
        if turn % TURNS_IN_ONE == 0:
            row = (session, None, "/home/someone/project", f"Steps {turn}", None, moment, moment)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        state = {
            "status": "completed",
            "input": {"command": command(turn)},
            "output": output(turn),
            "title": "step",
        }
        tool = {"type": "tool", "tool": "bash", "callID": f"call_{turn}", "state": state}
        for place, (role, parts) in enumerate(
            (
                ("user", [{"type": "text", "text": prompt(turn)}]),
                ("assistant", [{"type": "text", "text": reply(turn)}, tool]),
            )
        ):
            name = f"msg_{turn * 2 + place:026d}"
            info = json.dumps({"role": role, "time": {"created": moment + place}, "modelID": "m"})
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, session, info, moment, moment))
            for number, part in enumerate(parts):
                data = json.dumps(part)
                written += len(data) + len(info)
                row = (f"prt_{turn:020d}{place}{number}", name, session, data, moment, moment)
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
        turn += 1
    database.commit()
    database.close()


SHAPES = {
    "claude-code": Shape(f"{SESSION}.jsonl", lines(claude_code), True),
    "codex": Shape(
        f"rollout-2026-01-01T00-00-00-{SESSION}.jsonl",
        lines(codex, [{"timestamp": stamp(0), "type": "session_meta", "payload": CODEX_META}]),
        True,
    ),
    "pi": Shape(f"2026-01-01T00-00-00-000Z_{SESSION}.jsonl", lines(pi, [PI_HEADER]), True),
    "gemini-cli": Shape("session-2026-01-01T00-00-00000000.jsonl", lines(gemini, [GEMINI_HEADER]), True),
    "copilot-cli": Shape("events.jsonl", lines(copilot, [COPILOT_START]), True),
    "cursor": Shape(f"{SESSION}.jsonl", lines(cursor), True),
    "generic": Shape("mine.jsonl", lines(generic), True),
    "claude-ai": Shape("conversations.json", array(claude_ai), False),
    "chatgpt": Shape("conversations.json", array(chatgpt), False),
    "telegram": Shape("result.json", write_telegram, False),
    "aider": Shape(".aider.chat.history.md", write_aider, False),
    "opencode": Shape("opencode.db", write_opencode, False),
}
