"""The contents of the pages of games by hand, and their JSON documents.

Whatever leaves this module while a game runs shows only what the person's seat sees.
"""

import json
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from engine.documents import Replay
from engine.errors import EngineError
from engine.game import TorresGame
from ladder.extras.analysis import by_hand
from ladder.extras.practice import position, selectors
from ladder.extras.practice.endings import is_own
from ladder.extras.practice.gains import gains
from ladder.extras.practice.hints import good_turns
from ladder.extras.practice.models import (
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.extras.practice.position import Tentative
from ladder.extras.practice.selectors import PracticeProgress
from ladder.games import replays
from ladder.web.pages import analysis_pages
from torres.drawing import frames
from torres.drawing.board_svg import board_svg

DELETED = gettext_noop("a deleted bot")


@dataclass(frozen=True, slots=True)
class PracticeSeat:
    """One seat of a game by hand, as its page shows it. `bot` is "" for the person."""

    number: int
    name: str
    bot: str
    score: int | None
    rank: int | None
    forfeit: str
    detail: str
    stderr: str


def names(game: PracticeGame) -> list[str]:
    """Return the names of the players by seat."""
    bots = {opponent.number: _name(opponent) for opponent in game.opponents.all()}
    return [bots.get(number, game.player_name) for number in range(game.seats)]


def _name(opponent: PracticeOpponent) -> str:
    return opponent.submission.bot.name if opponent.submission else _(DELETED)


def details(game: PracticeGame) -> dict[str, object]:
    """Return the contents of the page of a game by hand.

    `question` and `legal` serve visitors without scripts. `again` are the fields of the
    form for another game like this one. `headline` says how a finished game ended, and
    `story_follows` whether the service is going to compute its story.
    """
    question = selectors.question(game)
    document = replay_document(game) if not game.is_open else None
    waits = game.status == PracticeStatus.WAITING
    return {
        "game": game,
        "seats": _seats(game),
        "question": None if question is None else question.ply,
        "legal": [] if question is None else question.legal(),
        "headline": _headline(game),
        "notes": [note for seat in game.opponents.all() for note in seat.notes],
        "again": _again(game),
        "place": selectors.place_in_queue(game.pk) if waits else 0,
        "hosted": selectors.host_is_alive() if waits else True,
        "has_replay": document is not None,
        "analysis": _analysis(game),
        "story_follows": by_hand.may_follow(game),
    }


def _analysis(game: PracticeGame) -> analysis_pages.ShownAnalysis | None:
    """Return the story of a game that has ended, if the service has computed it."""
    if game.story is None:
        return None
    return analysis_pages.shown_document(names(game), game.story)


def _seats(game: PracticeGame) -> list[PracticeSeat]:
    result = game.result or {}
    scores = result.get("scores", [None] * game.seats)
    ranks = result.get("ranks", [None] * game.seats)
    reasons = {forfeit["seat"]: forfeit["reason"] for forfeit in game.forfeits}
    opponents = {opponent.number: opponent for opponent in game.opponents.all()}
    seats = []
    for number, name in enumerate(names(game)):
        opponent = opponents.get(number)
        own = opponent is not None and is_own(game, opponent)
        submission = opponent.submission if opponent else None
        seats.append(
            PracticeSeat(
                number=number,
                name=name,
                bot=submission.bot.slug if submission else "",
                score=scores[number],
                rank=ranks[number],
                forfeit=reasons.get(number, ""),
                detail=opponent.fault_detail if opponent and own else "",
                stderr=opponent.stderr if opponent and own else "",
            )
        )
    return seats


def _headline(game: PracticeGame) -> str:
    if game.status != PracticeStatus.FINISHED or not game.result:
        return ""
    ranks = game.result["ranks"]
    rank = ranks[game.person_seat]
    if rank == 1:
        return _("You won.") if ranks.count(1) == 1 else _("You share the first rank.")
    return _("You are number %(rank)s of %(seats)s.") % {
        "rank": rank,
        "seats": game.seats,
    }


def _again(game: PracticeGame) -> dict[str, object]:
    fields: dict[str, object] = {
        "ruleset": game.ruleset,
        "seat": game.person_seat,
        "start": game.start,
    }
    chosen = [opponent.submission_id for opponent in game.opponents.all()]
    return fields | dict(zip(("one", "two", "three"), chosen, strict=False))


def replay_document(game: PracticeGame) -> Replay | None:
    """Return the replay of a game that has ended; None if it has none.

    The names are those of today, because an account may have been deleted meanwhile.
    """
    stored = PracticeGame.objects.values_list("replay", flat=True).get(pk=game.pk)
    if stored is None or game.is_open:
        return None
    document: Replay = json.loads(replays.unpack(bytes(stored)))
    document["players"] = [{"name": name} for name in names(game)]
    return document


def frames_document(game: PracticeGame) -> dict[str, object] | None:
    """Return all frames of a game that has ended, with nothing hidden."""
    document = replay_document(game)
    if document is None:
        return None
    try:
        start = position.start(game)
        positions = frames.frames(start, document["moves"], document["forfeits"])
    except EngineError:  # it was played by an engine with other rules
        return None
    return {"players": names(game), "over": True, "frames": positions}


def state_tag(game: PracticeProgress) -> str:
    """Return the ETag of the state: it changes with all that the page shows.

    It does not depend on the first frame of a response. Otherwise, each response would
    change the next request of the page, and so be followed by another one.
    """
    parts: list[object] = [*game]
    if game.status == PracticeStatus.WAITING:
        hosted = int(selectors.host_is_alive())
        parts += [selectors.place_in_queue(game.pk), hosted]
    return f'"practice-{"-".join(map(str, parts))}"'


def state_document(
    game: PracticeGame, moves: list[PracticeMove], since: int
) -> dict[str, Any]:
    """Return what the page needs from frame `since` on. `frames[0]` is that frame.

    `question` is null unless the person is asked.
    """
    torres = position.start(game)
    positions = frames.frames(
        torres,
        position.entries(moves),
        game.forfeits,
        seat=game.person_seat,
        since=since,
    )
    first = min(since, len(positions) - 1)
    waits = game.status == PracticeStatus.WAITING
    return {
        "status": game.status,
        "seat": game.person_seat,
        "players": names(game),
        "first": first,
        "frames": positions[first:],
        "notes": _notes_since(moves, positions[first]["move"]),
        "question": _question(game, selectors.asked(game, torres)),
        "place": selectors.place_in_queue(game.pk) if waits else 0,
        "hosted": selectors.host_is_alive() if waits else True,
    }


def _notes_since(
    moves: list[PracticeMove], index: int | None
) -> list[dict[str, object]]:
    return [
        {"move": move.index, "seat": move.seat, "note": move.note}
        for move in moves
        if move.note and (index is None or move.index >= index)
    ]


def _question(
    game: PracticeGame, torres: TorresGame | None
) -> dict[str, object] | None:
    if torres is None or game.deadline is None:
        return None
    left = (game.deadline - timezone.now()).total_seconds()
    return {
        "ply": torres.ply,
        "decision": torres.decision,
        "legal": torres.legal(),
        "gains": gains(torres),
        "seconds": max(0, round(left)),
    }


def preview_document(seat: int, tried: Tentative) -> dict[str, object]:
    """Return the position after a turn that is tried, and what may follow in it.

    It is the position as `seat` sees it.
    """
    return {
        "frame": frames.frame_of(tried.game, seat),
        "legal": tried.legal,
        "complete": tried.complete,
    }


def gains_after(tried: Tentative) -> dict[str, object]:
    """Return what each action gains that may follow a turn that is tried."""
    return {"gains": [] if tried.complete else gains(tried.game)}


def hints(tried: Tentative) -> list[dict[str, object]]:
    """Return good turns after the tried actions; none if nothing may follow them."""
    turns = [] if tried.complete else good_turns(tried.game)
    return [turn._asdict() for turn in turns]


def board_picture(game: PracticeGame) -> str:
    """Return the present board as SVG, for visitors without scripts."""
    torres = position.played(game, selectors.moves(game.pk))
    return board_svg(frames.frame_of(torres, game.person_seat), names(game))


def final_picture(game: PracticeGame, ply: int | None, *, dark: bool) -> str | None:
    """Return the board of a game that has ended after `ply` actions, or at its end.

    None if the game has no replay. `dark` is for a page with dark colours.
    """
    document = replay_document(game)
    if document is None:
        return None
    frame = frames.frame_after(
        position.start(game), document["moves"], document["forfeits"], ply
    )
    return board_svg(frame, names(game), dark=dark)
