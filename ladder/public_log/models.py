"""The tables of the public log: the tree, and batches of decks.

Leaves wait in the outbox until `sequencer` numbers them. Numbers never change. The
texts of the newest leaves stay in `LogLeaf`. As soon as there are 256 of them they move
into a `LogBundle`, which is small because similar texts compress well.
"""

from django.db import models
from django.db.models.functions import Now

MAX_KIND_LENGTH = 20
MAX_ORIGIN_LENGTH = 200


class LogHead(models.Model):
    """The one row with the tree as it is now, and the last signed checkpoint."""

    origin = models.CharField(max_length=MAX_ORIGIN_LENGTH)
    size = models.PositiveBigIntegerField(default=0)
    last_fact = models.PositiveBigIntegerField(
        default=0, help_text="The number of the last fact whose leaf is in the tree."
    )
    root = models.BinaryField()
    frontier = models.BinaryField(default=bytes)
    key = models.CharField(max_length=2 * MAX_ORIGIN_LENGTH, help_text="Public.")
    checkpoint = models.TextField(blank=True)
    signed_at = models.DateTimeField(null=True, blank=True)
    # Set by `manage.py restore`. The sequencer then continues under another origin.
    restored = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(pk=1), name="there_is_one_head_of_the_log"
            )
        ]

    def __str__(self) -> str:
        return f"{self.origin} {self.size}"


class LogLeaf(models.Model):
    """A leaf that can be looked up by its subject, or whose bundle is not complete.

    `text` and `hash` are empty as soon as a bundle and a tile have them.
    """

    number = models.PositiveBigIntegerField(primary_key=True)
    kind = models.CharField(max_length=MAX_KIND_LENGTH)
    subject = models.PositiveBigIntegerField(null=True)
    hash = models.BinaryField(default=bytes)
    text = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["subject", "kind"],
                condition=models.Q(subject__isnull=False),
                name="leaf_of_subject",
            )
        ]

    def __str__(self) -> str:
        return f"leaf {self.number}"


class LogTile(models.Model):
    """A complete tile: 256 hashes, and the root above them."""

    pk = models.CompositePrimaryKey("level", "index")
    level = models.PositiveSmallIntegerField()
    index = models.PositiveBigIntegerField()
    hashes = models.BinaryField()
    root = models.BinaryField()

    def __str__(self) -> str:
        return f"tile {self.level}/{self.index}"


class LogBundle(models.Model):
    """A complete bundle of 256 leaves, compressed with zstd."""

    index = models.PositiveBigIntegerField(primary_key=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"bundle {self.index}"


class SealedLeaf(models.Model):
    """The text of a leaf that is not public yet. Deleted when it is."""

    number = models.PositiveBigIntegerField(primary_key=True)
    match = models.PositiveBigIntegerField(db_index=True)
    salt = models.BinaryField()
    text = models.TextField()

    def __str__(self) -> str:
        return f"sealed leaf {self.number}"


class DeckBatch(models.Model):
    """Matches whose seeds follow from one secret. Nothing here is secret.

    `leaf` is the number of the leaf that commits to the secret; null until the
    sequencer has written it. `witnesses` has the public keys of the witnesses whose
    cosignatures enter the seeds.
    """

    number = models.PositiveBigIntegerField(primary_key=True)
    commitment = models.CharField(max_length=64, help_text="SHA-256 of the secret.")
    witnesses = models.JSONField(default=list)
    leaf = models.PositiveBigIntegerField(null=True)
    matches = models.PositiveIntegerField(default=0, help_text="Matches with decks.")
    created_at = models.DateTimeField(db_default=Now())
    revealed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deck batches"
        indexes = [
            models.Index(
                fields=["number"],
                condition=models.Q(revealed_at=None),
                name="batch_not_revealed",
            )
        ]

    def __str__(self) -> str:
        return f"batch {self.number}"


class Cosignature(models.Model):
    """The newest cosignature of a witness: it saw no other tree than this one."""

    witness = models.CharField(max_length=MAX_ORIGIN_LENGTH, unique=True)
    origin = models.CharField(max_length=MAX_ORIGIN_LENGTH)
    size = models.PositiveBigIntegerField()
    checkpoint = models.TextField()
    line = models.TextField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.witness} {self.size}"
