"""JSON Schema as every provider takes it.

Providers and local servers that hold a model to a schema know different parts of JSON Schema. What they have in common
is small: every field is required and none besides them is allowed, a value that may be missing is one that may be null,
and nothing limits lengths or numbers. The limits of a schema are checked by pydantic when the answer is here.
"""

from collections.abc import Mapping
from typing import Any, cast

from recollect.errors import Invalid

Schema = dict[str, Any]

KEPT = ("type", "enum", "description")
"""Taken over as they are. All else is a limit, a title, a default or a hint."""


def strict_schema(schema: Mapping[str, Any]) -> Schema:
    """The same shape in the common subset; what cannot be said in it is `Invalid`. Of a schema that is in it already:
    an equal one.

    A field with a default becomes required and keeps its type: the model writes the empty value that the type has."""
    root = dict(schema)
    if set(root) <= {"$ref", "$defs"} and "$ref" in root:  # How pydantic writes a model that holds itself.
        root = {**_definition(root, root["$ref"]), "$defs": root["$defs"]}
    made = _strict(root, "the answer")
    if made.get("type") != "object":
        raise Invalid("A model answers with an object: the schema must be one of named fields.")
    if definitions := _mapping(root.get("$defs")):
        made["$defs"] = {name: _strict(one, name) for name, one in definitions.items()}
    return made


def _strict(schema: Mapping[str, Any], place: str) -> Schema:
    if isinstance(schema.get("$ref"), str):
        return _reference(schema)
    parts = schema.get("anyOf") or schema.get("oneOf")
    if parts:
        return {**_kept(schema, "description"), "anyOf": [_strict(part, place) for part in parts]}
    together = schema.get("allOf")
    if together:
        if len(together) > 1:
            raise Invalid(f"{place}: allOf cannot be asked of every model. Write one type.")
        return {**_strict(together[0], place), **_kept(schema, "description")}
    if "const" in schema:
        return {**_kept(schema, *KEPT), "enum": [schema["const"]]}
    match schema.get("type"):
        case "object":
            return _object(schema, place)
        case "array":
            return _array(schema, place)
        case str() | list():
            return _kept(schema, *KEPT)
        case _:
            if "enum" in schema:
                return _kept(schema, *KEPT)
            raise Invalid(f"{place}: a value of any type cannot be asked of every model. Write one type.")


def _object(schema: Mapping[str, Any], place: str) -> Schema:
    fields = _mapping(schema.get("properties"))
    if not fields and schema.get("additionalProperties") is not False:
        raise Invalid(
            f"{place}: names that are not known before cannot be asked of every model. Write a list of pairs."
        )
    return {
        **_kept(schema, *KEPT),
        "properties": {name: _strict(field, f"{place}.{name}") for name, field in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _array(schema: Mapping[str, Any], place: str) -> Schema:
    if "prefixItems" in schema or not isinstance(schema.get("items"), Mapping):
        raise Invalid(f"{place}: a list whose places differ cannot be asked of every model. Write an object.")
    return {**_kept(schema, *KEPT), "items": _strict(schema["items"], f"{place}[]")}


def _reference(schema: Mapping[str, Any]) -> Schema:
    """Nothing may stand beside a reference, so a description goes around it."""
    reference = {"$ref": schema["$ref"]}
    described = _kept(schema, "description")
    return {**described, "anyOf": [reference]} if described else reference


def _definition(root: Mapping[str, Any], reference: str) -> Schema:
    return dict(_mapping(root.get("$defs"))[reference.rpartition("/")[2]])


def _kept(schema: Mapping[str, Any], *keys: str) -> Schema:
    return {key: schema[key] for key in keys if key in schema}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
