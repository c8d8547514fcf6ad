"""Request bodies, measured before they are read."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import parsers
from rest_framework.exceptions import APIException

MAX_JSON = 64 << 10
FORM_OVERHEAD = 64 << 10


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "body-too-large"


def _judge(context: Mapping[str, Any] | None, most: int) -> None:
    """Refuse a long body; WSGI servers read no more than the declared length."""
    request = (context or {})["request"]
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if length > most:
        raise BodyTooLarge(f"The body has {length:,} bytes; the limit is {most:,}.")


class JSONParser(parsers.JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _judge(parser_context, MAX_JSON)
        return super().parse(stream, media_type, parser_context)


class UploadParser(parsers.MultiPartParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _judge(parser_context, settings.TORRES_UPLOAD_BYTES + FORM_OVERHEAD)
        return super().parse(stream, media_type, parser_context)
