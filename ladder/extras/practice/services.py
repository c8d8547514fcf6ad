"""A person's actions in practice games: begin one, answer, and give up.

These functions write rows. A host (`host`) finds the rows and plays the games.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.db import transaction

from engine.analysis import reshuffled
from engine.editions import PRESETS
from engine.errors import BadPosition, EngineError
from engine.position_text import PlacedPosition, position_from, text_of
from engine.rulesets import MAX_SEATS, MIN_SEATS, resolve
from ladder.bots.models import Submission
from ladder.extras.practice import position, selectors
from ladder.extras.practice.endings import close
from ladder.extras.practice.models import (
    OPEN_PRACTICE,
    PracticeGame,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.extras.practice.position import MAX_ACTION_CHARS, MAX_ACTIONS
from ladder.extras.practice.selectors import Guest
from torres.common.errors import LadderError, TooMany
from torres.runner.protocol import Limits

MAX_WAITING = 50
"""The games of all persons that may wait at once."""
KEPT_GAMES = 50
"""The ended games that are kept of one person."""


class BadPracticeGame(LadderError, code="bad-practice-game", http_status=422):
    """A practice game cannot be played like this."""


class PracticeIsOff(LadderError, code="practice-is-off", http_status=409):
    """This service offers no practice games."""


class OldQuestion(LadderError, code="old-question", http_status=409):
    """The game does not ask this question, or not any more."""


class BadAnswer(LadderError, code="bad-answer", http_status=422):
    """The actions are not legal now."""


@dataclass(frozen=True, slots=True)
class PracticeTerms:
    """The choices of a person. `person_seat` None stands for a random seat.

    `opponents` are ids of submissions in the order of the remaining seats. With
    `start`, the text of a position, the game begins there and has its rules, and None
    stands for the seat that decides.
    """

    ruleset: str
    opponents: Sequence[int]
    person_seat: int | None = None
    start: str = ""


@transaction.atomic
def begin(by: User, terms: PracticeTerms) -> PracticeGame:
    """Let a person wait for a game against these bots.

    Raises PracticeIsOff, BadPracticeGame, and TooMany.
    """
    # The lock makes two requests at once count one after the other.
    User.objects.select_for_update().get(pk=by.pk)
    if not selectors.games_left(by):
        raise TooMany(
            f"The limit is {settings.TORRES_PRACTICE_PER_HOUR} games by hand in an"
            " hour. Try again later."
        )
    _forget_old_games(by)
    return create(by, terms)


def create(by: User | Guest, terms: PracticeTerms) -> PracticeGame:
    """Store a waiting game. The caller holds a lock, and has checked its own quotas.

    Raises PracticeIsOff, BadPracticeGame, and TooMany.
    """
    if not selectors.is_switched_on():
        raise PracticeIsOff(
            "This service offers no games by hand. Play at home with: torres play"
        )
    if selectors.open_game(by):
        raise TooMany("You play a game already. Finish it, or give it up.")
    if selectors.waiting_count() >= MAX_WAITING:
        raise TooMany("Too many people wait for a game. Try again in some minutes.")
    start = placed(terms.start) if terms.start else None
    ruleset = start.rules.ruleset if start else terms.ruleset
    seats = _seats(terms, ruleset, start)
    sitting = _sitting(by, terms, ruleset)
    person_seat = _person_seat(terms, seats, start)
    game = PracticeGame.objects.create(
        owner=by if isinstance(by, User) else None,
        guest=by.key if isinstance(by, Guest) else "",
        ruleset=ruleset,
        switches=resolve(ruleset, seats).switches(),
        limits=Limits().as_dict(),
        start=_shuffled_text(start) if start else "",
        seats=seats,
        person_seat=person_seat,
        seed=new_seed(),
        bank_s=settings.TORRES_PRACTICE_BANK_SECONDS,
    )
    numbers = [number for number in range(seats) if number != person_seat]
    PracticeOpponent.objects.bulk_create(
        PracticeOpponent(game=game, number=number, submission=submission)
        for number, submission in zip(numbers, sitting, strict=True)
    )
    return game


def _seats(terms: PracticeTerms, ruleset: str, start: PlacedPosition | None) -> int:
    """Return the number of seats. Raises BadPracticeGame."""
    seats = len(terms.opponents) + 1
    if ruleset not in PRESETS:
        raise BadPracticeGame(
            f"There is no ruleset {ruleset[:40]!r}. Choose one from the list."
        )
    if not MIN_SEATS <= seats <= MAX_SEATS:
        raise BadPracticeGame(
            f"A game has {MIN_SEATS} to {MAX_SEATS} seats. Choose one to"
            f" {MAX_SEATS - 1} bots."
        )
    if start and seats != start.rules.seats:
        needed = start.rules.seats
        raise BadPracticeGame(
            f"The position has {needed} seats: choose bots for {needed - 1} of them."
        )
    return seats


def _person_seat(terms: PracticeTerms, seats: int, start: PlacedPosition | None) -> int:
    """Return where the person sits. Raises BadPracticeGame."""
    if terms.person_seat is None:
        return start.position.seat if start else secrets.randbelow(seats)
    if not 0 <= terms.person_seat < seats:
        raise BadPracticeGame(
            f"A game against {seats - 1} bots has the seats 0 to {seats - 1}. Choose"
            " another seat."
        )
    return terms.person_seat


def placed(text: str) -> PlacedPosition:
    """Return the position at which a game by hand can begin. Raises BadPracticeGame."""
    try:
        start = position_from(text)
    except BadPosition as error:
        raise BadPracticeGame(f"This is no position. {error}.") from error
    if start.game().over:
        raise BadPracticeGame(
            "The game is over in this position. Choose an earlier one."
        )
    if start.rules != resolve(start.rules.ruleset, start.rules.seats):
        raise BadPracticeGame(
            "The position has switches that differ from its ruleset. Leave them out:"
            " the bots know the rulesets."
        )
    return start


def _shuffled_text(start: PlacedPosition) -> str:
    """Return the text with the decks shuffled, because the person may know them."""
    position = reshuffled(start.position, secrets.SystemRandom())
    return text_of(position, start.rules)


def new_seed() -> str:
    """Return 128 random bits in hex, from which nobody can guess the decks."""
    return secrets.token_hex(16)


def _sitting(by: User | Guest, terms: PracticeTerms, ruleset: str) -> list[Submission]:
    """Return the chosen submissions in order. Raises BadPracticeGame."""
    offered = {one.pk: one for one in selectors.opponents(by).all()}
    if any(pk not in offered for pk in terms.opponents):
        raise BadPracticeGame(
            "One of these bots does not play by hand any more: it has a new version, or"
            " its owner does not offer it. Choose another one."
        )
    sitting = [offered[pk] for pk in terms.opponents]
    others = [one for one in sitting if one.bot.owner_id != by.pk]
    untried = selectors.without_ruleset(others, ruleset)
    for submission in sitting:
        if submission.bot_id in untried:
            raise BadPracticeGame(
                f"{submission.bot.name} plays on no ladder with the ruleset"
                f" {ruleset}. Choose another bot, or another ruleset."
            )
        if not storages["bots"].exists(submission.package):
            raise BadPracticeGame(
                f"The files of {submission.bot.name} are gone. Choose another bot."
            )
    return sitting


def _forget_old_games(by: User) -> None:
    ended = by.practice_games.exclude(status__in=OPEN_PRACTICE).order_by("-pk")
    old = list(ended.values_list("pk", flat=True)[KEPT_GAMES - 1 :])
    PracticeGame.objects.filter(pk__in=old).delete()


def answer(game: PracticeGame, ply: int, actions: Sequence[str]) -> None:
    """Answer the question with the number `ply`. Idempotent.

    The engine checks the actions, so that an error in a browser forfeits nothing. One
    guarded UPDATE stores them, so of two different answers only one counts. Raises
    OldQuestion and BadAnswer.
    """
    check_shape(actions)
    if not actions:
        raise BadAnswer("The answer has no action. Choose at least one.")
    if _is_repeated(game, ply, actions):
        return
    tentative(game, ply, actions)
    asked = PracticeGame.objects.filter(
        pk=game.pk, status=PracticeStatus.RUNNING, ply=ply
    )
    unanswered = asked.exclude(answer_ply=ply)
    if not unanswered.update(answer_ply=ply, answer=list(actions)):
        game.refresh_from_db(fields=["ply", "answer_ply", "answer"])
        if not _is_repeated(game, ply, actions):
            raise OldQuestion("This question is answered. Read the state again.")


def _is_repeated(game: PracticeGame, ply: int, actions: Sequence[str]) -> bool:
    return game.answer_ply == ply and game.answer == list(actions)


def tentative(
    game: PracticeGame, ply: int, actions: Sequence[str]
) -> position.Tentative:
    """Try actions for the present question without sending them.

    Raises OldQuestion and BadAnswer.
    """
    check_shape(actions)
    question = selectors.question(game)
    if question is None or question.ply != ply:
        raise OldQuestion(
            "The game does not ask this question now. Read the state again."
        )
    try:
        return position.attempt(question, actions)
    except EngineError as refusal:
        raise BadAnswer(str(refusal)) from refusal


def check_shape(actions: Sequence[str]) -> None:
    """Refuse what no browser of ours sends. Raises BadAnswer."""
    if len(actions) > MAX_ACTIONS:
        raise BadAnswer(f"An answer has at most {MAX_ACTIONS} actions.")
    if any(len(action) > MAX_ACTION_CHARS for action in actions):
        raise BadAnswer(f"An action has at most {MAX_ACTION_CHARS} characters.")


def give_up(game: PracticeGame) -> bool:
    """End a game that the person does not want to go on with; False if it has ended.

    The host that plays it notices at its next look at the row.
    """
    return close(game.pk, PracticeStatus.ABANDONED, "You gave the game up.")
