"""The acts on bots, uploads, games, workers, and accounts."""

from functools import partial

from django.contrib.auth.models import User

from ladder.accounts import invitations
from ladder.accounts.models import ApiToken, Invitation
from ladder.accounts.roles import is_operator
from ladder.bots import submissions
from ladder.bots.models import Bot, Submission
from ladder.games import attempts, services as games
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.moderation import accounts, bots, workers
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import (
    Act,
    Argument,
    ArgumentKind,
    Target,
    no_token,
)
from ladder.moderation.models import AuditEntry

Kind = AuditEntry.Kind
BOT = Target("bot", "the slug of a bot", "operate/bots/<slug:slug>/", Bot, "slug")
UPLOAD = Target(
    "upload", "the number of an upload", "operate/submissions/<int:pk>/", Submission
)
GAME = Target("game", "the number of a game", "operate/games/<int:pk>/", Game)
ACCOUNT = Target(
    "account", "a user name", "operate/accounts/<str:name>/", User, "username"
)
WORKER = Target(
    "worker",
    "the name of a worker, or HOST/ for all workers of a host",
    "operate/workers/",
    lookup=str,
)
TOKEN = Target(
    "token", "the number of a token in the admin", "operate/tokens/<int:pk>/", ApiToken
)
INVITATION = Target(
    "invitation",
    "the number of an invitation in the admin",
    "operate/invitations/<int:pk>/",
    Invitation,
)
NEW_INVITATION = Target("new invitation", "whom the invitation is for", lookup=str)


def _cancel_game(operator: Operator, game: Game) -> None:
    if not games.cancel(game.pk, f"cancelled by an operator: {operator.why}"):
        raise NotNow(f"The game is {game.status}; only a scheduled one is cancelled.")


def _release_game(operator: Operator, game: Game) -> None:
    reason = f"taken back by an operator: {operator.why}"
    if not attempts.release(game.pk, game.fence, reason):
        raise NotNow(f"The game is {game.status}; only a running one is taken back.")


def _validate_again(_: Operator, upload: Submission) -> None:
    submissions.restart(upload)


def _no_token_for_operators(user: User) -> str:
    if not is_operator(user):
        return ""
    return (
        f"{user} is an operator. Delete this account with manage.py operator, or on the"
        " page /operate/ after you signed in with a password."
    )


ACTS = [
    Act(
        "bench",
        "Bench",
        "Let a bot play no more games until an operator reinstates it.",
        BOT,
        partial(bots.set_aside, kind=Kind.BENCH),
    ),
    Act(
        "ban",
        "Ban",
        "Ban a bot. It plays no more games, and leaves its tournaments.",
        BOT,
        partial(bots.set_aside, kind=Kind.BAN),
    ),
    Act(
        "withdraw",
        "Withdraw",
        "Withdraw a bot, as its owner could.",
        BOT,
        partial(bots.set_aside, kind=Kind.WITHDRAW),
    ),
    Act(
        "reinstate",
        "Reinstate",
        "Let a benched, banned or withdrawn bot play again.",
        BOT,
        bots.reinstate,
    ),
    Act(
        "validate",
        "Validate again",
        "Validate an upload again from the start.",
        UPLOAD,
        _validate_again,
        audit=Kind.UPLOAD,
    ),
    Act(
        "cancel_game",
        "Cancel",
        "Cancel a game that is scheduled.",
        GAME,
        _cancel_game,
        audit=Kind.GAME,
        word="cancel",
    ),
    Act(
        "release",
        "Take from its worker",
        "Take a running game from its worker, so that another one plays it.",
        GAME,
        _release_game,
        audit=Kind.GAME,
    ),
    Act(
        "drain",
        "Drain",
        "Let workers finish their games and take no more.",
        WORKER,
        workers.drain,
    ),
    Act(
        "undrain",
        "End the drain",
        "Let drained workers take games again.",
        WORKER,
        workers.undrain,
    ),
    Act(
        "organiser",
        "Make an organiser",
        "Let a user create and run tournaments.",
        ACCOUNT,
        partial(bots.set_organiser, kind=Kind.ORGANISER),
    ),
    Act(
        "no_organiser",
        "End as organiser",
        "Take the role of an organiser from a user.",
        ACCOUNT,
        partial(bots.set_organiser, kind=Kind.NO_ORGANISER),
    ),
    Act(
        "operator",
        "Make an operator",
        "Let a user act as an operator, with all rights.",
        ACCOUNT,
        accounts.make_operator,
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "no_operator",
        "End as operator",
        "Take all rights of an operator from a user.",
        ACCOUNT,
        accounts.end_operator,
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "deactivate",
        "Deactivate",
        "End the sessions and tokens of a user, who cannot sign in any more.",
        ACCOUNT,
        accounts.deactivate,
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "activate",
        "Activate",
        "Let a user sign in again.",
        ACCOUNT,
        accounts.activate,
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "rename",
        "Rename",
        "Give a user another name.",
        ACCOUNT,
        accounts.rename,
        (Argument("name", "the new user name", ArgumentKind.TEXT, most=150),),
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "address",
        "Set the e-mail address",
        "Set the e-mail address of a user, which counts as confirmed.",
        ACCOUNT,
        accounts.set_address,
        (
            Argument(
                "address",
                "the new e-mail address; without one the old one is removed",
                ArgumentKind.TEXT,
                most=254,
                required=False,
            ),
        ),
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "delete_account",
        "Delete",
        "Delete an account. Its bots stop playing and lose their names.",
        ACCOUNT,
        bots.delete_account,
        token_refusal=_no_token_for_operators,
        word="delete",
    ),
    Act(
        "revoke_token",
        "Revoke",
        "Delete an API token. Its sessions end.",
        TOKEN,
        accounts.revoke_token,
        audit=Kind.ACCOUNT,
        word="revoke",
    ),
    Act(
        "invite",
        "Create",
        "Create an invitation. Its code is shown once.",
        NEW_INVITATION,
        accounts.invite,
        (
            Argument(
                "uses",
                "how many people may use it; by default 1",
                ArgumentKind.NUMBER,
                most=invitations.MAX_USES,
                required=False,
            ),
            Argument(
                "days",
                f"when it expires; by default after {invitations.DEFAULT_DAYS} days",
                ArgumentKind.NUMBER,
                most=invitations.MAX_DAYS,
                required=False,
            ),
        ),
        audit=Kind.ACCOUNT,
        token_refusal=no_token,
    ),
    Act(
        "revoke_invitation",
        "Revoke",
        "Delete an invitation, so that it invites no more people.",
        INVITATION,
        accounts.revoke_invitation,
        audit=Kind.ACCOUNT,
        word="revoke",
    ),
]
