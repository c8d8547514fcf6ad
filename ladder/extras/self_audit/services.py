"""Audit this service's REST API against its public log, inside this process."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import httpx
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction

from ladder.extras.self_audit.models import SelfAudit
from torres.auditing.auditor import AuditReport, Trust, audit
from torres.auditing.mirror import Progress
from torres.cli.audit import RemoteService
from torres.cli.client import LadderClient, Login

FOLDER = "self-audit"
MAX_FINDINGS = 100
"""The report that is kept has the first ones; `torres audit` prints all."""
_numbers = count()


def audit_own_service(progress: Progress) -> AuditReport:
    """Audit the service, keep the report, and return it.

    The copy of the log stays in TORRES_DATA, so that the next audit is quicker, and
    finds out if the log was changed. Raises AuditFailed, BadKey, and RemoteError.
    """
    login = Login(f"http://{_own_name()}", "")
    # Not get_wsgi_application, which would configure the logging of this process again.
    transport = httpx.WSGITransport(_application(WSGIHandler()))
    with LadderClient(login, transport) as client:
        folder = Path(settings.DATA_DIR) / FOLDER
        service = RemoteService(client)
        report = audit(folder, client.log_file, service, progress, Trust())
    # Thousands of tests are no page to read.
    hand = {
        "counts": report.hand.counts,
        "made": len(report.hand.tests),
        "remarkable": [test.document() for test in report.hand.remarkable()],
    }
    document = report.document(MAX_FINDINGS) | {"operators_hand": hand}
    findings = len(report.findings)
    with transaction.atomic():
        SelfAudit.objects.all().delete()
        SelfAudit.objects.create(
            report=document, size=report.head.size, findings=findings
        )
    return report


def _own_name() -> str:
    """Return the name of a host to which this service answers."""
    names = [name for name in settings.ALLOWED_HOSTS if "*" not in name]
    return names[0].removeprefix(".") if names else "localhost"


def _application(inner: WSGIApplication) -> WSGIApplication:
    """Return an application that counts each request as the first one of a client.

    The limits of requests protect the service from others.
    """

    def application(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = f"self-audit-{next(_numbers)}"
        return inner(environ, start)

    return application
