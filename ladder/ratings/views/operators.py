"""The REST views of operators' actions: one route for each, with a required reason.

They call `actions.perform`, as the console does, so an action has the same effects and
the same audit entry. The answer is that entry.
"""

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.roles import is_operator, operator
from ladder.bots.serializers import TextField
from ladder.games import selectors as games
from ladder.games.models import Worker
from ladder.moderation.audit import Operator
from ladder.moderation.models import MAX_WHY_LENGTH, AuditEntry
from ladder.moderation.serializers import AuditEntrySerializer
from ladder.ratings.actions import ActionRequest, perform
from ladder.ratings.seasons import MAX_PRIZES
from torres.common.errors import LadderError

Kind = AuditEntry.Kind
BECAUSE = OpenApiExample(
    "a reason", {"why": "It attacks the sandbox."}, request_only=True
)


class BadAction(LadderError):
    """The REST API does not offer the action in this way; the message says which."""

    code = "bad-action"
    http_status = 422


class ActionSerializer(serializers.Serializer[Any]):
    why = TextField(
        max_length=MAX_WHY_LENGTH, help_text="The reason, for the audit log."
    )


class MergeSerializer(ActionSerializer):
    into = serializers.SlugField(max_length=64, help_text="The bot that stays.")


class LadderChoiceSerializer(ActionSerializer):
    ladder = serializers.SlugField(max_length=64)


class FinalsSerializer(ActionSerializer):
    prizes = serializers.IntegerField(
        min_value=1,
        max_value=MAX_PRIZES,
        required=False,
        help_text="The number of prizes; by default that of the season.",
    )


class WorkerChoiceSerializer(ActionSerializer):
    worker = TextField(
        max_length=120,
        help_text="The name of a worker, or HOST/ for all workers of a host.",
    )


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    class Meta:
        model = Worker
        fields = [
            "name",
            "host",
            "sandbox",
            "slots",
            "load",
            "seen_at",
            "drained",
            "drained_why",
        ]
        read_only_fields = fields


class OperatorAction(APIView):
    """Base class: read the body and perform the action `kind` on a target."""

    scope = "operate"
    kind = Kind.BAN
    body_class: type[ActionSerializer] = ActionSerializer

    def act(self, request: Request, target: str) -> Response:
        by = operator(request)
        body = self.body_class(data=request.data)
        body.is_valid(raise_exception=True)
        fields = dict(body.validated_data)
        acting = Operator(by, fields.pop("why"))
        target = fields.pop("worker", target)
        self.check(by, target)
        entry = perform(acting, ActionRequest(self.kind, target, **fields))
        return Response(AuditEntrySerializer(entry).data)

    def check(self, by: User, target: str) -> None:
        """Refuse what only the console may do."""


class BotAction(OperatorAction):
    """Do this with a bot, as an operator. Its owner cannot undo it."""

    @extend_schema(
        request=ActionSerializer, responses=AuditEntrySerializer, examples=[BECAUSE]
    )
    def post(self, request: Request, slug: str) -> Response:
        return self.act(request, slug)


class BotMerge(OperatorAction):
    """Merge a bot into another one, if one person has entered both."""

    kind = Kind.MERGE
    body_class = MergeSerializer

    @extend_schema(request=MergeSerializer, responses=AuditEntrySerializer)
    def post(self, request: Request, slug: str) -> Response:
        return self.act(request, slug)


class BotLadderAction(OperatorAction):
    """Let a bot play on a ladder, or take it off; its owner cannot undo the latter."""

    body_class = LadderChoiceSerializer

    @extend_schema(request=LadderChoiceSerializer, responses=AuditEntrySerializer)
    def post(self, request: Request, slug: str) -> Response:
        return self.act(request, slug)


class GameAction(OperatorAction):
    """Void a finished game, or play a game again."""

    kind = Kind.VOID

    @extend_schema(
        request=ActionSerializer, responses=AuditEntrySerializer, examples=[BECAUSE]
    )
    def post(self, request: Request, pk: int) -> Response:
        return self.act(request, str(pk))


class SeasonAction(OperatorAction):
    """Take this step with the newest season of a ladder, or start the next one."""

    kind = Kind.FREEZE

    @extend_schema(
        request=ActionSerializer, responses=AuditEntrySerializer, examples=[BECAUSE]
    )
    def post(self, request: Request, slug: str) -> Response:
        return self.act(request, slug)


class SeasonFinals(OperatorAction):
    """Start the finals of the newest season of a ladder."""

    kind = Kind.FINALS
    body_class = FinalsSerializer

    @extend_schema(request=FinalsSerializer, responses=AuditEntrySerializer)
    def post(self, request: Request, slug: str) -> Response:
        return self.act(request, slug)


class AccountAction(OperatorAction):
    """Delete an account, make its user an organiser, or take that role away.

    The accounts of operators are deleted at the console or in the admin only, so that
    a token that somebody found cannot remove those who would revoke it.
    """

    kind = Kind.ORGANISER

    @extend_schema(
        request=ActionSerializer, responses=AuditEntrySerializer, examples=[BECAUSE]
    )
    def post(self, request: Request, name: str) -> Response:
        return self.act(request, name)

    def check(self, by: User, target: str) -> None:
        if self.kind != Kind.DELETE_ACCOUNT:
            return
        user = User.objects.filter(username=target.replace("\0", "")).first()
        if user is not None and is_operator(user):
            raise BadAction(
                f"{user} is an operator. Delete this account in the admin or with"
                " manage.py operator."
            )


class WorkerAction(OperatorAction):
    """Drain workers: they finish their games and take no more. Or end that."""

    kind = Kind.DRAIN
    body_class = WorkerChoiceSerializer

    @extend_schema(request=WorkerChoiceSerializer, responses=AuditEntrySerializer)
    def post(self, request: Request) -> Response:
        return self.act(request, "")


class WorkerList(APIView):
    """The workers that reported lately, drained ones included. For operators only."""

    scope = "operate"

    @extend_schema(responses=WorkerSerializer(many=True))
    def get(self, request: Request) -> Response:
        operator(request)
        rows = (games.live_workers() | games.drained_workers()).order_by("name")
        return Response(WorkerSerializer(rows, many=True).data)
