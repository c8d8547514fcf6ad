"""The page on which a newcomer learns the game: six boards, and one task on each.

A choice is a part of the address, so that the page needs no account, cookie or script.
"""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _, gettext_noop
from django.views import View

from engine import refusals
from engine.evaluation import FEATURES, features
from engine.game import TorresGame
from engine.moves import NUMBERS
from engine.position_text import position_from
from ladder.web.pages import watching

_STUDENT = 0  # the seat
_RULES = "torres-position/1:rules=yucata-open-hand:seats=2:round=4:order=01"
_TURN = "decision=turn:seat=0:stacks=/3:current=3:hands=u67ekmdjro/u67ekmdjro"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One board with a task.

    `action` has `{}` for the chosen space. The task is done if the feature of the seat
    (`engine.evaluation.FEATURES`) is at least `enough` after the action, or if the
    knight is on `goal`. `why` explains a right choice, and `missing` a legal one that
    misses the task.
    """

    title: str
    idea: str
    task: str
    fields: str
    action: str
    why: str
    missing: str
    feature: str = ""
    enough: int = 0
    goal: str = ""

    def game(self) -> TorresGame:
        """Return the game in the position of the lesson."""
        return position_from(f"{_RULES}:{self.fields}:{_TURN}").game()


@dataclass(frozen=True, slots=True)
class LessonOutcome:
    """The result of a choice: the game after it, and a text for the student."""

    game: TorresGame
    solved: bool
    text: str


def judge(lesson: Lesson, space: str) -> LessonOutcome:
    """Play the action of a lesson on a space, if the rules allow it."""
    game = lesson.game()
    if space not in NUMBERS:
        return LessonOutcome(
            game, solved=False, text=_("Choose a space from a1 to h8.")
        )
    action = lesson.action.format(space)
    if action not in game.legal():
        reason = _(refusals.reason(game.position, action))
        said = _("Not %(space)s: %(reason)s.") % {"space": space, "reason": reason}
        return LessonOutcome(game, solved=False, text=said)
    game.play(action)
    if _is_done(lesson, game):
        return LessonOutcome(game, solved=True, text=_(lesson.why))
    return LessonOutcome(game, solved=False, text=_(lesson.missing))


def _is_done(lesson: Lesson, game: TorresGame) -> bool:
    if lesson.goal:
        knights = game.position.board.knights[_STUDENT]
        return bool(knights >> NUMBERS[lesson.goal] & 1)
    return feature_of(game, lesson.feature) >= lesson.enough


def feature_of(game: TorresGame, name: str) -> float:
    """Return a feature of the student's seat in the present position."""
    return features([game.position], _STUDENT)[FEATURES.index(name)]


LESSONS = (
    Lesson(
        title=gettext_noop("Build a step"),
        idea=gettext_noop(
            "Blocks that touch along an edge are one castle. A castle may be as high"
            " as it has spaces, and a knight climbs one level at a time."
        ),
        task=gettext_noop(
            "Your knight stands at c3, on level 1. Put a block where it makes a step"
            " that the knight can climb."
        ),
        fields="phase=1:ap=5:heights=......../.....1../.....1../......../..1...../"
        "..1...../......../........:knights=c3/f6:king=f7",
        action="block {}",
        feature="climbs",
        enough=1,
        why=gettext_noop(
            "The castle is now two levels high, and it has two spaces, so the rules"
            " allow it. Your knight can climb from c3 to c4."
        ),
        missing=gettext_noop(
            "That is a legal block, but your knight still has no step beside it. A"
            " step is a space of your castle that is one level higher than the knight."
        ),
    ),
    Lesson(
        title=gettext_noop("Climb"),
        idea=gettext_noop(
            "A knight moves to a space beside it, never diagonally: up by one level"
            " at most, down by any number."
        ),
        task=gettext_noop("Move your knight from c3 to a higher level."),
        fields="phase=1:ap=5:heights=......../.....1../.....1../......../.13...../"
        ".21...../......../........:knights=c3/f6:king=f7",
        action="move c3 {}",
        feature="top",
        enough=2,
        why=gettext_noop(
            "From level 1 to level 2 is one step up. The tower at c4 has level 3,"
            " which is too high for a step."
        ),
        missing=gettext_noop(
            "The knight may go there, but it stands no higher than before."
        ),
    ),
    Lesson(
        title=gettext_noop("Walk through a castle"),
        idea=gettext_noop(
            "Each wall of a tower has a door. For one action point a knight goes in"
            " at its own level, through the castle, and out by another door; inside it"
            " never goes up."
        ),
        task=gettext_noop(
            "Your knight stands on the ground at c2. Bring it to c8, at the"
            " other end of the castle, with one move."
        ),
        fields="phase=1:ap=5:heights=.....1../..2..1../..2...../..2...../..2...../"
        "..2...../......../........:knights=c2/f7:king=f8",
        action="move c2 {}",
        goal="c8",
        why=gettext_noop(
            "The knight went in by the door at c3, along the whole castle, and out at"
            " c8. On foot that would have cost eight action points."
        ),
        missing=gettext_noop(
            "The knight may go there. But the door beside it leads further: look"
            " for the last door of the castle."
        ),
    ),
    Lesson(
        title=gettext_noop("Score a castle"),
        idea=gettext_noop(
            "At the end of a phase a castle brings its number of spaces times the"
            " level of your highest knight in it. Only the highest one counts."
        ),
        task=gettext_noop(
            "Your knight is on level 2 of a castle with three spaces: 3 × 2 = 6"
            " points. Put one block so that the castle brings 8."
        ),
        fields="phase=1:ap=1:heights=......../.....1../.....1../......../..2...../"
        "..21..../......../........:knights=c3/f6:king=f7",
        action="block {}",
        feature="castles",
        enough=8,
        why=gettext_noop(
            "The castle has four spaces now, and your knight stands on level 2: 4 × 2"
            " = 8 points. A wider castle pays as often as your knight is high."
        ),
        missing=gettext_noop(
            "That is a legal block, but your castle still brings 6 points, because"
            " it has no more spaces than before."
        ),
    ),
    Lesson(
        title=gettext_noop("Please the king"),
        idea=gettext_noop(
            "A knight in the king's castle earns a bonus if it stands on the level"
            " with the number of the phase: 5 points in phase 1, 10 in phase 2, 15 in"
            " phase 3."
        ),
        task=gettext_noop(
            "This is phase 2, and the crown at e3 is the king. Move your knight from"
            " c3 so that it earns the bonus of 10 points."
        ),
        fields="phase=2:ap=2:heights=......../......1./......../......../..2...../"
        ".3111.../......../........:knights=c3/g7:king=e3",
        action="move c3 {}",
        feature="king",
        enough=10,
        why=gettext_noop(
            "Your knight stands on level 2 of the king's castle in phase 2: 10 points,"
            " and the castle itself scores as well."
        ),
        missing=gettext_noop(
            "The knight may go there, but in phase 2 the bonus needs level 2 of"
            " the king's castle."
        ),
    ),
    Lesson(
        title=gettext_noop("Play a card"),
        idea=gettext_noop(
            "An action card breaks a rule once, and it costs no action points. This"
            " one lifts a knight by exactly two levels."
        ),
        task=gettext_noop(
            "Play the card “two levels up” with your knight at c3: choose where it"
            " goes."
        ),
        fields="phase=2:ap=1:heights=......../.....1../.....1../......../.13...../"
        ".21...../......../........:knights=c3/f6:king=f7",
        action="play up2 c3 {}",
        feature="top",
        enough=3,
        why=gettext_noop(
            "The knight jumped from level 1 to level 3, which no step could do."
            " Everybody has ten cards, and one may be played in a turn."
        ),
        missing=gettext_noop(
            "The knight may go there, but it is not two levels higher."
        ),
    ),
)


class LearnPage(View):
    """One lesson; `?space=` is the space that the student chose."""

    def get(self, request: HttpRequest, number: int = 1) -> HttpResponse:
        if not 1 <= number <= len(LESSONS):
            raise Http404("there is no such lesson")
        lesson = LESSONS[number - 1]
        space = request.GET.get("space", "").strip().lower()[:2]
        outcome = judge(lesson, space) if "space" in request.GET else None
        game = outcome.game if outcome else lesson.game()
        solved = outcome is not None and outcome.solved
        context = {
            "lesson": lesson,
            "number": number,
            "lessons": LESSONS,
            "next": number + 1 if number < len(LESSONS) else None,
            "outcome": outcome,
            "space": space,
            "board": watching.board(game),
            "tiles": () if solved else watching.tiles(lesson.game()),
        }
        return render(request, "web/learn.html", context)
