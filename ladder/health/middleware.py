"""The addresses for machines that watch the service: health, readiness, metrics.

A middleware answers them before all others: a probe knows no host name, no session and
no rate limit, and the answer must not come from a cache.

- `/healthz`: 200 if this web server answers. It looks at nothing else.
- `/readyz`: 200 if all essential parts of the service do their work, else 503; as JSON.
  With `?part=database` only the parts that are named count.
- `/metrics`: metrics in the format of Prometheus, if TORRES_METRICS_TOKEN is set, for
  requests with this token.
"""

import secrets
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from ladder.common import tracing
from ladder.common.spans import Span, SpanKind
from ladder.health import metrics, signs
from ladder.health.signs import Sign

Handler = Callable[[HttpRequest], HttpResponse]
SCHEME = "Bearer "


class HealthRoutes:
    """Answers the three addresses, and measures all other requests."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = _ANSWERS.get(request.path_info)
        if answer is None:
            return self._measured(request)
        if request.method not in ("GET", "HEAD"):
            status = HTTPStatus.METHOD_NOT_ALLOWED
            return HttpResponse(status=status, headers={"Allow": "GET, HEAD"})
        response = answer(request)
        # That a part is away is no failure of this request, which Django would log.
        response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
        response["Cache-Control"] = "no-store"
        # Otherwise the server ends the connection after each answer.
        response["Content-Length"] = str(len(response.content))
        return response

    def _measured(self, request: HttpRequest) -> HttpResponse:
        """Answer a request with the other middlewares, and measure that.

        A trace of the client is not continued: strangers would choose what is traced.
        """
        span = tracing.span("request", parent="", kind=SpanKind.SERVER)
        with metrics.request_timer(request) as timer, span as recorded:
            response = self._get_response(request)
            timer.status = response.status_code
            if tracing.is_on():
                _describe(recorded, request, response)
        return response


def _describe(span: Span, request: HttpRequest, response: HttpResponse) -> None:
    """Describe a request by its route: its address may contain a secret."""
    method, route = metrics.method_of(request), metrics.route_of(request)
    span.rename(f"{method} /{route}")
    span.describe(
        {
            "http.request.method": method,
            "http.route": f"/{route}",
            "http.response.status_code": response.status_code,
            "torres.request": response.headers.get("X-Request-ID", ""),
        }
    )
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        span.fail(str(response.status_code))


def _health(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("This web server runs.\n", content_type="text/plain")


def _readiness(request: HttpRequest) -> HttpResponse:
    """Say for each part whether it does its work, without names of hosts."""
    parts = request.GET.getlist("part")
    if unknown := [part for part in parts if part not in signs.PARTS]:
        known = ", ".join(signs.PARTS)
        text = f"There is no part {unknown[0][:40]!r}. The parts are: {known}."
        return _refusal(HTTPStatus.BAD_REQUEST, text)
    seen = signs.look()
    ready = signs.is_ready(seen, parts or signs.ESSENTIAL)
    shown = {s.part: _document(s) for s in seen if not parts or s.part in parts}
    status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse({"ready": ready, "parts": shown}, status=status)


def _document(sign: Sign) -> dict[str, object]:
    age_s = None if sign.age_s is None else round(sign.age_s, 3)
    return {
        "ok": sign.is_good,
        "essential": sign.is_essential,
        "age_s": age_s,
        "problem": sign.problem,
    }


def _metrics(request: HttpRequest) -> HttpResponse:
    token = settings.TORRES_METRICS_TOKEN
    if not token:
        return _refusal(
            HTTPStatus.NOT_FOUND,
            "Metrics are switched off. The operator sets TORRES_METRICS_TOKEN.",
        )
    given = request.headers.get("Authorization", "")
    if not secrets.compare_digest(given.encode(), f"{SCHEME}{token}".encode()):
        response = _refusal(
            HTTPStatus.UNAUTHORIZED,
            "Send the header Authorization: Bearer with TORRES_METRICS_TOKEN.",
        )
        response["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(metrics.document(), content_type=metrics.CONTENT_TYPE)


def _refusal(status: HTTPStatus, text: str) -> HttpResponse:
    return HttpResponse(f"{text}\n", content_type="text/plain", status=status)


_ANSWERS: dict[str, Handler] = {
    "/healthz": _health,
    "/readyz": _readiness,
    "/metrics": _metrics,
}
