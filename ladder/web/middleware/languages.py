"""Middleware: the language of a page.

A page has the language that its reader chose in the footer, which a cookie remembers,
or else the one that the browser asks for. Programs read English: no text of the API, of
a feed or of a file depends on the language of the reader.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

Handler = Callable[[HttpRequest], HttpResponse]

# The addresses of pages end like this, and these are none although they do.
PAGES = ("/", ".html")
NO_PAGES = ("/api/", "/admin/", "/oembed/")


def is_page(path: str) -> bool:
    """True if people read what is at this address, and not programs."""
    return path.endswith(PAGES) and not path.startswith(NO_PAGES)


class PageLanguages:
    """Translates pages, and tells caches on what their language depends.

    Django's `LocaleMiddleware` would translate answers to programs, too, and keeps the
    language of a request for what else its thread does.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_page(request.path_info):
            return self._get_response(request)
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = self._get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", language)
        return response
