"""Files that can be downloaded in parts: the header Range of RFC 9110, one range."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from rest_framework.request import Request

BLOCK_BYTES = 64 << 10
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def file_response(
    request: Request | HttpRequest, path: Path, etag: str
) -> HttpResponseBase:
    """Answer with a file, or with the part of it that the client asks for.

    Several ranges in one request, and ranges of another version of the file
    (`If-Range`), are answered with the whole file.
    """
    size = path.stat().st_size
    quoted = f'"{etag}"'
    asked = _asked(request, quoted)
    first, last = 0, size - 1
    status = HTTPStatus.OK
    if asked is not None:
        first, last = _bounds(asked, size)
        status = HTTPStatus.PARTIAL_CONTENT
        if first > last:
            refused = HttpResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            refused["Content-Range"] = f"bytes */{size}"
            return refused
    response = StreamingHttpResponse(
        _blocks(path, first, last),
        status=status,
        content_type="application/octet-stream",
    )
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = quoted
    response["Content-Length"] = str(last - first + 1)
    if status == HTTPStatus.PARTIAL_CONTENT:
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
    return response


def _asked(request: Request | HttpRequest, etag: str) -> re.Match[str] | None:
    """Return the range in the request; None means the whole file."""
    if request.headers.get("If-Range", etag) != etag:
        return None
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    return found if found and any(found.groups()) else None


def _bounds(asked: re.Match[str], size: int) -> tuple[int, int]:
    """Return the first and the last byte; the first one is larger if none exists."""
    first, last = asked.groups()
    if not first:  # a number of bytes at the end
        return max(size - int(last), 0), size - 1
    end = min(int(last), size - 1) if last else size - 1
    if last and int(last) < int(first):
        return 1, 0
    return int(first), end


def _blocks(path: Path, first: int, last: int) -> Iterator[bytes]:
    left = last - first + 1
    with path.open("rb") as file:
        file.seek(first)
        while left > 0 and (block := file.read(min(left, BLOCK_BYTES))):
            left -= len(block)
            yield block
