"""English sentences of rows and of `torres`, in the reader's language.

Rows, the API and the command have their sentences in English, with the values in them.
A page finds the text from which such a sentence was made, and translates that.
"""

import re
from functools import lru_cache

from django.utils.translation import get_language, gettext, gettext_noop as _

from ladder.common.action_texts import REASONS
from ladder.common.position_texts import MISTAKES
from ladder.common.refusal_texts import REFUSALS

SENTENCES = (
    # Refusals of accounts.
    _(
        "This link is not valid. It has expired, or a newer one was used. Ask for a new"
        " one on the page of your account."
    ),
    # Findings of checks.
    _("It plays with %(good)s seats and fails with %(bad)s: %(cause)s"),
    _("It plays %(good)s and fails in %(bad)s: %(cause)s"),
    _(
        "Read `seats` in hello: lists by seat have that many entries, and another seat"
        " may forfeit. %(cure)s"
    ),
    _(
        "Read `ruleset` and `switches` in hello, and let `decision` and `legal` say"
        " what is possible. %(cure)s"
    ),
    _("%(name)s is not installed here, and its first line names it."),
    _("A source file is %(encoding)s, which its language does not read."),
    _(
        "It holds packages that do not run with Python %(version)s on this system and"
        " processor."
    ),
    _("Measure CPU time: %(clocks)s. Otherwise a busy machine makes it hurry."),
    # Verdicts of comparisons.
    _("%(new)s is better than %(old)s."),
    _("%(new)s is worse than %(old)s."),
    _("No difference: %(new)s is not better than %(old)s by %(nelo)s nElo."),
    _("Undecided: more blocks are needed."),
    # Notes of entrants in standings.
    _("rank %(rank)s in group %(group)s"),
    _("eliminated in round %(round)s, decided by %(why)s"),
    _("wins the tournament"),
    _("still in"),
    # Why the matchmaker made a match.
    _("%(bot)s was next in line (%(games)s games, %(fresh)s with this upload)"),
    _("%(bot)s was next in line (%(games)s games)"),
    _(
        "%(bot)s is %(points)s points apart; %(head)s beats it with a probability of"
        " %(chance)s, and the game should give %(nats)s nats of information; they"
        " %(met)s"
    ),
    _("have not met lately"),
    _("have met once lately"),
    _("have met %(times)s times lately"),
    *REASONS,
    *REFUSALS,
    *MISTAKES,
)
"""Sentences with values. The first pattern that fits is taken."""
CLAUSES = {
    *("act", "after", "another", "bad", "before", "cause", "cure", "done", "good"),
    *("met", "piece", "status", "what", "why"),
}
"""Values that are sentences or words of ours. All others are names and numbers."""
MAX_NESTED = 4  # clauses within clauses; a hostile text may seem to have thousands
PLACE = re.compile(r"%\\\((\w+)\\\)s")


def translated(text: str) -> str:
    """Return one of our sentences in the reader's language, and any other as it is.

    A sentence may have the name of a field before it: "seed: Choose a number."
    """
    return _translated(text, MAX_NESTED)


def _translated(text: str, nested: int) -> str:
    if not text or not nested or get_language() == "en":
        return text
    whole = gettext(text)
    if whole != text:
        return whole
    for sentence, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return gettext(sentence) % {
                name: _part(value, nested - 1) if name in CLAUSES else value
                for name, value in found.groupdict().items()
            }
    field, _colon, reason = text.partition(": ")
    known = _translated(reason, nested - 1)
    return text if known == reason else f"{field}: {known}"


def _part(text: str, nested: int) -> str:
    """Translate a value. In the middle of a sentence it begins with a small letter."""
    found = _translated(text, nested)
    if found != text or not text[:1].islower():
        return found
    found = _translated(text[:1].upper() + text[1:], nested)
    return found[:1].lower() + found[1:]


@lru_cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (sentence, re.compile(PLACE.sub(_group, re.escape(sentence)), re.DOTALL))
        for sentence in SENTENCES
    ]


def _group(place: re.Match[str]) -> str:
    """Return the group of a value. A `number` has only digits."""
    values = r"\d+" if place[1] == "number" else ".+"
    return f"(?P<{place[1]}>{values})"
