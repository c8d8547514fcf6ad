"""Erase a deleted account from stored events, in slices.

The events stay, so that numbers have no new gaps. The private events of the account
become empty, and its bots get their new names in all others.
"""

from collections.abc import Mapping
from typing import Any

from ladder.events.models import EventErasure, Fact
from ladder.events.outbox import API

EVENTS_PER_SLICE = 2000


def begin(user: int, new_names: Mapping[str, str]) -> None:
    """Let an account be erased. `new_names` maps the slugs of its bots to new ones."""
    EventErasure.objects.create(user=user, new_names=dict(new_names))


def due(limit: int) -> int:
    return EventErasure.objects.all()[:limit].count()


def erase_slice(limit: int) -> int:
    """Examine the next events for one account, or end its erasure.

    Return how many events were examined, at least 1; 0 if there is nothing to do.
    """
    erasure = EventErasure.objects.order_by("pk").first()
    if erasure is None:
        return 0
    later = Fact.objects.filter(pk__gt=erasure.last_event).order_by("pk")
    events = list(later[:EVENTS_PER_SLICE])
    changed = [event for event in events if _erase(event, erasure)]
    Fact.objects.bulk_update(changed, ["data", "owners"], batch_size=200)
    if not events:
        erasure.delete()
        return 1
    EventErasure.objects.filter(pk=erasure.pk).update(last_event=events[-1].pk)
    return len(events)


def _erase(event: Fact, erasure: EventErasure) -> bool:
    """Change the event in memory; return False if it does not concern the account."""
    before = event.data, event.owners
    owners = [owner for owner in event.owners if owner != erasure.user]
    is_only_theirs = not (event.public or owners)
    event.data = {} if is_only_theirs else _renamed(event.data, erasure.new_names)
    event.owners = owners
    return before != (event.data, event.owners)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 -- JSON
    """Return JSON in which bots have their new names, also in addresses."""
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    if not isinstance(value, dict):
        return value
    renamed = {key: _renamed(part, names) for key, part in value.items()}
    if "bots" in value:
        renamed["bots"] = [names.get(bot, bot) for bot in value["bots"]]
    if "bot" in value:
        renamed["bot"] = names.get(value["bot"], value["bot"])
    url = str(value.get("url", ""))
    if url.startswith(f"{API}bots/"):
        renamed["url"] = "/".join(names.get(part, part) for part in url.split("/"))
    return renamed
