"""The roles of users: organisers, who run tournaments, and operators, who run all.

An operator is a superuser of the admin site; `createsuperuser` makes the first one. A
user who may only read a part of the admin site is no operator. An organiser is a member
of the group ORGANISERS. Operators may do all that organisers may.
"""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request

ORGANISERS = "organisers"
Person = AbstractBaseUser | AnonymousUser


def person(request: Request) -> User:
    """Return the user behind a request. Raises NotAuthenticated if there is none."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def is_operator(person: Person) -> bool:
    """True if a person may act as an operator of the service."""
    return (
        isinstance(person, User)
        and person.is_active
        and person.is_staff
        and person.is_superuser
    )


def is_organiser(person: Person) -> bool:
    """True if a person may create tournaments. This is so for every operator."""
    if not isinstance(person, User) or not person.is_active:
        return False
    return is_operator(person) or person.groups.filter(name=ORGANISERS).exists()


def add_organiser(user: User) -> None:
    """Make a user an organiser. Idempotent."""
    group, _ = Group.objects.get_or_create(name=ORGANISERS)
    user.groups.add(group)


def remove_organiser(user: User) -> None:
    """Take the role away. The user manages no tournament any more. Idempotent."""
    user.groups.remove(*Group.objects.filter(name=ORGANISERS))


def operator(request: Request) -> User:
    """Return the operator behind a request. Raises NotAuthenticated, or 403."""
    user = person(request)
    if not is_operator(user):
        raise PermissionDenied("Only operators of this service may do that.")
    return user


def organiser(request: Request) -> User:
    """Return the organiser behind a request. Raises NotAuthenticated, or 403."""
    user = person(request)
    if not is_organiser(user):
        raise PermissionDenied(
            "Only organisers may do that. Ask an operator to make you one."
        )
    return user
