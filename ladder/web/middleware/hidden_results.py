"""Middleware: readers who want to see no results.

A cookie for a year, or `?results=hidden` at one address, hides results. Then a page or
an answer without an entry in the table below is refused. So a new one cannot tell a
result by mistake. `?results=shown` shows the results at one address in spite of the
cookie.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from ladder.web.api import problems
from ladder.web.middleware.languages import is_page

Handler = Callable[[HttpRequest], HttpResponse]

COOKIE = FIELD = "results"
HIDDEN, SHOWN = "hidden", "shown"
READING = ("GET", "HEAD", "OPTIONS")

FREE = frozenset(
    {
        # The documentation, lessons and texts.
        *("docs", "document", "protocol", "problems", "schema-file", "schema"),
        *("api-docs", "api:languages", "learn", "lesson", "script-texts"),
        # Accounts.
        *("sign-in", "sign-up", "github", "github-callback", "confirm-email"),
        *("password-reset", "password-reset-sent", "password-reset-confirm"),
        *("password", "email", "delete-account", "tokens", "results", "language"),
        # Lists of names, and forms of organisers.
        *("bot-search", "tournaments-page", "organise-new", "organise-edit"),
        # The reader's own games by hand, runs in the editor, files and positions.
        *("play", "play-guest", "practice", "practice-state", "practice-preview"),
        *("practice-hints", "practice-answers", "practice-give-up", "practice-frames"),
        *("practice-board", "practice-replay", "write", "trial", "trial-progress"),
        *("trial-frames", "trial-submit", "replay-file", "position-page"),
    }
)
"""The routes that tell no result of a ladder or tournament, by name."""
HIDING = frozenset(
    {"home", "games-page", "game-page", "frames", "tv", "tournament-page"}
)
"""The routes whose views ask `are_hidden`, and then leave results out."""

DETAIL = (
    "You asked for answers without results, and this answer may contain some. Ask for"
    " this address with ?results=shown, or delete the cookie 'results'."
)


def hides(request: HttpRequest) -> bool:
    """True if the reader hides results wherever the address does not say otherwise."""
    return request.COOKIES.get(COOKIE) == HIDDEN


def are_hidden(request: HttpRequest) -> bool:
    """True if the answer to this request may contain no result."""
    wanted = request.GET.get(FIELD)
    return wanted == HIDDEN or (hides(request) and wanted != SHOWN)


class HiddenResults:
    """Refuses what would tell a result to a reader who hides results.

    A page may still receive a form. If it then leads to another page it told nothing.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        hidden = are_hidden(request)
        response = self._get_response(request)
        match = request.resolver_match
        if match is None or match.view_name in FREE:
            return response
        told = response.status_code < 300 or response.status_code == 422
        if hidden and told and _is_closed(request):
            response = _refusal(request)
        patch_vary_headers(response, ("Cookie",))
        return response

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> HttpResponse | None:
        is_form = request.method not in READING and _receives_forms(request, view)
        if are_hidden(request) and _is_closed(request) and not is_form:
            return _refusal(request)
        if _is_api(request) and FIELD in request.GET:
            # Views of the API refuse parameters that they do not know.
            others = request.GET.copy()
            del others[FIELD]
            request.GET = others  # type: ignore[assignment] # not changed again
        return None


def _is_closed(request: HttpRequest) -> bool:
    match = request.resolver_match
    name = match.view_name if match else ""
    return name not in FREE and name not in HIDING


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _receives_forms(
    request: HttpRequest, view: Callable[..., HttpResponseBase]
) -> bool:
    page = getattr(view, "view_class", None)
    return not _is_api(request) and hasattr(page, "post")


def _refusal(request: HttpRequest) -> HttpResponse:
    """Return a page that offers to show this one, or a problem for a program."""
    match = request.resolver_match
    is_stream = match is not None and match.view_name.endswith("-stream")
    if is_page(request.path_info) and not is_stream:
        query = request.GET.copy()
        query[FIELD] = SHOWN
        context = {"address": f"{request.path}?{query.urlencode()}"}
        return render(request, "web/hidden-results.html", context, status=403)
    body = problems.problem(HTTPStatus.FORBIDDEN, "results-hidden", DETAIL)
    return JsonResponse(body, status=403, content_type=problems.MEDIA_TYPE)
