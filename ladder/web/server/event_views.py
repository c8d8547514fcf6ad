"""Events over REST: as a stream, or page by page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.roles import Person, is_operator
from ladder.bots.models import Bot
from ladder.common import rate_limits
from ladder.events import stream as outbox
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.games.export_views import AnyMedia
from ladder.ratings.models import Ladder
from ladder.tournaments import visibility as tournaments
from ladder.web.api.pagination import MAX_ID_DIGITS, page_size
from ladder.web.server.stream_views import stream
from ladder.web.server.streams import news
from ladder.web.server.streams.news import Reader
from ladder.web.server.streams.request import StreamRequest, Topic, Viewer
from torres.common.quoting import quoted

EVENT_STREAM = "text/event-stream"
MAX_VALUES = 100  # of one filter
MAX_FILTER_CHARS = 4000
# Events that one request examines. Beyond that the client asks again.
MAX_EXAMINED = 5000
# The parameter, and the key of the data of events.
KEYS = {
    "type": "type",
    "bot": "bots",
    "ladder": "ladder",
    "tournament": "tournament",
    "game": "game",
    "match": "match",
    "submission": "submission",
}


class EventQuery(serializers.Serializer[Any]):
    """The query parameters. A filter takes several values, separated by commas."""

    type = serializers.CharField(required=False, help_text="Types of events.")
    bot = serializers.CharField(required=False, help_text="Slugs of bots.")
    ladder = serializers.CharField(required=False, help_text="Slugs of ladders.")
    tournament = serializers.CharField(required=False, help_text="Slugs.")
    game = serializers.CharField(required=False, help_text="Numbers of games.")
    match = serializers.CharField(required=False, help_text="Numbers of matches.")
    submission = serializers.CharField(required=False, help_text="Ids of uploads.")
    after = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=10**MAX_ID_DIGITS,
        help_text="Only events with a higher number. Default of a stream: the header"
        " Last-Event-ID, otherwise what happens from now on.",
    )
    limit = serializers.IntegerField(
        required=False, help_text="Events of a page, at most 200; default 50."
    )


class EventSerializer(serializers.Serializer[Any]):
    # The name `data` is taken by the base class.
    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {
            "data": serializers.JSONField(help_text="See docs/events.md.")
        }

    number = serializers.IntegerField(help_text="The place in the order of events.")
    type = serializers.ChoiceField(choices=[kind.value for kind in EventKind])
    timestamp = serializers.DateTimeField()


class EventPageSerializer(serializers.Serializer[Any]):
    results = EventSerializer(many=True)
    last = serializers.IntegerField(help_text="Ask for the next page with `after`.")
    newest = serializers.IntegerField(help_text="The number of the newest event.")


class EventList(GenericAPIView[Fact]):
    """Events, oldest first: as a stream, or page by page.

    With `Accept: text/event-stream` the response never ends: it is a stream of
    server-sent events. A client that reconnects continues after its last event, which
    browsers do by themselves with the header Last-Event-ID. Otherwise the response is a
    page of at most `limit` events after the number `after`.
    """

    queryset = Fact.objects.none()
    serializer_class = EventPageSerializer
    pagination_class = None
    filter_backends = ()
    content_negotiation_class = AnyMedia

    @extend_schema(parameters=[EventQuery], responses=EventPageSerializer)
    def get(self, request: Request) -> Any:
        filters = _filters(request)
        viewer = _viewer(request.user)
        if EVENT_STREAM in request.headers.get("Accept", ""):
            wanted = StreamRequest(
                Topic.EVENTS,
                rate_limits.address(request),
                viewer=viewer,
                after=_after(request),
                filters=filters,
            )
            return stream(request._request, wanted)  # noqa: SLF001 - the Django request
        return self._page(Reader(viewer, tuple(sorted(filters.items()))), request)

    def _page(self, reader: Reader, request: Request) -> Response:
        limit = page_size(request)
        newest = outbox.newest()
        after = _after(request)
        if after is None:
            after = max(0, newest - limit)
        results: list[dict[str, Any]] = []
        end = min(after + MAX_EXAMINED, newest)
        while len(results) < limit and after < end:
            rows = outbox.read_matching(
                after, end, news.READ_AT_ONCE, dict(reader.filters)
            )
            for row in rows:
                after = row.number
                if reader.wants(row):
                    results.append(row.document())
                if len(results) == limit:
                    break
            else:
                if len(rows) < news.READ_AT_ONCE:
                    after = end
        return Response({"results": results, "last": after, "newest": newest})


def _after(request: Request) -> int | None:
    """Return the number after which events are wanted; None for from now on."""
    text = request.query_params.get("after") or request.headers.get("Last-Event-ID")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS):
        raise ValidationError({"after": f"{quoted(text)} is not a number of an event."})
    return int(text)


def _viewer(person: Person) -> Viewer:
    if person.pk is None:
        return Viewer()
    return Viewer(person.pk, is_operator=is_operator(person))


def _filters(request: Request) -> dict[str, tuple[str, ...]]:
    """Return the wanted values by keys of events. Raises ValidationError."""
    filters = {}
    for name in request.query_params:
        if name not in (*KEYS, "after", "limit"):
            known = ", ".join((*KEYS, "after", "limit"))
            raise ValidationError({name[:40]: f"Unknown parameter. Known: {known}."})
    for name, key in KEYS.items():
        text = request.query_params.get(name)
        if text is None:
            continue
        values = tuple(sorted(set(text[:MAX_FILTER_CHARS].split(","))))
        if len(values) > MAX_VALUES or len(text) > MAX_FILTER_CHARS:
            raise ValidationError({name: f"Name at most {MAX_VALUES} values."})
        wrong = _unknown(name, values)
        if wrong is not None:
            raise ValidationError({name: wrong})
        filters[key] = values
    return filters


def _unknown(name: str, values: tuple[str, ...]) -> str | None:
    """Return an error if one of the values cannot be."""
    if name == "type":
        known = [kind.value for kind in EventKind]
        wrong = next((each for each in values if each not in known), None)
        listed = ", ".join(known)
        return wrong and f"{quoted(wrong)} is not known. Use some of: {listed}."
    if name in ("game", "match", "submission"):
        wrong = next((each for each in values if not _is_number(each)), None)
        return None if wrong is None else f"{quoted(wrong)} is not a number."
    rows = {
        "bot": Bot.objects.all(),
        "ladder": Ladder.objects.all(),
        "tournament": tournaments.tournaments(),
    }[name]
    found = set(rows.filter(slug__in=values).values_list("slug", flat=True))
    wrong = next((each for each in values if each not in found), None)
    return None if wrong is None else f"There is no {name} {quoted(wrong)}."


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS
