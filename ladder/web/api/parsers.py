"""Parsers of request bodies. `web.middleware.bodies` limits the size of a body."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JSONParser(parsers.JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(
                "The JSON is nested too deeply. Send one object of plain values."
            ) from None


class UploadParser(parsers.MultiPartParser):
    """Accepts `multipart/form-data` only."""
