"""The parts of the OpenAPI document that all operations share."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "type": "object",
    "description": "RFC 9457. `code` is stable.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "code", "detail"],
                "properties": {
                    "field": {"type": "string"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
_PROBLEM_RESPONSE = {
    "description": "A problem",
    "content": {"application/problem+json": {"schema": PROBLEM}},
}


class Schema(AutoSchema):
    """Adds the problem document to the responses of every operation."""

    def _get_response_bodies(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(*args, **kwargs)
        return bodies | {"4XX": _PROBLEM_RESPONSE, "5XX": _PROBLEM_RESPONSE}


class BearerToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "ladder.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}
