"""Pagination of lists. An invalid `limit` or `cursor` is an error."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


def page_size(request: Request) -> int:
    """Return the query parameter `limit`. Raises ValidationError."""
    text = request.query_params.get("limit", str(DEFAULT_PAGE_SIZE))
    # The slice keeps int() from reading thousands of digits.
    digits = text.isascii() and text.isdigit()
    if not (digits and 1 <= int(text[:9]) <= MAX_PAGE_SIZE):
        raise ValidationError({"limit": f"Use a number from 1 to {MAX_PAGE_SIZE}."})
    return int(text)


class Cursor(CursorPagination):
    """Pages of rows, newest first. They do not shift while rows are added."""

    ordering = "-id"
    page_size = DEFAULT_PAGE_SIZE
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE_SIZE

    def get_page_size(self, request: Request) -> int:
        return page_size(request)

    def decode_cursor(self, request: Request) -> Any:
        if request.query_params.get("cursor") == "":
            raise ValidationError(
                {"cursor": "The cursor is empty. Use `next` or `previous`."}
            )
        try:
            return super().decode_cursor(request)
        except NotFound:
            raise ValidationError(
                {"cursor": "The cursor is not valid. Use `next` or `previous`."}
            ) from None

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": MAX_PAGE_SIZE}
        return parameters
