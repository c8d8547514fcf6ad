"""Pagination of lists. An invalid `limit` or `cursor` is an error."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200
MAX_ID_DIGITS = 18  # all such numbers fit into a BIGINT


def page_size(request: Request) -> int:
    """Return the query parameter `limit`. Raises ValidationError."""
    text = request.query_params.get("limit", str(DEFAULT_PAGE_SIZE))
    # The slice keeps int() from reading thousands of digits.
    digits = text.isascii() and text.isdigit()
    if not (digits and 1 <= int(text[:9]) <= MAX_PAGE_SIZE):
        raise ValidationError({"limit": f"Use a number from 1 to {MAX_PAGE_SIZE}."})
    return int(text)


def _bad_cursor(why: str) -> ValidationError:
    return ValidationError(
        {"cursor": f"The cursor is {why}. Use `next` or `previous`."}
    )


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS


class Cursor(CursorPagination):
    """Pages of rows, newest first. They do not shift while rows are added."""

    ordering = "-id"
    page_size = DEFAULT_PAGE_SIZE
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE_SIZE

    def get_page_size(self, request: Request) -> int:
        return page_size(request)

    def decode_cursor(self, request: Request) -> Any:
        text = request.query_params.get("cursor")
        if text is None:
            return None
        if text == "":
            raise _bad_cursor("empty")
        try:
            cursor = super().decode_cursor(request)
        except NotFound:
            raise _bad_cursor("not valid") from None
        # The base class passes any text of a cursor to the database. The rows are
        # ordered by their ids, so the position is an id.
        position = cursor.position if cursor else None
        if position is not None and not _is_id(str(position)):
            raise _bad_cursor("not valid")
        return cursor

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": MAX_PAGE_SIZE}
        return parameters
