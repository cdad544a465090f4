"""Conversations and messages, and what became of an import."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.history import IngestReport, Listed, Message


def report_json(report: "IngestReport") -> dict[str, object]:
    counts = report.counts
    return {
        "files": report.files,
        "ingested": report.ingested,
        "skipped": report.skipped,
        "failed": report.failed,
        "passed_over": report.passed_over,
        "messages_added": report.messages_added,
        "lines": counts.lines,
        "lines_parsed": counts.parsed,
        "lines_bad": counts.bad,
        "records_recovered": counts.recovered,
        "records_private": counts.private,
        "records_forgotten": counts.forgotten,
        "types": counts.types,
        "blocks": counts.blocks,
        "bytes_read": report.bytes_read,
        "seconds": round(report.seconds, 3),
        "problems": [
            {
                "file": problem.file,
                "reason": problem.reason,
                **({"line": problem.line} if problem.line else {}),
            }
            for problem in report.problems
        ],
    }


def listed_json(item: "Listed") -> dict[str, object]:
    conversation = item.conversation
    return {
        "id": conversation.id,
        "session_id": conversation.session_id,
        "file": item.file,
        "source": conversation.source,
        "project": conversation.project,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "messages": conversation.messages,
        "status": conversation.status,
        "title": item.title,
        "thread": item.thread,
    }


def message_json(file: str, message: "Message") -> dict[str, object]:
    """`display` is the text without the markers that were kept, `marks` says where in it a ◆ goes."""
    from recollect.history.transcript import reading_of

    reading = reading_of(message)
    return {
        "id": message.id,
        "author": message.author,
        "at": message.at,
        "text": message.text,
        **({"display": reading.display, "marks": reading.marks} if reading else {}),
        "blocks": message.blocks,
        "tools": message.tools,
        "cwd": message.cwd,
        "session_id": message.session_id,
        "file": file,
        "line": message.line,
        "standing": message.standing,
        "kind": message.kind,
        "agent_id": message.agent_id,
        "model": message.model,
        "gone": message.gone,
    }
