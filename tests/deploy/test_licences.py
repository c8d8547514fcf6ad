"""The licence of each locked package is listed and allowed."""

import re
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
KINDS = tomllib.loads((ROOT / "deploy/licences.toml").read_text())
LISTED = {
    name: words
    for licences in KINDS.values()
    for words, names in licences.items()
    for name in names
}


def locked(lock: str) -> dict[str, str]:
    """Return the versions of the packages in a lock."""
    text = (ROOT / f"deploy/locks/{lock}.txt").read_text()
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


def told(package: Distribution) -> str:
    """Return the licence in the words of the metadata, or the title of its file."""
    metadata = package.metadata
    classifiers = [
        line.split(" :: ")[-1]
        for line in metadata.get_all("Classifier") or []
        if re.match(r"License ::.*(?<!OSI Approved)$", line)
    ]
    text = (
        metadata.get("License-Expression")
        or ", ".join(sorted(classifiers))
        or metadata.get("License")
        or package.read_text("licenses/LICENSE")
        or ""
    )
    return text.strip().partition("\n")[0]


def test_every_locked_package_has_one_licence_in_the_list() -> None:
    names = [
        name
        for licences in KINDS.values()
        for packages in licences.values()
        for name in packages
    ]

    assert set(names) == locked("dev").keys()
    assert len(names) == len(LISTED)


def test_the_list_says_what_the_installed_packages_say() -> None:
    versions = locked("dev")
    found = {}
    for package in distributions():
        name = canonicalize_name(package.metadata["Name"])
        if versions.get(name) == package.version:
            found[name] = told(package)

    assert {name: LISTED[name] for name in found} == found
    assert len(found) > 100


@pytest.mark.parametrize("lock", ["author", "service"])
def test_no_product_needs_a_package_under_copyleft(lock: str) -> None:
    copyleft = {name for names in KINDS["copyleft"].values() for name in names}

    assert {"pymerkle", "podman-compose"} <= copyleft
    assert copyleft & locked(lock).keys() == set()


def test_each_licence_stands_under_its_kind() -> None:
    """The GPL is copyleft; as one choice of several it binds nobody."""
    for kind, licences in KINDS.items():
        for words in licences:
            strong = bool(re.match(r"GPL|GNU General", words))
            weak = bool(re.search(r"LGPL|MPL", words))
            expected = (
                "copyleft" if strong else "weak-copyleft" if weak else "permissive"
            )
            assert kind == expected, words
