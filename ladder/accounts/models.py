"""Tokens, accounts at GitHub, user names, invitations, and keys of requests."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ladder.accounts.scopes import ALL, DEFAULT
from ladder.common.leases import Leased

# NFKD makes at most four characters of one, in a name of 150 characters.
MAX_KEY_LENGTH = 600
MAX_NOTE_LENGTH = 100
MAX_IDEMPOTENCY_KEY_LENGTH = 255


class ApiToken(models.Model):
    """A bearer token. Its text is shown once, and only its SHA-256 is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=64, default="default")
    prefix = models.CharField(max_length=12, help_text="To tell tokens apart.")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.PositiveSmallIntegerField(
        default=int(DEFAULT), help_text="The set of `Scope` as one number."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__gte=1, scopes__lte=int(ALL)),
                name="a_token_has_known_scopes",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"


class UserNameKey(models.Model):
    """The text that is the same for all user names that differ only in case.

    The unique key stops two people who sign up at the same moment as "Ana" and "ana".
    Users whom `createsuperuser` creates have no row here.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="name_key",
    )
    key = models.CharField(max_length=MAX_KEY_LENGTH, unique=True)

    def __str__(self) -> str:
        return self.key


class GitHubIdentity(models.Model):
    """The account at GitHub with which a user may sign in."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="github",
    )
    number = models.BigIntegerField(unique=True, help_text="The id at GitHub.")
    login = models.CharField(max_length=100, help_text="The name when it was linked.")

    class Meta:
        verbose_name = "GitHub identity"
        verbose_name_plural = "GitHub identities"

    def __str__(self) -> str:
        return self.login


class Invitation(models.Model):
    """A code that lets people sign up. It is shown once; its SHA-256 is stored."""

    prefix = models.CharField(max_length=20, help_text="To tell invitations apart.")
    digest = models.CharField(max_length=64, unique=True)
    # Deleted with the operator's account. Null for the console of the host.
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="invitations",
    )
    note = models.CharField(max_length=MAX_NOTE_LENGTH, blank=True)
    max_uses = models.PositiveIntegerField(default=1)
    used = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(used__lte=F("max_uses")),
                name="an_invitation_is_not_used_too_often",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"


class IdempotentRequest(Leased):
    """A request with a key, and its response. See `ladder.accounts.idempotency`."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotent_requests"
    )
    key = models.CharField(max_length=MAX_IDEMPOTENCY_KEY_LENGTH)
    fingerprint = models.CharField(max_length=64)
    started_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(
        null=True, help_text="Null while the request is processed."
    )
    headers = models.JSONField(default=dict)
    body = models.BinaryField(null=True, help_text="Null if it is not stored.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="one_request_per_key")
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"
