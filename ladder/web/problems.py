"""Every error of the API as `application/problem+json` (RFC 9457).

`code` is stable and names the kind; `type` is where it is explained. What Django
refuses by itself, outside the REST framework, gets the same shape under /api/.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from ladder.common.errors import LadderError, TooMany

MEDIA_TYPE = "application/problem+json"
NEXT = {
    "not-authenticated": "This needs a token: send 'Authorization: Bearer TOKEN'. Who"
    " runs the ladder makes one with 'manage.py token NAME'.",
    "not-found": "There is nothing at this address. /api/docs/ lists them all.",
}
"""What to do next, where the framework says only what is wrong; by code."""


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """Return the body of one problem."""
    return {
        "type": f"/docs/problems/#{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **more,
    }


def handler(exc: Exception, _context: dict[str, Any]) -> Response | None:
    """Answer for an exception in a REST view; None lets Django answer with a 500."""
    if isinstance(exc, LadderError):
        answer = _refusal(exc)
    elif isinstance(exc, Http404):
        answer = _framework(exceptions.NotFound())
    elif isinstance(exc, PermissionDenied):
        answer = _framework(exceptions.PermissionDenied())
    elif isinstance(exc, exceptions.APIException):
        answer = _framework(exc)
    else:
        return None
    set_rollback()
    return answer


def _refusal(exc: LadderError) -> Response:
    headers = {}
    if isinstance(exc, TooMany) and exc.retry_after is not None:
        headers["Retry-After"] = str(exc.retry_after)
    body = problem(exc.http_status, exc.code, str(exc))
    return Response(
        body, status=exc.http_status, headers=headers, content_type=MEDIA_TYPE
    )


def _framework(exc: exceptions.APIException) -> Response:
    headers = {}
    if challenge := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(exc, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    code = str(exc.default_code).replace("_", "-")
    if isinstance(exc, exceptions.ValidationError):
        faults = list(_faults(exc.get_full_details()))
        said = "; ".join(f"{f['field']}: {f['detail']}" for f in faults)
        body = problem(exc.status_code, code, said, errors=faults)
    else:
        plain = str(exc.detail) == str(exc.default_detail)
        said = NEXT.get(code, str(exc.detail)) if plain else str(exc.detail)
        body = problem(exc.status_code, code, said)
    return Response(
        body, status=exc.status_code, headers=headers, content_type=MEDIA_TYPE
    )


def _faults(details: Any, field: str = "") -> Iterator[dict[str, str]]:
    """Flatten what the serializers say into one entry a fault."""
    if isinstance(details, list):
        for detail in details:
            yield from _faults(detail, field)
    elif set(details) == {"message", "code"}:
        yield {
            "field": field or "body",
            "code": str(details["code"]).replace("_", "-"),
            "detail": str(details["message"]),
        }
    else:
        for name, detail in details.items():
            inner = f"{field}.{name}" if field else str(name)
            yield from _faults(detail, inner)


def answer(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        body = problem(status, code, detail)
        return JsonResponse(body, status=status, content_type=MEDIA_TYPE)
    context = {"title": HTTPStatus(status).phrase, "detail": detail}
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # Without the request: who asks stands in a database that may be away.
        return HttpResponse(render_to_string("web/error.html", context), status=status)
    return render(request, "web/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 400, "bad-request", "This request cannot be understood.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 403, "permission-denied", "This is not yours to do.")


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    detail = "The form had expired. Go back, load the page again, and send it again."
    return answer(request, 403, "csrf-failed", detail)


def not_found(
    request: HttpRequest,
    exception: Exception | None = None,
) -> HttpResponse:
    detail = "There is nothing at this address."
    if request.path.startswith("/api/"):
        detail += " The schema at /api/schema/ lists all that there is."
        if not request.path.endswith("/") and _resolves(f"{request.path}/"):
            detail = f"Addresses end with a slash: {request.path}/."
    return answer(request, 404, "not-found", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    detail = "The service made a mistake. It was noted; try again in a while."
    return answer(request, 500, "server-error", detail)


def _resolves(path: str) -> bool:
    try:
        return resolve(path).func is not not_found
    except Resolver404:
        return False
