"""Parsers of request bodies, which check the declared length before they read."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import parsers
from rest_framework.exceptions import APIException

MAX_JSON_BYTES = 64 << 10
FORM_OVERHEAD_BYTES = 64 << 10  # what multipart/form-data adds to an upload


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "body-too-large"


def _check_length(context: Mapping[str, Any] | None, limit: int) -> None:
    """Raise BodyTooLarge if the declared length is above `limit` bytes.

    The declared length is enough: WSGI servers read no more than that.
    """
    request = (context or {})["request"]
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if length > limit:
        raise BodyTooLarge(f"The body has {length:,} bytes; the limit is {limit:,}.")


class JSONParser(parsers.JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _check_length(parser_context, MAX_JSON_BYTES)
        return super().parse(stream, media_type, parser_context)


class UploadParser(parsers.MultiPartParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _check_length(
            parser_context, settings.TORRES_UPLOAD_BYTES + FORM_OVERHEAD_BYTES
        )
        return super().parse(stream, media_type, parser_context)
