"""Mail to users. A request never waits for the mail server, and never fails by it.

Each message has a short-lived thread of its own. A message that cannot be sent is lost:
the log says so, and its recipient asks again. So an answer does not
reveal whether there was a message to send.
"""

import hashlib
import threading
from collections.abc import Mapping

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import translation

from ladder.common import rate_limits

# A mail server that is away holds up each thread for EMAIL_TIMEOUT.
MAX_THREADS = 16
# Otherwise strangers could fill the mailbox of a person.
MAX_PER_HOUR = 5
HOUR_S = 3600

log = structlog.get_logger()
_free_threads = threading.BoundedSemaphore(MAX_THREADS)


def send_later(recipient: str, template: str, context: Mapping[str, object]) -> None:
    """Render a message, whose first line is the subject, and send it in a thread.

    The message has the language of the request.
    """
    use = rate_limits.count(f"mail:{_digest(recipient)}", HOUR_S)
    if use.requests > MAX_PER_HOUR:
        log.warning("a message was not sent", reason="too many to one recipient")
        return
    if not _free_threads.acquire(blocking=False):
        log.error("a message was not sent", reason="the mail server is too slow")
        return
    language = translation.get_language() or settings.LANGUAGE_CODE
    thread = threading.Thread(
        target=_send,
        args=(recipient, template, context, language),
        name="mail",
        daemon=True,
    )
    thread.start()


def message(
    recipient: str, template: str, context: Mapping[str, object]
) -> EmailMessage:
    """Render a message, whose first line is the subject."""
    subject, _, body = render_to_string(template, context).partition("\n")
    return EmailMessage(subject, body.lstrip("\n"), to=[recipient])


def _send(
    recipient: str, template: str, context: Mapping[str, object], language: str
) -> None:
    try:
        with translation.override(language):
            rendered = message(recipient, template, context)
        rendered.send()
    except Exception as error:
        # Not the recipient, because the log is kept longer than an account.
        log.exception("a message was not sent", reason=str(error)[:500])
    finally:
        _free_threads.release()


def _digest(recipient: str) -> str:
    return hashlib.sha256(recipient.casefold().encode()).hexdigest()
