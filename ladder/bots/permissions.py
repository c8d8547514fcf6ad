"""Permissions of the views of bots and submissions."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from ladder.bots import selectors
from ladder.bots.models import Bot, Submission


class IsOwner(BasePermission):
    """True for the owner of a bot. A bot without an owner is closed to everybody."""

    message = "Only the owner of this bot may do that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated)

    def has_object_permission(
        self, request: Request, view: APIView, obj: Bot | Submission
    ) -> bool:
        bot = obj.bot if isinstance(obj, Submission) else obj
        return selectors.owns(request.user, bot)
