"""Each event as a span of OpenTelemetry, for who collects them: nothing is sent unless somebody asked for it.

It is asked for by a program around us that set a tracer provider, or by the variables that all OpenTelemetry programs
know (`OTEL_EXPORTER_OTLP_ENDPOINT`); then the extra `recollect[otel]` sends by OTLP over HTTP. Without either nothing
is imported. The names of the GenAI conventions, which still change, stand in this one module.

A span carries numbers, yes and no, and short texts with their secrets masked; no prompt, no answer, no lists.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recollect.clock import from_text
from recollect.runs.store import MIND_PURPOSES, Event
from recollect.settings import telemetry_endpoint

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

SCOPE = "recollect"
SEND_SECONDS = 3.0
"""The longest that a command waits at its end for a collector that does not answer."""
MOST_CHARACTERS = 200
FAILURES = ("failed", "aside", "bad reply", "busy", "cancelled", "cut off", "refused")
"""Outcomes that are an error to who looks at spans. A new one that is not listed is told as it is, and is none."""
PROVIDERS = {"anthropic": "anthropic", "claude": "anthropic", "codex": "openai"}
USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "written_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}

Attributes = dict[str, str | int | float | bool]


def send(event: Event) -> None:
    """Hands an event over. Sending happens in the background; what cannot be sent is lost."""
    tracer = _tracer()
    if tracer is None:
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    is_call = event.name == "model"
    begin = round(from_text(event.started_at).timestamp() * 1000) * 1_000_000
    span = tracer.start_span(
        name_of(event),
        kind=SpanKind.CLIENT if is_call else SpanKind.INTERNAL,
        attributes=attributes_of(event),
        start_time=begin,
    )
    if event.outcome in FAILURES:
        span.set_status(Status(StatusCode.ERROR, event.outcome))
    span.end(end_time=begin + event.milliseconds * 1_000_000)


def name_of(event: Event) -> str:
    """`chat MODEL` for a call of a model, else such as `recollect ingest`."""
    if event.name != "model":
        return f"{SCOPE} {event.name}"
    return f"chat {_model_in(str(event.detail.get('model', '')))}".strip()


def attributes_of(event: Event) -> Attributes:
    found: Attributes = {"recollect.event": event.name, "recollect.outcome": event.outcome}
    if event.name == "model":
        found |= _of_call(event.detail)
    rest = {name: value for name, value in event.detail.items() if event.name != "model" or name not in USAGE}
    found.update((f"recollect.{name}", value) for name, value in _plain(rest))
    if event.outcome in FAILURES:
        found["error.type"] = event.outcome
    return found


def _of_call(detail: Mapping[str, Any]) -> Attributes:
    model = str(detail.get("model", ""))
    found: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.type": "text" if detail.get("purpose") in MIND_PURPOSES else "json",
        "gen_ai.provider.name": _provider_in(model),
        "gen_ai.request.model": _model_in(model),
    }
    if answered := detail.get("answered"):
        found["gen_ai.response.model"] = str(answered)
    if host := urlsplit(model).hostname if model.startswith("http") else None:
        found["server.address"] = host
    found.update((theirs, detail[ours]) for ours, theirs in USAGE.items() if isinstance(detail.get(ours), int))
    return found


def _provider_in(model: str) -> str:
    """Who is asked. Servers that speak OpenAI's way are many; the convention wants one word of them all."""
    return PROVIDERS.get(model.partition(":")[0], "openai" if model.startswith("http") else "recollect")


def _model_in(model: str) -> str:
    """`anthropic:claude-haiku-5-5` and `https://host/v1#name` without what stands before the model."""
    if model.startswith("http"):
        return model.partition("#")[2]
    return model.partition(":")[2] or model


def _plain(detail: Mapping[str, Any]) -> Iterator[tuple[str, str | int | float | bool]]:
    from recollect.redaction import mask

    for name, value in detail.items():
        if isinstance(value, str) and value:
            yield name, mask(value)[:MOST_CHARACTERS]
        elif isinstance(value, bool | int | float):
            yield name, value


def _tracer() -> "Tracer | None":
    """Of the program around us, else our own, else none."""
    endpoint = telemetry_endpoint()
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

        provider = get_tracer_provider()
        if not isinstance(provider, ProxyTracerProvider):
            return provider.get_tracer(SCOPE)
    return _own_tracer(endpoint) if endpoint else None


@lru_cache(maxsize=4)
def _own_tracer(endpoint: str) -> "Tracer | None":
    """One for each address, with its thread that sends. It is sent to the end when the process ends."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return None
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=SEND_SECONDS)
    resource = Resource.create()
    if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": SCOPE}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer(SCOPE)
