"""Every problem code of the API is explained on /docs/problems/."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from django.contrib import admin
from rest_framework import exceptions

import ladder
from ladder.web.api import problem_texts, problems
from torres.common.errors import LadderError

SOURCES = Path(ladder.__file__).parent


def kinds(kind: type[LadderError]) -> Iterator[type[LadderError]]:
    """Yield every subclass that the service can raise.

    The classes of the commands are left out, because no page shows them and other tests
    of the same process may have loaded them.
    """
    for child in kind.__subclasses__():
        if not child.__module__.startswith("torres.cli."):
            yield child
            yield from kinds(child)


def test_every_error_of_the_service_is_explained() -> None:
    admin.autodiscover()  # `ladder.accounts.admin` replaces what Django registers
    for module in pkgutil.walk_packages(ladder.__path__, "ladder."):
        if not module.name.startswith(("torres.cli", "torres.kits")):
            importlib.import_module(module.name)

    missing = {kind.code for kind in kinds(LadderError)} - set(problem_texts.PROBLEMS)

    assert missing == set()


def test_every_error_of_the_rest_framework_is_explained() -> None:
    codes = {
        str(kind.default_code).replace("_", "-")
        for kind in exceptions.APIException.__subclasses__()
    }

    assert codes <= set(problem_texts.PROBLEMS)


def test_every_error_outside_the_rest_framework_is_explained() -> None:
    source = Path(problems.__file__).read_text()
    codes = re.findall(r'answer\(\s*request, \d+, "([a-z-]+)"', source)

    assert len(codes) == 6
    assert set(codes) <= set(problem_texts.PROBLEMS)
