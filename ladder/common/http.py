"""Conditional answers to HTTP requests."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from rest_framework.request import Request


def conditional(request: Request | HttpRequest, etag: str, body: bytes) -> HttpResponse:
    """Answer with the body, or with 304 where the client has it."""
    known = request.headers.get("If-None-Match", "")
    if known == "*" or etag in [k.strip().removeprefix("W/") for k in known.split(",")]:
        answer: HttpResponse = HttpResponseNotModified()
    else:
        answer = HttpResponse(body, content_type="application/json")
    answer["ETag"] = etag
    return answer
