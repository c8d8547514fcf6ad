"""Pages of lists in an order that changes: `page`, `limit` and similar parameters."""

from collections.abc import Collection

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

DEFAULT_ROWS = 50
MAX_ROWS = 200
MAX_NUMBER = 10**6
MAX_SEQ = 10**8

_LIMITS = {"limit": MAX_ROWS, "before": MAX_SEQ}


def number_parameter(name: str, most: int) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "integer", "minimum": 1, "maximum": most})


PAGE_PARAMETERS = [
    number_parameter("page", MAX_NUMBER),
    number_parameter("limit", MAX_ROWS),
]


def query_numbers(
    request: Request, others: Collection[str] = (), **defaults: int
) -> dict[str, int]:
    """Return the numbers of the query; raise ValidationError for anything else.

    The caller reads the parameters in `others` itself.
    """
    numbers = dict(defaults)
    for name, value in request.query_params.items():
        text = str(value)
        if name in others:
            continue
        if name not in defaults:
            known = ", ".join([*defaults, *others])
            raise ValidationError({name: f"Unknown parameter. Use one of: {known}."})
        most = _LIMITS.get(name, MAX_NUMBER)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
            raise ValidationError({name: f"Enter a number from 1 to {most}."})
        numbers[name] = int(text[:9])
    return numbers


def page_links(address: str, page: int, limit: int, total: int) -> dict[str, object]:
    """Return the number of all rows, and the addresses of the neighbouring pages.

    `address` ends where the number of the page follows.
    """
    more = page * limit < total
    return {
        "count": total,
        "next": f"{address}{page + 1}" if more else None,
        "previous": f"{address}{page - 1}" if page > 1 else None,
    }
