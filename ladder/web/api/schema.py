"""The parts of the OpenAPI document that all operations share."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from ladder.accounts import scopes
from ladder.accounts.idempotency import KEY, takes_key

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
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": f"^{KEY.pattern}$"},
    OpenApiParameter.HEADER,
    description="A new text for each request, for example a UUID. The same request with"
    " the same key gets the same response for 24 hours, and is done once.",
)
_RATE_LIMITS = {
    name: {"$ref": f"#/components/headers/{name}"}
    for name in ("RateLimit", "RateLimit-Policy")
}


class Schema(AutoSchema):
    """Adds to every operation what all have in common.

    1. The problem document is among the responses.
    2. An operation is marked as public, or as one that needs a token. Public ones take
       a token, too, but do not need it.
    3. The responses have the headers of rate limits.
    4. A POST that creates something takes an Idempotency-Key.
    5. `x-scope` and the description name the scope that a token needs.
    """

    def get_auth(self) -> list[dict[str, object]]:
        auths: list[dict[str, object]] = super().get_auth()
        return [{}] if {} in auths else auths

    def get_description(self) -> str:  # type: ignore[override]
        scope = f"A token needs the scope `{self._scope()}`."
        return f"{super().get_description() or ''}\n\n{scope}".strip()

    def get_override_parameters(self) -> list[Any]:
        parameters = list(super().get_override_parameters())
        if self.method == "POST" and takes_key(self.view):
            parameters.append(_IDEMPOTENCY_KEY)
        return parameters

    def get_extensions(self) -> dict[str, object]:
        return {**super().get_extensions(), "x-scope": self._scope()}

    def _scope(self) -> str:
        return scopes.names(scopes.needed(self.view, self.method))[0]

    def _get_response_bodies(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(*args, **kwargs)
        bodies |= {"4XX": _PROBLEM_RESPONSE, "5XX": _PROBLEM_RESPONSE}
        return {
            status: body | {"headers": body.get("headers", {}) | _RATE_LIMITS}
            for status, body in bodies.items()
        }


class BearerToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "ladder.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, object]:
        return {"type": "http", "scheme": "bearer"}
