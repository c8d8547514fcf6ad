"""Query parameters of pages."""

from django.http import HttpRequest


def number(request: HttpRequest, name: str) -> int | None:
    """Return a query parameter as a number; None if it is missing or not a number."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
