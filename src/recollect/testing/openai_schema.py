"""Schemas as OpenAI's strict structured output takes them: what it refuses, and the plainest value of one."""

import re
from collections.abc import Iterator
from typing import Any, cast

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
REFUSED_KEYWORDS = frozenset(
    (
        "default",
        "minLength",
        "maxLength",
        "allOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "prefixItems",
        "unevaluatedProperties",
        "uniqueItems",
        "contains",
    )
)
MOST_DEPTH = 10
"""Levels of nesting that the API takes."""

Schema = dict[str, Any]
Path = tuple[str, ...]


class Unfit(ValueError):
    """What the API says of a schema that it cannot hold a model to."""


def check_format(given: Schema) -> None:
    """The value of `response_format.json_schema`."""
    name, schema = given.get("name"), given.get("schema")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Unfit("Invalid 'response_format.json_schema.name': expected a string of letters, digits, '_' and '-'.")
    if not isinstance(schema, dict):
        raise Unfit("Missing required parameter: 'response_format.json_schema.schema'.")
    if given.get("strict"):
        for problem in _problems(cast(Schema, schema), ()):
            raise Unfit(f"Invalid schema for response_format '{name}': {problem}")


def _problems(schema: Schema, place: Path) -> Iterator[str]:
    here = f"In context={place!r}, "
    if not place and (schema.get("type") != "object" or "anyOf" in schema):
        yield "schema must have type 'object' at its root and not be a union."
    if "$ref" in schema and len(schema) > 1:
        yield f"{here}$ref cannot have keywords {set(schema) - {'$ref'}}."
    for keyword in sorted(REFUSED_KEYWORDS & set(schema)):
        yield f"{here}'{keyword}' is not permitted."
    if not set(schema) & {"type", "enum", "const", "anyOf", "$ref"}:
        yield f"{here}schema must have a 'type' key."
    if len(place) > 2 * MOST_DEPTH + 2:
        yield f"{here}nested more than {MOST_DEPTH} levels."
    if schema.get("type") == "object":
        yield from _object_problems(schema, here)
    for child, step in _children(schema):
        yield from _problems(child, (*place, *step))


def _object_problems(schema: Schema, here: str) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield f"{here}'additionalProperties' is required to be supplied and to be false."
    names = set(cast(Schema, schema.get("properties") or {}))
    if names != set(cast(list[str], schema.get("required") or [])):
        yield f"{here}'required' is required to be supplied and to be an array including every key in properties."


def _children(schema: Schema) -> Iterator[tuple[Schema, Path]]:
    for key in ("properties", "$defs"):
        for name, child in cast(dict[str, Schema], schema.get(key) or {}).items():
            yield child, (key, name)
    for number, child in enumerate(cast(list[Schema], schema.get("anyOf") or [])):
        yield child, ("anyOf", str(number))
    if isinstance(schema.get("items"), dict):
        yield schema["items"], ("items",)


def plain_value(schema: Schema, whole: Schema | None = None) -> Any:
    """The least that is of the schema: empty texts and lists, first choices, null where it may be."""
    whole = schema if whole is None else whole
    if "$ref" in schema:
        return plain_value(whole["$defs"][str(schema["$ref"]).rpartition("/")[2]], whole)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if parts := cast(list[Schema], schema.get("anyOf") or []):
        is_nullable = any(part.get("type") == "null" for part in parts)
        return None if is_nullable else plain_value(parts[0], whole)
    if schema.get("type") == "object":
        fields = cast(dict[str, Schema], schema.get("properties") or {})
        return {name: plain_value(field, whole) for name, field in fields.items()}
    least: dict[str, Any] = {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}
    return least.get(str(schema.get("type")))
