"""The rate limits of everything outside of the REST API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from ladder.common.rate_limits import address, wait_s
from ladder.web.api import problems

API_PREFIX = "/api/v1/"


class PageLimit:
    """Limits the requests of an address outside of the REST API.

    The REST API has limits of its own, per user (`throttles.PerMinute`).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(API_PREFIX):
            return self._get_response(request)
        client = f"addr:{address(request)}"
        refusal = too_often(request, "page", client, "requests from your address")
        return refusal or self._get_response(request)


def too_often(
    request: HttpRequest, scope: str, client: str, what: str = "attempts"
) -> HttpResponse | None:
    """Count an action. Return the refusal if there were too many within a minute.

    `scope` is a key of the setting TORRES_RATES; `what` names the actions to a person.
    """
    wait = wait_s(scope, client)
    if not wait:
        return None
    unit = "second" if wait == 1 else "seconds"
    detail = f"Too many {what}. Try again in {wait} {unit}."
    response = problems.answer(request, 429, "throttled", detail)
    response.headers["Retry-After"] = str(wait)
    return response
