"""Pagination of lists. An invalid `limit` or `cursor` is an error."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from torres.common.moments import parse_moment

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
    """Pages of rows, newest first. They do not shift while rows are added.

    A view may offer other orders: its method `order` returns the columns for a request
    that its filters have accepted.
    """

    ordering = "-id"
    page_size = DEFAULT_PAGE_SIZE
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE_SIZE

    def get_page_size(self, request: Request) -> int:
        return page_size(request)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> Any:
        if hasattr(view, "order"):
            return view.order(request)
        return super().get_ordering(request, queryset, view)

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
        if cursor is None or cursor.position is None:
            return cursor
        position: Any = self._clean(str(cursor.position))  # the stubs say int
        return cursor._replace(position=position)

    def _clean(self, position: str) -> str:
        """Return the position of a cursor, an id or a moment. Raises ValidationError.

        The base class passes any text of a cursor to the database.
        """
        if self.ordering[0].lstrip("-") == "id":
            clean: object = position if _is_id(position) else None
        else:
            clean = parse_moment(position)
        if clean is None:
            raise _bad_cursor("not valid")
        return str(clean)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, object]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": MAX_PAGE_SIZE}
        return parameters
