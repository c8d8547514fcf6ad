"""The API views of bots and submissions: one class for each route."""

from typing import Any

from django.core.files.storage import storages
from django.db.models import QuerySet
from django.http import FileResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import (
    GenericAPIView,
    ListAPIView,
    RetrieveAPIView,
    get_object_or_404,
)
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import person
from ladder.bots import selectors, services, submissions
from ladder.bots.filters import BotFilter, SubmissionFilter
from ladder.bots.models import Bot, Submission
from ladder.bots.permissions import IsOwner
from ladder.bots.serializers import (
    BotSerializer,
    LogSerializer,
    NewBotSerializer,
    OwnSubmissionSerializer,
    SubmissionSerializer,
    UploadSerializer,
)
from ladder.common.http import valid_body


class BotList(ListAPIView[Bot]):
    """The bots, newest first. POST creates a bot of yours."""

    queryset = selectors.bots()
    serializer_class = BotSerializer
    filterset_class = BotFilter

    @extend_schema(request=NewBotSerializer, responses={201: BotSerializer})
    @once_by_key
    def post(self, request: Request) -> Response:
        new = valid_body(request, NewBotSerializer)
        bot = services.create_bot(person(request), new["name"])
        headers = {"Location": reverse("api:bot", args=[bot.slug])}
        return Response(BotSerializer(bot).data, status.HTTP_201_CREATED, None, headers)


class BotDetail(RetrieveAPIView[Bot]):
    queryset = selectors.bots()
    serializer_class = BotSerializer
    lookup_field = "slug"


class _OwnBot(GenericAPIView[Bot]):
    queryset = selectors.bots()
    serializer_class = BotSerializer
    permission_classes = [IsOwner]
    lookup_field = "slug"


class BotWithdraw(_OwnBot):
    """Take your bot out of play. Its results stay."""

    @extend_schema(request=None, responses=BotSerializer)
    def post(self, _request: Request, **_: str) -> Response:
        bot = services.withdraw(self.get_object())
        return Response(BotSerializer(bot).data)


class BotBringBack(_OwnBot):
    """Let your withdrawn bot play again."""

    @extend_schema(request=None, responses=BotSerializer)
    def post(self, _request: Request, **_: str) -> Response:
        bot = services.bring_back(self.get_object())
        return Response(BotSerializer(bot).data)


class SubmissionList(ListAPIView[Submission]):
    """The submissions of a bot, newest first. POST uploads one to your bot.

    The same files for the same bot give the same submission, so that you can safely
    send an upload again.
    """

    queryset = selectors.submissions()
    serializer_class = SubmissionSerializer
    filterset_class = SubmissionFilter
    throttle_scope = "upload"

    def get_queryset(self) -> QuerySet[Submission]:
        bot = get_object_or_404(Bot, slug=self.kwargs["slug"])
        return super().get_queryset().filter(bot=bot).defer("log")

    @extend_schema(
        request={"multipart/form-data": UploadSerializer},
        responses={202: SubmissionSerializer},
    )
    @once_by_key
    def post(self, request: Request, slug: str) -> Response:
        bot = get_object_or_404(selectors.bots(), slug=slug)
        if not selectors.owns(request.user, bot):
            self.permission_denied(request, message=IsOwner.message)
        upload = valid_body(request, UploadSerializer)
        file = upload["archive"]
        submission = submissions.submit(bot, file.file, file.name)
        headers = {"Location": reverse("api:submission", args=[submission.pk])}
        data = SubmissionSerializer(submission).data
        return Response(data, status.HTTP_202_ACCEPTED, None, headers)


class SubmissionDetail(RetrieveAPIView[Submission]):
    """A submission and its report. Its owner also sees the log."""

    queryset = selectors.submissions()
    serializer_class = SubmissionSerializer

    def get_serializer(self, *args: Any, **kwargs: Any) -> BaseSerializer[Submission]:
        if args and selectors.owns(self.request.user, args[0].bot):
            return OwnSubmissionSerializer(*args, **kwargs)
        return SubmissionSerializer(*args, **kwargs)


class _OwnSubmission(GenericAPIView[Submission]):
    queryset = selectors.submissions()
    permission_classes = [IsOwner]


class SubmissionActivate(_OwnSubmission):
    """Let an older upload of your bot play again. It must have been `ready` before.

    The submission that plays now becomes `retired`. Its scheduled games are cancelled;
    its running games count. On a ladder the bot keeps its μ, and σ widens as for a new
    version. The next upload that becomes ready replaces the older one as usual. If the
    submission plays already, nothing changes.
    """

    serializer_class = OwnSubmissionSerializer
    throttle_scope = "upload"

    @extend_schema(request=None, responses=OwnSubmissionSerializer)
    def post(self, _request: Request, **_: int) -> Response:
        submission = submissions.activate(self.get_object())
        return Response(OwnSubmissionSerializer(submission).data)


class SubmissionLog(_OwnSubmission):
    """The end of the log that the validation of your submission wrote."""

    serializer_class = LogSerializer

    @extend_schema(responses=LogSerializer)
    def get(self, _request: Request, **_: int) -> Response:
        return Response(LogSerializer(self.get_object()).data)


class SubmissionArchive(_OwnSubmission):
    """Your upload as a zip of the files that the service stored."""

    serializer_class = LogSerializer

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, _request: Request, **_: int) -> FileResponse:
        submission = self.get_object()
        name = f"{submission.bot.slug}-{submission.number}.zip"
        package = storages["bots"].open(submission.package)
        return FileResponse(package, as_attachment=True, filename=name)
