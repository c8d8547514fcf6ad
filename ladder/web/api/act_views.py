"""The routes `operate/` of the REST API, made from the table of acts."""

from functools import cache
from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.roles import operator
from ladder.bots.serializers import TextField
from ladder.common.http import valid_body
from ladder.moderation import declaration
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Argument, ArgumentKind
from ladder.moderation.models import MAX_WHY_LENGTH
from ladder.moderation.serializers import AuditEntrySerializer

MAX_WORKER_LENGTH = 120


class ActView(APIView):
    """Base class: read the body, do the act, and answer with its audit entry."""

    scope = "operate"
    act: Act
    body_class: type[serializers.Serializer[Any]]

    def do(self, request: Request, **named: str | int) -> Response:
        by = operator(request)
        values = valid_body(request, self.body_class)
        acting = Operator(by, values.pop("why"))
        if self.act.target.is_in_body:
            target = values.pop(self.act.target.word)
        else:
            [target] = named.values()
        done = declaration.perform(acting, self.act, str(target), values, by_token=True)
        return Response(AuditEntrySerializer(done.entry).data)


def view_of(act: Act) -> type[ActView]:
    """Return the view class of an act, with its own part of the OpenAPI document."""
    body = body_of(act)

    class View(ActView):
        __doc__ = act.help

        @extend_schema(request=body, responses=AuditEntrySerializer)
        def post(self, request: Request, **named: str | int) -> Response:
            return self.do(request, **named)

    View.act = act
    View.body_class = body
    return View


def body_of(act: Act) -> type[serializers.Serializer[Any]]:
    """Return the serializer of the body that an act takes."""
    target = act.target
    if not target.is_in_body:
        return _body(act.arguments)
    kind = ArgumentKind.TEXT
    row = Argument(target.word, target.help, kind, most=MAX_WORKER_LENGTH)
    return _body((row, *act.arguments))


@cache
def _body(arguments: tuple[Argument, ...]) -> type[serializers.Serializer[Any]]:
    why = TextField(
        max_length=MAX_WHY_LENGTH, help_text="The reason, for the audit log."
    )
    fields = {argument.name: _field(argument) for argument in arguments}
    name = "".join(argument.name.title() for argument in arguments)
    attributes = {**fields, "why": why, "__module__": __name__}
    return type(f"{name}ActionSerializer", (serializers.Serializer,), attributes)


def _field(argument: Argument) -> serializers.Field[Any, Any, Any, Any]:
    said: dict[str, Any] = {
        "help_text": sentence_of(argument.help),
        "required": argument.required,
    }
    match argument.kind:
        case ArgumentKind.NUMBER:
            return serializers.IntegerField(
                min_value=argument.least, max_value=argument.most, **said
            )
        case ArgumentKind.SLUG:
            return serializers.SlugField(max_length=argument.most, **said)
        case ArgumentKind.TEXT:
            return TextField(max_length=argument.most, **said)
        case ArgumentKind.DOCUMENT:
            return serializers.DictField(**said)


def sentence_of(text: str) -> str:
    """Return a help text as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def routes() -> list[URLPattern]:
    """Return the routes of all acts that the REST API offers."""
    return [
        path(
            f"{act.target.route}{act.address_word}/",
            view_of(act).as_view(),
            name=f"operate-{act.name.replace('_', '-')}",
        )
        for act in declaration.table().values()
        if act.has_route
    ]
