"""Trials for tests: a house bot that plays, code, and a host."""

from django.contrib.auth.models import User

from ladder.bots import house_bots
from ladder.bots.models import Bot
from ladder.extras.editor import selectors, services, work
from ladder.extras.editor.models import TrialGame
from ladder.extras.editor.services import TrialTerms
from ladder.extras.practice.selectors import Guest
from tests.practice import factories
from torres.cli.new import KITS

FIRST_PYTHON = (KITS / "python" / "bot.py").read_text("utf-8")
FIRST_JAVASCRIPT = (KITS / "javascript" / "bot.js").read_text("utf-8")
GUEST = Guest("9" * 32)


def opponent() -> Bot:
    """Return the weakest house bot, with its real files."""
    if not Bot.objects.filter(slug=selectors.FAVOURITE).exists():
        house_bots.ensure_house_bots()
    return Bot.objects.get(slug=selectors.FAVOURITE)


def begin(
    source: str = FIRST_PYTHON,
    *,
    by: User | Guest | str = "ana",
    language: str = "python",
    address: str = "192.0.2.1",
) -> TrialGame:
    player = factories.person(by) if isinstance(by, str) else by
    terms = TrialTerms(language, source, opponent(), "yucata")
    return services.begin(player, address, terms)


def host() -> None:
    """Play the next trial as a host does."""
    hosted = work.begin_next()
    assert hosted is not None
    hosted.thread.join()


def played(source: str, language: str = "python") -> TrialGame:
    """Return a trial with this code that a host has played."""
    trial = begin(source, language=language)
    host()
    return fresh(trial)


def fresh(trial: TrialGame) -> TrialGame:
    return TrialGame.objects.get(pk=trial.pk)
