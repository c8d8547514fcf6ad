"""Whose door it is."""

from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from ladder.bots import selectors
from ladder.bots.models import Bot, Submission


def person(request: Request) -> User:
    """Who asks, where somebody must."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


class IsOwner(BasePermission):
    """A bot's owner alone, and nobody for a bot of the house or of no one."""

    message = "Only the owner of this bot may do that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        del view
        return bool(request.user.is_authenticated)

    def has_object_permission(
        self, request: Request, view: APIView, obj: Bot | Submission
    ) -> bool:
        del view
        bot = obj.bot if isinstance(obj, Submission) else obj
        return selectors.owns(request.user, bot)
