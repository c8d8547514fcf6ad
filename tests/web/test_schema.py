"""Every operation of the API answers as its schema says, also to invalid requests."""

from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings as with_settings
from pytest_django import DjangoDbBlocker
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import response_schema_conformance

from ladder.accounts import roles, scopes, tokens
from tests import factories
from tests.comparisons.factories import undecided
from tests.web.module_rows import module_rows

load_all_checks()
DOCUMENT = SchemaGenerator().get_schema(request=None, public=True)
# A schema cannot say that a cursor is opaque, or that a bot may not exist. So a request
# that fits the schema may still be refused.
EXCLUDED_CHECKS = {"positive_data_acceptance"}
# Nor can it say that an answer has only those fields that the request names.
PART_EXCLUDED = [response_schema_conformance]
# The people who ask: a visitor, the owner of a bot, an organiser, an operator.
ROLES = ("", "ana", "oscar", "olga")
EXAMPLES = 2
SOAK_EXAMPLES = 20
MIN_SOAK_REQUESTS = 5000
Headers = dict[str, dict[str, str]]
OPERATIONS = [
    (method, path) for path, methods in DOCUMENT["paths"].items() for method in methods
]


@pytest.fixture(scope="module")
def headers(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Headers]:
    """Return the header of each role, for a service with rows of every kind.

    The rows are created once for the module, because that is slower than the requests.
    """
    with module_rows(django_db_blocker, tmp_path_factory.mktemp("data")):
        undecided(factories.everything())
        User.objects.create_superuser("olga")
        roles.add_organiser(User.objects.create_user("oscar"))
        yield {name: header(name) for name in ROLES}


def header(name: str) -> dict[str, str]:
    if not name:
        return {}
    return {"Authorization": f"Bearer {tokens.token_for(name, scopes=scopes.ALL)}"}


@pytest.fixture(scope="module")
def schema() -> Iterator[BaseSchema]:
    """Return the schema with the WSGI application, in the transaction of the test."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    loaded.app = read_and_closed(get_wsgi_application())
    yield loaded
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def read_and_closed(application: Any) -> Any:
    """Return an application whose responses are read and closed, as by a web server.

    The WSGI client of schemathesis does not close them, so the file of an upload stayed
    open until the garbage collector found it.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with closing(application(environ, start_response)) as body:
            return [b"".join(body)]

    return answer


def test_the_schema_is_valid_and_without_warnings(tmp_path) -> None:
    call_command(
        "spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "s.yml")
    )


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_answers_as_the_schema_says(
    schema: BaseSchema, headers: Headers, method: str, path: str, role: str
) -> None:
    ask_often(schema[path][method], headers[role], EXAMPLES)


@pytest.fixture(scope="module")
def sent() -> Iterator[list[int]]:
    """Collect the numbers of requests; at the end, check their sum."""
    numbers: list[int] = []
    yield numbers
    print(f"\n{sum(numbers)} requests in {len(numbers)} tests")
    if len(numbers) == len(OPERATIONS) * len(ROLES):
        assert sum(numbers) >= MIN_SOAK_REQUESTS


@pytest.mark.soak
@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_always_answers_as_the_schema_says(
    schema: BaseSchema,
    headers: Headers,
    sent: list[int],
    method: str,
    path: str,
    role: str,
) -> None:
    sent.append(ask_often(schema[path][method], headers[role], SOAK_EXAMPLES))


def ask_often(operation: Any, headers: dict[str, str], examples: int) -> int:
    """Send valid and invalid requests, and check each response. Return their number."""
    sent = 0
    strategy = operation.as_strategy(GenerationMode.POSITIVE)
    checks = [c for c in CHECKS.get_all() if c.__name__ not in EXCLUDED_CHECKS]

    @with_settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy | operation.as_strategy(GenerationMode.NEGATIVE))
    def ask(case: schemathesis.Case) -> None:
        nonlocal sent
        sent += 1
        # Its WSGI client asks for compressed responses and does not unpack them.
        plain = headers | {"Accept-Encoding": "identity"}
        response = case.call(headers=plain)
        is_part = response.status_code == HTTPStatus.OK and "fields" in case.query
        excluded = PART_EXCLUDED if is_part else []
        case.validate_response(
            response, headers=plain, checks=checks, excluded_checks=excluded
        )

    ask()
    return sent
