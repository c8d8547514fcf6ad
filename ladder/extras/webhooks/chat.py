"""Events as messages for a chat: the body that webhooks of Discord take."""

import re

from ladder.events import texts
from ladder.events.stream import EventRow

MAX_CHARS = 900  # Discord takes 2,000, and an escape may stand before each
_MARKUP = re.compile(r"([\\`*_~|<>\[\]()#@:])")


def chat_message(event: EventRow, site: str) -> dict[str, object]:
    """Return a message with what happened, and the address of the page about it.

    A name in it, for example of a tournament, cannot format the message or mention
    anybody. `site` is the address of the service, with a slash at the end. Raises
    KeyError if the data of a damaged event lack something.
    """
    said = " ".join(texts.sentence(event.kind, event.data).split())
    plain = _MARKUP.sub(r"\\\1", said[:MAX_CHARS])
    address = site.rstrip("/") + texts.page_of(event.data)
    return {
        "content": f"{plain}\n{address}",
        "allowed_mentions": {"parse": []},
    }
