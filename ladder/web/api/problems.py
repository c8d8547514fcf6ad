"""Answer every error of the API with `application/problem+json` (RFC 9457).

`code` is stable and names the kind of problem; `type` is the URL of its explanation.
Errors that Django answers outside the REST framework get the same format under /api/,
and an HTML page elsewhere.
"""

import json
import sys
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from ladder.accounts.scopes import MissingScope
from torres.common.errors import BadFields, LadderError

MEDIA_TYPE = "application/problem+json"
DATABASE_RETRY_S = 5
# Better details for errors whose default detail does not say what to do next, by code.
NEXT_STEPS = {
    "not-authenticated": "This needs a token: send 'Authorization: Bearer TOKEN'."
    " Create one at /me/, or ask an operator, who creates one with 'manage.py token"
    " NAME'.",
    "not-found": "Nothing has this number or name, or you may not see it. Check the"
    " address; /api/docs/ lists all routes.",
}


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, object]:
    """Return the body of a problem document. `more` are additional members."""
    return {
        "type": f"/docs/problems/#{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **more,
    }


def handler(exc: Exception, _context: dict[str, object]) -> Response | None:
    """Return the response to an exception in a REST view.

    None lets Django answer with status 500.
    """
    if isinstance(exc, LadderError):
        response = _ladder_error(exc)
    elif isinstance(exc, Http404):
        response = _framework_error(exceptions.NotFound())
    elif isinstance(exc, PermissionDenied):
        response = _framework_error(exceptions.PermissionDenied())
    elif isinstance(exc, exceptions.APIException):
        response = _framework_error(exc)
    else:
        return None
    set_rollback()
    return response


def _ladder_error(exc: LadderError) -> Response:
    headers = {}
    if (retry_after := getattr(exc, "retry_after", None)) is not None:
        headers["Retry-After"] = str(retry_after)
    more: dict[str, object] = {}
    if isinstance(exc, BadFields):
        more["errors"] = [
            {"field": each.field, "code": exc.code, "detail": each.detail}
            for each in exc.problems
        ]
    status = exc.http_status
    body = problem(status, exc.code, str(exc), **more)
    return Response(body, status=status, headers=headers, content_type=MEDIA_TYPE)


def _framework_error(exc: exceptions.APIException) -> Response:
    headers = {}
    if challenge := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(exc, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if isinstance(exc, MissingScope):
        headers["WWW-Authenticate"] = (
            f'Bearer realm="api", error="insufficient_scope", scope="{exc.scope}"'
        )
    code = str(exc.default_code).replace("_", "-")
    if isinstance(exc, exceptions.ValidationError):
        errors = list(_field_errors(exc.get_full_details()))
        detail = "; ".join(f"{e['field']}: {e['detail']}" for e in errors)
        body = problem(exc.status_code, code, detail, errors=errors)
    else:
        detail = str(exc.detail)
        if detail == str(exc.default_detail):
            detail = NEXT_STEPS.get(code, detail)
        more = {"scope": exc.scope} if isinstance(exc, MissingScope) else {}
        body = problem(exc.status_code, code, detail, **more)
    return Response(
        body, status=exc.status_code, headers=headers, content_type=MEDIA_TYPE
    )


def _field_errors(details: Any, field: str = "") -> Iterator[dict[str, str]]:
    """Yield one entry for each error in the nested details of the serializers."""
    if isinstance(details, list):
        for detail in details:
            yield from _field_errors(detail, field)
    elif set(details) == {"message", "code"}:
        yield {
            "field": field or "body",
            "code": str(details["code"]).replace("_", "-"),
            "detail": str(details["message"]),
        }
    else:
        for name, detail in details.items():
            inner = f"{field}.{name}" if field else str(name)
            yield from _field_errors(detail, inner)


def answer(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    """Return a problem document under /api/, and an HTML page elsewhere."""
    is_html = not request.path.startswith("/api/")
    if is_html and status < HTTPStatus.INTERNAL_SERVER_ERROR:
        context = {"title": HTTPStatus(status).phrase, "detail": detail}
        return render(request, "web/error.html", context, status=status)
    # Render without the request: its user is read from the database, which may be
    # the reason for the error.
    content_type, body = content(request.path, status, code, detail)
    return HttpResponse(body, content_type=content_type, status=status)


def content(path: str, status: int, code: str, detail: str) -> tuple[str, bytes]:
    """Return the content type and the body of an error page that needs no request."""
    if path.startswith("/api/"):
        return MEDIA_TYPE, json.dumps(problem(status, code, detail)).encode()
    context = {"title": HTTPStatus(status).phrase, "detail": detail}
    page = render_to_string("web/error.html", context)
    return "text/html; charset=utf-8", page.encode()


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(
        request, 400, "bad-request", _("The server cannot understand this request.")
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    detail = _("You do not have permission for this action.")
    return answer(request, 403, "permission-denied", detail)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    detail = _(
        "The form has expired. Go back, reload the page and send the form again."
    )
    return answer(request, 403, "csrf-failed", detail)


def not_found(
    request: HttpRequest,
    exception: Exception | None = None,
) -> HttpResponse:
    detail = _("There is nothing at this address.")
    if request.path.startswith("/api/"):
        detail += " /api/schema/ lists all routes."
        if not request.path.endswith("/") and _resolves(f"{request.path}/"):
            detail = f"Addresses end with a slash. Use {request.path}/."
    return answer(request, 404, "not-found", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a request that raised an exception which no view expects."""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        # It is away, fails over, or met a limit of time: nobody's fault, and soon over.
        detail = _("The database of this service is too busy or away. Try again later.")
        response = answer(request, 503, "unavailable", detail)
        response["Retry-After"] = str(DATABASE_RETRY_S)
        return response
    request_id = getattr(request, "request_id", "without an id")
    detail = _(
        "The service has failed. The error was logged. Try again later. If it fails"
        " again, give the operator this number: %(number)s."
    ) % {"number": request_id}
    return answer(request, 500, "server-error", detail)


def _resolves(path: str) -> bool:
    try:
        return resolve(path).func is not not_found
    except Resolver404:
        return False
