"""Long lists in pages; a bad `limit` or `cursor` is told, not guessed."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

DEFAULT, MOST = 50, 200


def page_size(request: Request) -> int:
    """Read `limit`, 1 to 200."""
    given = request.query_params.get("limit", str(DEFAULT))
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= MOST):
        raise ValidationError({"limit": f"A number from 1 to {MOST} is expected."})
    return int(given)


class Cursor(CursorPagination):
    """Newest first, stable while rows are added; `next` and `previous` are links."""

    ordering = "-id"
    page_size = DEFAULT
    page_size_query_param = "limit"
    max_page_size = MOST

    def get_page_size(self, request: Request) -> int:
        return page_size(request)

    def decode_cursor(self, request: Request) -> Any:
        if request.query_params.get("cursor") == "":
            raise ValidationError({"cursor": "Take it from `next` or `previous`."})
        try:
            return super().decode_cursor(request)
        except NotFound:
            raise ValidationError(
                {"cursor": "Unknown. Take it from `next` or `previous`."}
            ) from None

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": MOST}
        return parameters
