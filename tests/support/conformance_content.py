"""What the official conformance suite asks a server for: tools, resources and prompts with fixed contents."""

from __future__ import annotations

from typing import Any

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def embedded(uri: str, kind: str, value: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": value}}


PICTURE = {"type": "image", "data": IMAGE, "mimeType": "image/png"}
MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
FIXED: dict[str, list[dict[str, Any]]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [PICTURE],
    "test_audio_content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [text("Multiple content types test:"), PICTURE, MIXED],
    "json_schema_2020_12_tool": [text("ok")],
    "test_x_mcp_header": [text("ok")],
}
"""Tools that answer the same every time."""

WHOLE_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
MIRRORED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
SCHEMAS = {"json_schema_2020_12_tool": WHOLE_SCHEMA, "test_x_mcp_header": MIRRORED}


def choices(*names: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)}


def titled(*names: str) -> list[dict[str, str]]:
    return [{"const": name, "title": name.title()} for name in names]


QUESTIONS: dict[str, dict[str, Any]] = {
    "test_elicitation": {
        "type": "object",
        "properties": {"response": {"type": "string", "description": "User's response"}},
        "required": ["response"],
    },
    "test_elicitation_sep1034_defaults": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": choices("active", "inactive", "pending") | {"default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    },
    "test_elicitation_sep1330_enums": {
        "type": "object",
        "properties": {
            "untitledSingle": choices("option1", "option2", "option3"),
            "titledSingle": {"type": "string", "oneOf": titled("value1", "value2", "value3")},
            "legacyEnum": choices("opt1", "opt2", "opt3") | {"enumNames": ["One", "Two", "Three"]},
            "untitledMulti": {"type": "array", "items": choices("option1", "option2", "option3")},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("value1", "value2", "value3")}},
        },
    },
}
"""Forms that tools put to the person behind a client."""

RESOURCES: list[dict[str, Any]] = [
    {"uri": "test://static-text", "name": "static text", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "static binary", "mimeType": "image/png"},
    {"uri": "test://watched-resource", "name": "watched", "mimeType": "text/plain"},
]
TEMPLATES: list[dict[str, Any]] = [
    {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}
]


def contents(uri: str) -> dict[str, Any] | None:
    """What a resource holds; None for one that is not there."""
    if uri == "test://static-binary":
        return {"uri": uri, "mimeType": "image/png", "blob": IMAGE}
    if uri in ("test://static-text", "test://watched-resource"):
        return {"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."}
    if uri.startswith("test://template/") and uri.endswith("/data"):
        ident = uri.split("/")[3]
        body = f'{{"id":"{ident}","templateTest":true,"data":"Data for ID: {ident}"}}'
        return {"uri": uri, "mimeType": "application/json", "text": body}
    return None


def _arguments(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": name, "required": True} for name in names]


PROMPTS: list[dict[str, Any]] = [
    {"name": "test_simple_prompt", "description": "Without arguments."},
    {"name": "test_prompt_with_arguments", "description": "Two.", "arguments": _arguments("arg1", "arg2")},
    {"name": "test_prompt_with_embedded_resource", "description": "One.", "arguments": _arguments("resourceUri")},
    {"name": "test_prompt_with_image", "description": "With a picture."},
    {"name": "test_input_required_result_prompt", "description": "Asks before it answers."},
]


def messages(name: str, given: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages of a prompt; None for one that is not there."""
    held = embedded(str(given.get("resourceUri")), "text/plain", "Embedded resource content for testing.")
    found = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [held, text("Please process the embedded resource above.")],
        "test_prompt_with_image": [PICTURE, text("Please analyze the image above.")],
    }.get(name)
    return None if found is None else [{"role": "user", "content": content} for content in found]
