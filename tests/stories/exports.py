"""ChatGPT and Claude.ai: exports that have everything each time, as one file, split, zipped, or saved one by one."""

import io
import json
import zipfile
from datetime import datetime
from typing import Any

from stories import Files, Story, name_to_uuid, words

Json = dict[str, Any]
ZIPPED, PLAIN, SPLIT, WRAPPED = range(4)
PER_FILE = 2
"""Conversations in each file of a split export."""


class Export(Story):
    """Several conversations, each with branches. A new export takes the place of the last, or lies beside it."""

    moves = (
        "prompt",
        "prompt",
        "tool",
        "edit",
        "retry",
        "look",
        "title",
        "start",
        "turn",
        "wait",
        "format",
        "keep",
    )
    variants = 4

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.format = variant
        self.kept: Files = {}
        self.talks: list[Talk] = []
        self.place = 0
        self._start(0)

    @property
    def talk(self) -> "Talk":
        return self.talks[self.place]

    def document(self, talk: "Talk") -> Json:
        raise NotImplementedError

    def files(self) -> Files:
        found = [self.document(talk) for talk in self.talks]
        if self.format == ZIPPED:
            return {**self.kept, "export.zip": zipped({"conversations.json": found, "user.json": {"id": "u"}})}
        if self.format == SPLIT:
            parts = [found[start : start + PER_FILE] for start in range(0, len(found), PER_FILE)]
            names = {f"conversations-{number:03d}.json": raw(part) for number, part in enumerate(parts)}
            return {**self.kept, **names}
        whole = {"conversations": found} if self.format == WRAPPED else found
        return {**self.kept, "conversations.json": raw(whole)}

    def last_files(self) -> Files:
        return {"conversations.json": raw([self.document(talk) for talk in self.talks])}

    def _start(self, _: int) -> None:
        self.talks.append(Talk(name_to_uuid(f"talk {self.count()}"), self.tick()))
        self.place = len(self.talks) - 1
        self._prompt(self.count())

    def _turn(self, number: int) -> None:
        """Goes on in an older conversation."""
        self.place = number % len(self.talks)
        self._prompt(number)

    def _say(self, role: str, text: str, parent: str | None = None) -> str:
        talk = self.talk
        name = name_to_uuid(f"node {self.count()}")
        talk.nodes.append(Node(name, talk.leaf if parent is None else parent, role, text, self.tick()))
        talk.leaf, talk.changed = name, self.now
        return name

    def _prompt(self, number: int) -> None:
        self._say("user", words(number))
        self._say("assistant", f"Answer {number}: {words(number + 1)}")

    def _tool(self, number: int) -> None:
        self._say("call", json.dumps({"query": words(number)}))
        self._say("tool", words(number))
        self._say("assistant", "Found.")

    def _edit(self, number: int) -> None:
        """Another prompt in the place of an earlier one."""
        prompts = [node for node in self.talk.nodes if node.role == "user"]
        self._say("user", f"rather {words(number)}", prompts[number % len(prompts)].parent)
        self._say("assistant", "Then so.")

    def _retry(self, number: int) -> None:
        replies = [node for node in self.talk.nodes if node.role == "assistant"]
        self._say("assistant", f"Or {words(number)}", replies[number % len(replies)].parent)

    def _look(self, number: int) -> None:
        """Goes back to another branch and reads it."""
        parents = {node.parent for node in self.talk.nodes}
        leaves = [node.name for node in self.talk.nodes if node.name not in parents]
        self.talk.leaf, self.talk.changed = leaves[number % len(leaves)], self.tick()

    def _title(self, number: int) -> None:
        self.talk.title, self.talk.changed = words(number), self.tick()

    def _format(self, number: int) -> None:
        self.format = number % 4

    def _keep(self, _: int) -> None:
        """The export as it is now stays under another name when the next one comes."""
        self.kept = {f"older-{self.count()}.zip": zipped({"conversations.json": [self.document(self.talk)]})}


class Node:
    def __init__(self, name: str, parent: str, role: str, text: str, at: datetime) -> None:
        self.name, self.parent, self.role, self.text, self.at = name, parent, role, text, at


class Talk:
    def __init__(self, name: str, at: datetime) -> None:
        self.name, self.at, self.changed = name, at, at
        self.title = "New chat"
        self.leaf = ""
        self.nodes: list[Node] = []


class ChatGpt(Export):
    def document(self, talk: Talk) -> Json:
        mapping: dict[str, Json] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
        for node in talk.nodes:
            parent = node.parent or "root"
            mapping[parent]["children"].append(node.name)
            mapping[node.name] = {"id": node.name, "parent": parent, "children": [], "message": chatgpt_message(node)}
        return {
            "title": talk.title,
            "create_time": talk.at.timestamp(),
            "update_time": talk.changed.timestamp(),
            "mapping": mapping,
            "current_node": talk.leaf,
            "conversation_id": talk.name,
            "id": talk.name,
        }


def chatgpt_message(node: Node) -> Json:
    return {
        "id": node.name,
        "author": {"role": "assistant" if node.role == "call" else node.role, "name": None, "metadata": {}},
        "create_time": node.at.timestamp(),
        "content": {"content_type": "text", "parts": [node.text]},
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-5"} if node.role == "assistant" else {},
        "recipient": "browser" if node.role == "call" else "all",
    }


class ClaudeAi(Export):
    """Says in the newest message that nothing answers where the person is, so looking alone cannot be told."""

    moves = tuple(move for move in Export.moves if move != "look")

    def document(self, talk: Talk) -> Json:
        return {
            "uuid": talk.name,
            "name": talk.title,
            "created_at": talk.at.isoformat(),
            "updated_at": talk.changed.isoformat(),
            "account": {"uuid": name_to_uuid("account")},
            "chat_messages": [claude_message(node) for node in talk.nodes],
        }


def claude_message(node: Node) -> Json:
    block: Json = {"type": "text", "text": node.text}
    if node.role == "call":
        block = {"type": "tool_use", "name": "web_search", "input": json.loads(node.text)}
    elif node.role == "tool":
        block = {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": node.text}]}
    return {
        "uuid": node.name,
        "text": "" if node.role in ("call", "tool") else node.text,
        "content": [block],
        "sender": "human" if node.role == "user" else "assistant",
        "created_at": node.at.isoformat(),
        "updated_at": node.at.isoformat(),
        "attachments": [],
        "files": [],
        "parent_message_uuid": node.parent or "00000000-0000-4000-8000-000000000000",
    }


def raw(document: Any) -> bytes:
    return json.dumps(document).encode()


def zipped(documents: dict[str, Any]) -> bytes:
    """The same bytes for the same documents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, document in documents.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 2, 10, 0, 0)), raw(document), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
