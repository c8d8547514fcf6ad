"""Conditional answers to HTTP requests."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from rest_framework.request import Request


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
