"""Bodies of REST requests, conditional answers, and tables of routes."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.urls import URLPattern, path
from rest_framework.request import Request
from rest_framework.serializers import Serializer


def valid_body(request: Request, kind: type[Serializer[Any]]) -> dict[str, Any]:
    """Return the body of a request as a serializer reads it. Raises ValidationError."""
    body = kind(data=request.data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def conditional(
    request: Request | HttpRequest,
    etag: str,
    body: bytes,
    content_type: str = "application/json",
) -> HttpResponse:
    """Answer with the body, or with 304 if the client has the body with this ETag."""
    header = request.headers.get("If-None-Match", "")
    known = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    if header == "*" or etag in known:
        answer: HttpResponse = HttpResponseNotModified()
    else:
        answer = HttpResponse(body, content_type=content_type)
    answer["ETag"] = etag
    return answer


Route = (
    URLPattern
    | tuple[str, type[Any], str]
    | tuple[str, type[Any], str, Mapping[str, object]]
)
"""The address, the class of the view, its name, and values for the view."""


def routes(rows: Iterable[Route]) -> list[URLPattern]:
    """Return the URL patterns of a table of routes. Patterns stay as they are."""
    return [row if isinstance(row, URLPattern) else _pattern(*row) for row in rows]


def _pattern(
    address: str, view: type[Any], name: str, values: Mapping[str, object] = {}
) -> URLPattern:
    pattern: URLPattern = path(address, view.as_view(), dict(values), name=name)
    return pattern
