"""The API does what its schema says, whatever one sends."""

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings as with_settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from ladder.bots import services
from tests import showcase

load_all_checks()
DOCUMENT = SchemaGenerator().get_schema(request=None, public=True)
# A cursor is opaque and a bot may not be there: neither can be said in a schema.
UNPROMISED = {"positive_data_acceptance"}
OPERATIONS = [
    (method, path) for path, methods in DOCUMENT["paths"].items() for method in methods
]


@pytest.fixture
def application():
    """The service as a server runs it, in the transaction of the test."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def token(db, data_dir, settings) -> str:
    del db, data_dir
    settings.TORRES_RATE_ANONYMOUS = settings.TORRES_RATE_USER = 10**9
    showcase.everything()
    return services.token_for("ana")


def test_the_schema_is_valid_and_without_warnings(tmp_path) -> None:
    call_command(
        "spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "s.yml")
    )


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_answers_as_the_schema_says(
    application, token: str, method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.bots.tasks.send", lambda _: None)
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.app = application
    operation = schema[path][method]
    strategy = operation.as_strategy(GenerationMode.POSITIVE)
    checks = [c for c in CHECKS.get_all() if c.__name__ not in UNPROMISED]
    headers = {"Authorization": f"Bearer {token}"}

    @with_settings(
        max_examples=8,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy | operation.as_strategy(GenerationMode.NEGATIVE))
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    ask()
