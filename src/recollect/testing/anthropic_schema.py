"""Schemas as the Messages API takes them for structured output: what it refuses, and the plainest value of one."""

from collections.abc import Iterator
from typing import Any, cast

from recollect.testing.anthropic_answers import ApiError

MOST_OPTIONAL = 24
MOST_UNIONS = 16
REFUSED_KEYWORDS = frozenset(
    (
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "oneOf",
        "not",
        "if",
    )
)
"""Limits that the API cannot keep while it writes. The SDK moves them into the description."""
FORMATS = frozenset(("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"))
MOST_DEPTH = 64


def check_schema(schema: object) -> None:
    """Raises what the API answers to a schema that it cannot follow."""
    if not isinstance(schema, dict):
        raise _refusal("must be an object")
    whole = cast("dict[str, Any]", schema)
    optional = unions = 0
    for part in _parts(whole):
        _check_part(part)
        optional += len(set(part.get("properties") or {}) - set(part.get("required") or []))
        unions += "anyOf" in part or isinstance(part.get("type"), list)
    if optional > MOST_OPTIONAL:
        raise _refusal(f"too many optional parameters ({optional}; limit {MOST_OPTIONAL})")
    if unions > MOST_UNIONS:
        raise _refusal(f"too many parameters with union types ({unions}; limit {MOST_UNIONS})")
    _check_recursion(whole, whole, ())


def _check_part(part: dict[str, Any]) -> None:
    if refused := sorted(REFUSED_KEYWORDS & set(part)):
        raise _refusal(f"for '{part.get('type', 'any')}' type, property '{refused[0]}' is not supported")
    if part.get("type") == "object" and part.get("additionalProperties") is not False:
        raise _refusal("for 'object' type, 'additionalProperties' must be explicitly set to false")
    if part.get("type") == "array" and part.get("minItems", 0) not in (0, 1):
        raise _refusal("for 'array' type, 'minItems' values other than 0 or 1 are not supported")
    if part.get("format", "date") not in FORMATS:
        raise _refusal(f"for 'string' type, format '{part['format']}' is not supported")


def _children(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("properties", "$defs", "definitions"):
        yield from cast("dict[str, dict[str, Any]]", part.get(key) or {}).values()
    for key in ("anyOf", "allOf"):
        yield from cast("list[dict[str, Any]]", part.get(key) or [])
    if isinstance(part.get("items"), dict):
        yield part["items"]


def _parts(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part
    for child in _children(part):
        yield from _parts(child)


def _check_recursion(part: dict[str, Any], whole: dict[str, Any], seen: tuple[str, ...]) -> None:
    reference = part.get("$ref")
    if reference in seen:
        raise _refusal("recursive schemas are not supported")
    if reference:
        return _check_recursion(_resolved(part, whole), whole, (*seen, reference))
    for child in _children({key: value for key, value in part.items() if key not in ("$defs", "definitions")}):
        _check_recursion(child, whole, seen)
    return None


def _resolved(part: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    found: Any = whole
    for name in str(part["$ref"]).removeprefix("#/").split("/"):
        if not isinstance(found, dict) or name not in found:
            raise _refusal(f"$ref {part['$ref']!r} points nowhere")
        found = cast("dict[str, Any]", found)[name]
    return found


def plain_value(part: dict[str, Any], whole: dict[str, Any] | None = None, depth: int = 0) -> Any:
    """The least that is of the schema: empty lists, first choices, null where it may be."""
    whole = part if whole is None else whole
    if depth > MOST_DEPTH:
        raise _refusal("nested too deeply")
    if "$ref" in part:
        return plain_value(_resolved(part, whole), whole, depth + 1)
    if "const" in part:
        return part["const"]
    if part.get("enum"):
        return part["enum"][0]
    for key in ("anyOf", "allOf"):
        if choices := part.get(key):
            is_nullable = any(choice.get("type") == "null" for choice in choices)
            return None if is_nullable else plain_value(choices[0], whole, depth + 1)
    kind = part.get("type")
    if kind == "object":
        properties = cast("dict[str, dict[str, Any]]", part.get("properties") or {})
        required = part.get("required") or ()
        return {name: plain_value(properties[name], whole, depth + 1) for name in properties if name in required}
    if kind == "array":
        return [plain_value(part.get("items") or {}, whole, depth + 1) for _ in range(part.get("minItems", 0))]
    return {"string": "", "integer": 0, "number": 0, "boolean": False}.get(str(kind))


def _refusal(what: str) -> ApiError:
    return ApiError(400, f"output_config.format.schema: {what}")
