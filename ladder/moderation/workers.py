"""Operators' actions on workers, each with its audit entry."""

from django.db import transaction
from django.db.models import Q, QuerySet

from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from torres.common.errors import LadderError
from torres.common.quoting import quoted

Kind = AuditEntry.Kind


class UnknownWorker(LadderError, code="not-found", http_status=404):
    """No worker has this name; the message says how to name one."""


@transaction.atomic
def drain(operator: Operator, name: str) -> AuditEntry:
    """Let workers finish their games and take no more. Raises UnknownWorker.

    ``name`` is that of a worker, or HOST/ for all workers of a host.
    """
    workers = list(_matching(name).filter(gone_at__isnull=True))
    _refuse_unknown(name, workers, "running")
    for worker in workers:
        registry.drain(worker.pk, operator.why)
    return _record(operator, Kind.DRAIN, name, workers)


@transaction.atomic
def undrain(operator: Operator, name: str) -> AuditEntry:
    """Let drained workers take games again. Raises UnknownWorker."""
    workers = list(_matching(name).filter(drained=True))
    _refuse_unknown(name, workers, "drained")
    for worker in workers:
        registry.undrain(worker.pk)
    return _record(operator, Kind.UNDRAIN, name, workers)


def _record(
    operator: Operator, kind: AuditEntry.Kind, name: str, workers: list[Worker]
) -> AuditEntry:
    names = sorted(worker.name for worker in workers)
    return operator.record(kind, f"worker {name}"[:100], workers=names)


def _refuse_unknown(name: str, workers: list[Worker], state: str) -> None:
    if not workers:
        raise UnknownWorker(
            f"There is no {state} worker {quoted(name)}. Give a whole name as manage.py"
            " status shows it, or HOST/ for all workers of a host."
        )


def _matching(name: str) -> QuerySet[Worker]:
    """Return the workers of a host ("host/"), of an installation, or with this name."""
    if name.endswith("/") and ":" not in name:
        return Worker.objects.filter(host=name.removesuffix("/"))
    return Worker.objects.filter(
        Q(name=name) | Q(name__startswith=f"{name.removesuffix('#')}#")
    )
