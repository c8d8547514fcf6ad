"""The admin pages of users, groups, tokens and invitations."""

from django.contrib import admin
from django.contrib.auth.models import Group, User

from ladder.accounts.models import ApiToken, Invitation
from ladder.common.admin import show

EMPTY = admin.EmptyFieldListFilter
admin.site.unregister([User, Group])

show(
    User,
    list_display=("username", "email", "is_staff", "is_active", "date_joined"),
    list_filter=("is_staff", "is_superuser", "is_active", "groups"),
    search_fields=("username", "first_name", "last_name", "email"),
    ordering=("username",),
    hidden=("password",),
)
show(Group, search_fields=("name",))
show(
    ApiToken,
    list_display=(
        *("prefix", "id", "user", "name", "scopes"),
        *("created_at", "expires_at", "last_used_at"),
    ),
    list_filter=("created_at", ("expires_at", EMPTY)),
    search_fields=("user__username", "prefix", "name"),
    list_select_related=("user",),
    hidden=("digest",),
)
show(
    Invitation,
    list_display=(
        *("prefix", "id", "note", "created_by", "used", "max_uses"),
        *("created_at", "expires_at"),
    ),
    list_filter=("created_at", "expires_at"),
    search_fields=("prefix", "note", "created_by__username"),
    list_select_related=("created_by",),
    hidden=("digest",),
)
