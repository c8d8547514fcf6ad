"""The view of the API for the user of a token."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts import scopes
from ladder.accounts.roles import person


class UserSerializer(serializers.Serializer[Any]):
    """The user behind a request."""

    name = serializers.CharField()
    scopes = serializers.ListField(
        child=serializers.ChoiceField(scopes.names(scopes.ALL)),
        help_text="What the token permits.",
    )


class CurrentUser(APIView):
    """The user of the token, and what the token permits."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=UserSerializer)
    def get(self, request: Request) -> Response:
        if unknown := sorted(request.query_params):
            detail = "Unknown parameter. This route has none."
            raise ValidationError(dict.fromkeys(unknown, detail))
        user = person(request)
        permitted = scopes.names(scopes.of_user(user))
        return Response({"name": user.get_username(), "scopes": permitted})
