"""The query parameter `fields`: an answer of the REST API with some of its fields only.

A middleware does this for all routes. It takes the parameter out of the query, so that
the views do not have to know it, and selects from the JSON of their answers. The cache
of shared responses is outside, and tells addresses with other fields apart.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.permissions import SAFE_METHODS
from rest_framework.utils.urls import replace_query_param

from ladder.web.api import problems
from torres.common.quoting import quoted

PARAMETER = "fields"
NAMES = r"[a-z_]+(,[a-z_]+)*"
MAX_CHARS = 500
LINK = re.compile("<([^<>]*)>")


def selects_fields(view: object) -> bool:
    """True if the answers of a view have fields to select.

    Files, such as a replay, have none: they say so by `selects_fields = False`.
    """
    return bool(getattr(view, "selects_fields", True))


class FieldSelection:
    """Selects the fields that a GET names from the answer, or from each of its rows.

    1. An unknown field is an error that names the known ones. They are the keys of the
       rows; if there is no row, those of the serializer.
    2. The links to other pages have the same fields.
    3. The ETag is another one than that of the whole answer, and is compared here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        chosen: ChosenFields | None = request.__dict__.pop("chosen_fields", None)
        if chosen is None:
            return response
        if chosen.known_etag is not None:
            request.META["HTTP_IF_NONE_MATCH"] = chosen.known_etag
        is_json = response.headers.get("Content-Type") == "application/json"
        if response.status_code != HTTPStatus.OK or not is_json or response.streaming:
            return response
        return chosen.select(request, response)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> HttpResponse | None:
        route = getattr(view, "cls", None)
        if route is None or request.method not in SAFE_METHODS:
            return None
        if PARAMETER not in request.GET or not selects_fields(route):
            return None
        query = request.GET.copy()
        text = ",".join(map(str, query.pop(PARAMETER)))
        if len(text) > MAX_CHARS or not re.fullmatch(NAMES, text):
            return _refusal("Name one or more fields, separated by commas.")
        request.GET = query  # type: ignore[assignment]
        # The view has to return the body, from which the fields are selected.
        known_etag = request.META.pop("HTTP_IF_NONE_MATCH", None)
        request.__dict__.pop("headers", None)  # Django keeps a copy of them there
        request.__dict__["chosen_fields"] = ChosenFields(text, route, known_etag)
        return None


class ChosenFields:
    """The fields that one request names."""

    def __init__(self, text: str, route: type, known_etag: str | None) -> None:
        self._text = text
        self._names = dict.fromkeys(text.split(","))
        self._route = route
        self.known_etag = known_etag

    def select(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Return the answer with the chosen fields, a 304, or an error."""
        document = msgspec.json.decode(response.content)
        is_page = isinstance(document, dict) and isinstance(
            document.get("results"), list
        )
        rows = document["results"] if is_page else document
        known = self._known(rows)
        if unknown := [name for name in self._names if name not in known]:
            return _refusal(
                f"There is no field {quoted(unknown[0])} here. The fields are:"
                f" {', '.join(sorted(known))}."
            )
        selected = self._select(rows)
        if is_page:
            links = {
                key: self._link(document[key])
                for key in ("next", "previous")
                if document.get(key)
            }
            selected = {**document, **links, "results": selected}
        response.content = msgspec.json.encode(selected)
        if link := response.headers.get("Link"):
            response["Link"] = LINK.sub(lambda m: f"<{self._link(m[1])}>", link)
        return self._conditional(request, response)

    def _known(self, rows: Any) -> set[str]:
        """Return the names of all fields of the rows, or of a single object."""
        objects = rows if isinstance(rows, list) else [rows]
        known = {name for row in objects if isinstance(row, dict) for name in row}
        serializer = getattr(self._route, "serializer_class", None)
        if not known and serializer is not None:
            known = set(serializer().fields)
        return known

    def _select(self, rows: Any) -> Any:
        if isinstance(rows, list):
            return [self._select(row) for row in rows]
        return {name: rows[name] for name in self._names if name in rows}

    def _link(self, address: str) -> str:
        return str(replace_query_param(address, PARAMETER, self._text))

    def _conditional(
        self, request: HttpRequest, response: HttpResponse
    ) -> HttpResponse:
        etag = response.headers.get("ETag")
        if etag is None:
            return response
        fields = sha256(self._text.encode()).hexdigest()[:8]
        response["ETag"] = f'{etag.removesuffix(chr(34))}-{fields}"'
        return (
            get_conditional_response(request, response["ETag"], response=response)
            or response
        )


def _refusal(detail: str) -> HttpResponse:
    errors = [{"field": PARAMETER, "code": "invalid", "detail": detail}]
    body = problems.problem(400, "invalid", f"{PARAMETER}: {detail}", errors=errors)
    return HttpResponse(
        msgspec.json.encode(body), status=400, content_type=problems.MEDIA_TYPE
    )
