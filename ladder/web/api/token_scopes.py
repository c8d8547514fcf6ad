"""The scopes of tokens on pages: a session permits no more than the token behind it."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from ladder.accounts import scopes
from ladder.accounts.scopes import MissingScope, Scope
from ladder.web.api import problems


class SessionScopes:
    """Refuses a page or an action whose scope the token of the session lacks.

    A page names its scope as a view of the REST API does (`scopes.needed`). All
    sessions may read, because no token without READ opens one. The admin site asks
    whether the user is an operator, and `TokenSessions` has restricted the user.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> HttpResponse | None:
        if hasattr(view, "cls"):  # the REST API knows no sessions
            return None
        needed = scopes.needed(getattr(view, "view_class", view), request.method or "")
        # Most pages need READ. They do not have to read the session here.
        if needed == Scope.READ or needed & scopes.of_user(request.user):
            return None
        detail = str(MissingScope(needed).detail)
        return problems.answer(
            request, HTTPStatus.FORBIDDEN, MissingScope.code(), detail
        )
