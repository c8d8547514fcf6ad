"""The user behind a request."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request

Person = AbstractBaseUser | AnonymousUser


def person(request: Request) -> User:
    """Return the user behind a request. Raises NotAuthenticated if there is none."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user
