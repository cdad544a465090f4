"""Events as spans: in memory through a provider of the program around us, and over HTTP to a collector."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names
from opentelemetry.trace import SpanKind, StatusCode

from recollect.clock import to_text
from recollect.runs import telemetry
from recollect.runs.store import Event
from recollect.testing.loopback import LoopbackServer, Request, Response

NOON = datetime(2026, 3, 2, 12, 0, 0, 250_000, tzinfo=UTC)
CALL: dict[str, Any] = {
    "model": "anthropic:claude-haiku-5-5",
    "answered": "claude-haiku-5-5-20260901",
    "purpose": "extract",
    "input_tokens": 1200,
    "cached_tokens": 800,
    "output_tokens": 90,
    "dollars": 0.0002,
}


def event(name: str, outcome: str = "done", **detail: Any) -> Event:
    return Event(id="1", name=name, outcome=outcome, started_at=to_text(NOON), milliseconds=1500, detail=detail)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What a program around us collects."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def sent(spans: InMemorySpanExporter, one: Event) -> ReadableSpan:
    telemetry.send(one)
    (span,) = spans.get_finished_spans()
    return span


def test_a_call_of_a_model_is_a_span_by_the_conventions_for_it(spans: InMemorySpanExporter):
    span = sent(spans, event("model", **CALL))
    assert (span.name, span.kind) == ("chat claude-haiku-5-5", SpanKind.CLIENT)
    assert dict(span.attributes or {}) == {
        names.GEN_AI_OPERATION_NAME: "chat",
        names.GEN_AI_OUTPUT_TYPE: "json",
        names.GEN_AI_PROVIDER_NAME: "anthropic",
        names.GEN_AI_REQUEST_MODEL: "claude-haiku-5-5",
        names.GEN_AI_RESPONSE_MODEL: "claude-haiku-5-5-20260901",
        names.GEN_AI_USAGE_INPUT_TOKENS: 1200,
        names.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: 800,
        names.GEN_AI_USAGE_OUTPUT_TOKENS: 90,
        "recollect.event": "model",
        "recollect.outcome": "done",
        "recollect.model": "anthropic:claude-haiku-5-5",
        "recollect.answered": "claude-haiku-5-5-20260901",
        "recollect.purpose": "extract",
        "recollect.dollars": 0.0002,
    }
    assert span.status.status_code is StatusCode.UNSET


def test_a_call_of_the_mind_gives_text_and_tells_what_it_wrote_to_the_cache(spans: InMemorySpanExporter):
    more: dict[str, Any] = {"purpose": "mind", "turn": "assistant#12", "written_tokens": 300}
    told = sent(spans, event("model", **CALL | more)).attributes or {}
    assert told[names.GEN_AI_OUTPUT_TYPE] == "text"
    assert told[names.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS] == 300
    assert told["recollect.turn"] == "assistant#12"


def test_a_span_lasts_as_long_as_what_it_tells_of(spans: InMemorySpanExporter):
    span = sent(spans, event("ingest", files=3))
    begin = round(NOON.timestamp() * 1000) * 1_000_000
    assert (span.start_time, span.end_time) == (begin, begin + 1_500_000_000)
    assert (span.name, span.kind) == ("recollect ingest", SpanKind.INTERNAL)


def test_a_failure_is_an_error_with_its_kind(spans: InMemorySpanExporter):
    span = sent(spans, event("model", "refused", model="https://models.example/v1#qwen"))
    attributes = dict(span.attributes or {})
    assert span.status.status_code is StatusCode.ERROR
    assert (attributes["error.type"], attributes["server.address"]) == ("refused", "models.example")
    assert (attributes[names.GEN_AI_PROVIDER_NAME], span.name) == ("openai", "chat qwen")


def test_a_span_carries_no_lists_no_secrets_and_no_long_texts(spans: InMemorySpanExporter):
    key = "sk-ant-" + "api03-" + "x1Y2" * 20
    span = sent(spans, event("scan", "failed", reason=f"refused {key} " + "x" * 900, files=["a.jsonl"], nothing=None))
    attributes = dict(span.attributes or {})
    assert key not in str(attributes)
    assert len(str(attributes["recollect.reason"])) <= telemetry.MOST_CHARACTERS
    assert not {"recollect.files", "recollect.nothing"} & set(attributes)


def test_a_span_belongs_to_the_span_around_it(spans: InMemorySpanExporter):
    with trace.get_tracer("theirs").start_as_current_span("theirs") as around:
        telemetry.send(event("ingest"))
    ours = spans.get_finished_spans()[0]
    assert ours.parent is not None
    assert ours.parent.span_id == around.get_span_context().span_id


class Collector(LoopbackServer):
    """Takes spans as OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[tuple[str, dict[str, Any]]] = []

    def answer(self, request: Request) -> Response:
        told = ExportTraceServiceRequest.FromString(request.raw)
        for resource in told.resource_spans:
            service = {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"]
            self.taken += [
                (service, {"name": span.name, "keys": {one.key for one in span.attributes}, "path": request.path})
                for scope in resource.scope_spans
                for span in scope.spans
            ]
        return Response()


RECORDING = """
from recollect.testing import temporary_memory
with temporary_memory() as memory:
    memory.runs.record("model", "done", 1.5, {"model": "anthropic:claude-haiku-5-5", "input_tokens": 7})
"""
SILENT = (
    RECORDING
    + """
import sys
assert not [name for name in sys.modules if name.startswith("opentelemetry")], "imported for nothing"
"""
)


def run(code: str, **environment: str) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", code], check=True, env={**plain, **environment}, timeout=60)


def test_a_process_sends_its_events_to_the_collector_before_it_ends(tmp_path: Path):
    with Collector() as collector:
        run(RECORDING, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, HOME=str(tmp_path))
        run(RECORDING, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{collector.url}/mine", OTEL_SERVICE_NAME="house")
    first, second = collector.taken
    assert (first[0], first[1]["name"], first[1]["path"]) == ("recollect", "chat claude-haiku-5-5", "/v1/traces")
    assert names.GEN_AI_USAGE_INPUT_TOKENS in first[1]["keys"]
    assert (second[0], second[1]["path"]) == ("house", "/mine")


def test_nobody_who_did_not_ask_pays_for_it():
    run(SILENT)


def test_it_can_be_switched_off_as_everywhere():
    address = "http://127.0.0.1:9"
    run(SILENT, OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_SDK_DISABLED="true")
    run(SILENT, OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")


def test_without_the_extra_events_are_kept_and_nothing_is_sent():
    hidden = "import sys\nsys.modules['opentelemetry'] = None\n"
    run(hidden + RECORDING, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
