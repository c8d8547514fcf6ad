"""The header Idempotency-Key: a POST of the REST API that is sent again is done once.

A middleware does this for all routes, so that no view can forget it.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.datastructures import MultiValueDict

from ladder.accounts import idempotency, scopes, tokens
from ladder.accounts.idempotency import InProgress, KeyClaim, StoredResponse
from ladder.accounts.models import ApiToken
from ladder.web.api import problems, throttles
from torres.common.errors import LadderError

HEADER = "HTTP_IDEMPOTENCY_KEY"
STORED_HEADERS = ("Content-Type", "Location")
REPLAYED = "Idempotent-Replayed"
# These say nothing about the request itself, so that it is processed when it is sent
# again. A server error is followed by another attempt, too.
NOT_STORED = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
}


class IdempotencyKeys:
    """Answers a repeated request of a user with the response to the first one.

    1. Only a POST of the REST API with a valid token has a key. Anonymous requests
       change nothing, so their keys are ignored.
    2. A token without the scope of the route is refused by the route.
    3. Repetitions count as requests. Otherwise they would have no rate limit.
    4. A view whose response has a secret says so by `secret_response = True`. Then the
       response is not stored, and a repetition is told so.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST" or HEADER not in request.META:
            return self._get_response(request)
        response = None
        try:
            response = self._get_response(request)
        finally:
            claimed: KeyClaim | None = request.__dict__.pop("key_claim", None)
            if claimed is not None:
                _end(request, claimed, response)
        return response

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> HttpResponse | None:
        route = getattr(view, "cls", None)
        header = request.META.get(HEADER)
        if request.method != "POST" or header is None or route is None:
            return None
        token = tokens.find(request.META.get("HTTP_AUTHORIZATION", ""))
        if token is None or not token.scopes & scopes.needed(route, "POST"):
            return None
        try:
            key = idempotency.clean_key(header)
            found = idempotency.claim(token.user, key, fingerprint(request))
        except LadderError as refusal:
            return _count(request, token) or _refusal(request, refusal)
        if isinstance(found, StoredResponse):
            return _count(request, token) or _replay(found)
        request.__dict__["key_claim"] = found
        request.__dict__["secret_response"] = getattr(route, "secret_response", False)
        return None


def fingerprint(request: HttpRequest) -> str:
    """Return a digest of method, address and body.

    Of a form the parts are digested, because a program that sends it again separates
    them by another boundary. Files are read in chunks.
    """
    digest = sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type == "multipart/form-data":
        for text in _parts(request):
            digest.update(f"{len(text)} {text}\n".encode(errors="surrogatepass"))
    else:
        digest.update(request.body)
    return digest.hexdigest()


def _parts(request: HttpRequest) -> Iterator[str]:
    """Yield the names and values of a form in the order of the names."""
    fields: MultiValueDict[str, Any] = request.POST
    for name in sorted(fields):
        yield from (name, *fields.getlist(name))
    for name in sorted(request.FILES):
        for file in request.FILES.getlist(name):
            content = sha256()
            for chunk in file.chunks():
                content.update(chunk)
            file.seek(0)
            yield from (name, str(file.name), content.hexdigest())


def _end(request: HttpRequest, claimed: KeyClaim, response: Any) -> None:
    """Store the response, or give the key back if the request may be done later."""
    if (
        response is None
        or response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
        or response.status_code in NOT_STORED
        or response.streaming
    ):
        idempotency.release(claimed)
        return
    headers = {
        name: response[name] for name in STORED_HEADERS if response.has_header(name)
    }
    stored = StoredResponse(response.status_code, headers, response.content)
    secret = request.__dict__.pop("secret_response")
    idempotency.finish(claimed, stored, secret=secret)


def _count(request: HttpRequest, token: ApiToken) -> HttpResponse | None:
    """Count a request that no view sees. Return the refusal if it is one too many."""
    for quota in throttles.quotas_of_token(request, token):
        if quota.is_exceeded:
            wait = quota.use.left_s
            detail = f"Request was throttled. Expected available in {wait} seconds."
            response = problems.answer(request, 429, "throttled", detail)
            response["Retry-After"] = str(wait)
            return response
    return None


def _refusal(request: HttpRequest, refusal: LadderError) -> HttpResponse:
    response = problems.answer(request, refusal.http_status, refusal.code, str(refusal))
    if isinstance(refusal, InProgress):
        response["Retry-After"] = str(idempotency.RETRY_AFTER_S)
    return response


def _replay(stored: StoredResponse) -> HttpResponse:
    response = HttpResponse(stored.body, status=stored.status, headers=stored.headers)
    response[REPLAYED] = "true"
    return response
