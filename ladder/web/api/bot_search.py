"""Find bots by a part of their name, for the fields in which a visitor names a bot."""

from dataclasses import asdict, dataclass
from difflib import get_close_matches

from django.core.validators import slug_re
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest, JsonResponse
from django.views import View

from ladder.bots.models import Bot
from ladder.bots.names import MAX_NAME_LENGTH
from ladder.ratings.models import Membership
from torres.common.names import name_key

MAX_FOUND = 20
MAX_NEAR = 3
COMPARED_NAMES = 500
"""Near matches are looked for among this many names with the same first letter."""


@dataclass(frozen=True, slots=True)
class FoundBot:
    """A bot that matches a search. `owner` is empty for house bots."""

    slug: str
    name: str
    owner: str


def search(text: str, ladder: str = "") -> list[FoundBot]:
    """Return at most `MAX_FOUND` bots with this text in their name or slug.

    Names that begin with it come first. With `ladder`, only bots are found that are or
    were on the ladder with this slug.
    """
    text = _clean(text)
    if not text:
        return []
    rows = Bot.objects.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    if ladder:
        rows = rows.filter(_is_on(ladder))
    begins = Case(When(name__istartswith=text, then=Value(0)), default=Value(1))
    ordered = rows.order_by(begins, "name", "pk")
    columns = ordered.values_list("slug", "name", "owner__username")
    return [
        FoundBot(slug, name, owner or "") for slug, name, owner in columns[:MAX_FOUND]
    ]


def find(text: str) -> Bot | None:
    """Return the bot with this slug or name; None if there is none."""
    text = _clean(text)
    if slug_re.match(text):
        bot = Bot.objects.filter(slug=text.lower()).first()
        if bot is not None:
            return bot
    return Bot.objects.filter(name_key=name_key(text)).first() if text else None


def no_such_bot(text: str) -> str:
    """Say that no bot has this name, and name those with a similar one."""
    shown = _clean(text)
    names = _near(shown)
    sentence = f"There is no bot “{shown}”."
    if not names:
        return f"{sentence} Choose one from the list of bots."
    return f"{sentence} Did you mean {' or '.join(names)}?"


def _near(text: str) -> list[str]:
    """Return the names of at most `MAX_NEAR` bots that are almost written like this."""
    if not text:
        return []
    first = text[:1]
    rows: QuerySet[Bot] = Bot.objects.filter(name__istartswith=first).order_by("-pk")
    names = list(rows.values_list("name", flat=True)[:COMPARED_NAMES])
    by_key = {name.casefold(): name for name in names}
    close = get_close_matches(text.casefold(), by_key, MAX_NEAR)
    if close:
        return [by_key[key] for key in close]
    return [found.name for found in search(text)[:MAX_NEAR]]


def _is_on(ladder: str) -> Exists | Q:
    if not slug_re.match(ladder):
        return Q(pk=None)
    return Exists(Membership.objects.filter(bot=OuterRef("pk"), ladder__slug=ladder))


def _clean(text: str) -> str:
    """Return the text as it may be searched: short, and without NUL characters."""
    return text.replace("\0", "").strip()[:MAX_NAME_LENGTH]


class BotSearch(View):
    """Bots whose name has the text `q`, as JSON; with `ladder` only those on it."""

    def get(self, request: HttpRequest) -> JsonResponse:
        text = request.GET.get("q", "")
        found = search(text, request.GET.get("ladder", ""))
        return JsonResponse({"results": [asdict(bot) for bot in found]})
