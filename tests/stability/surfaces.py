"""The surfaces that docs/stability.md promises to keep, as lines of text.

A line names one thing that another program can rely on: an operation of the REST API, a
member of a message, an option of the command, a column of a table. A surface keeps its
promise if all lines that were recorded are still there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

import engine
from ladder.extras.datasets.tables import TABLES
from torres.cli.client import LadderClient
from torres.cli.main import torres
from torres.tlog.leaves import KEYS_OF_KINDS

SCHEMAS = settings.BASE_DIR / "docs" / "schemas"
RECORDED = Path(__file__).parent / "recorded"
REQUIRED = ", required"
JSON = "application/json"

Document = Mapping[str, Any]

TORRES = Path(sys.executable).with_name("torres")
BOT = settings.BASE_DIR / "torres" / "kits" / "python"
CUP = """
entrants = ["house:greedy", "house:random"]
format = "round_robin"
"""
PRINTING = (
    "play house:random house:random --seed 1 --replay game.json",
    "match house:random house:greedy --games 2",
    "compare house:random house:greedy --max-blocks 2",
    "ladder bots --with house:random --games 2",
    "tournament cup.toml",
    "check bots/first --ruleset yucata --seats 2",
    "ask house:random game.json --ply 3",
    "analyse game.json",
    "analyse game.json --ply 3 --games 2",
    "doctor",
    "rulesets",
)
"""Commands that need no service, each with few games."""


def rest() -> Iterator[str]:
    """Yield the operations of the REST API, their parameters, bodies and members."""
    document = SchemaGenerator().get_schema(request=None, public=True)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _operation(f"{method.upper()} {path}", operation)
    for name, schema in document["components"]["schemas"].items():
        yield from _members(name, schema)


def _operation(name: str, operation: Document) -> Iterator[str]:
    yield name
    for parameter in operation.get("parameters", ()):
        required = REQUIRED if parameter.get("required") else ""
        label = f"{name} {parameter['in']} {parameter['name']}"
        yield f"{label}: {_type(parameter['schema'])}{required}"
        yield from _values(label, parameter["schema"])
    body = operation.get("requestBody", {"content": {}})
    for kind, content in body["content"].items():
        yield f"{name} body {kind}: {_type(content['schema'])}"
    for status, response in operation["responses"].items():
        for kind, content in response.get("content", {}).items():
            yield f"{name} {status} {kind}: {_type(content['schema'])}"


def _members(name: str, schema: Document) -> Iterator[str]:
    """Yield the members of an object, and of the objects in it."""
    required = schema.get("required", ())
    for member, content in schema.get("properties", {}).items():
        label = f"{name}.{member}"
        yield f"{label}: {_type(content)}{REQUIRED if member in required else ''}"
        yield from _members(label, content)
        yield from _members(f"{label}[]", content.get("items") or {})
        yield from _values(label, content)
    yield from _values(name, schema)


def _values(name: str, schema: Document) -> Iterator[str]:
    for value in schema.get("enum", ()):
        yield f"{name} = {json.dumps(value)}"


def _type(schema: Document) -> str:
    """Return the type of a value: a word, the name of a schema, or several of them."""
    suffix = " or null" if schema.get("nullable") else ""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1] + suffix
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            return " or ".join(sorted(_type(part) for part in schema[word])) + suffix
    if "const" in schema:
        return json.dumps(schema["const"])
    if "items" in schema:
        return f"array of {_type(schema['items'])}{suffix}"
    kind = schema.get("type", "enum" if "enum" in schema else "any")
    names = kind if isinstance(kind, list) else [kind]
    return " or ".join(sorted(names)) + suffix


def protocol() -> Iterator[str]:
    """Yield the members of the messages of the bot protocol, and of replays."""
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text())
        yield from _members(path.stem, schema)
        for name, part in schema.get("$defs", {}).items():
            yield from _members(f"{path.stem} {name}", part)


def command() -> Iterator[str]:
    """Yield the commands of `torres` with their arguments and options."""
    context = click.Context(torres)
    for name in torres.list_commands(context):
        found = torres.get_command(context, name)
        assert found is not None
        yield f"torres {name}"
        for parameter in found.params:
            yield from _parameter(f"torres {name}", parameter)


def _parameter(name: str, parameter: click.Parameter) -> Iterator[str]:
    required = REQUIRED if parameter.required else ""
    if isinstance(parameter, click.Argument):
        yield f"{name} {parameter.human_readable_name}{required}"
        return
    kind = parameter.type
    values = list(kind.choices) if isinstance(kind, click.Choice) else []
    for option in (*parameter.opts, *parameter.secondary_opts):
        is_flag = isinstance(parameter, click.Option) and parameter.is_flag
        yield f"{name} {option}{'' if is_flag else f' {kind.name}'}{required}"
        for value in values:
            yield f"{name} {option} = {value}"


def printed() -> Iterator[str]:
    """Yield the keys of what commands print with `--json`, after running them."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(BOT, folder / "bots/first")
        (folder / "cup.toml").write_text(CUP)
        for words in PRINTING:
            done = subprocess.run(
                [TORRES, *words.split(), "--json"],
                cwd=folder,
                env=os.environ | {"XDG_STATE_HOME": name},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            for document in _documents(done.stdout):
                yield from _keys(f"torres {words.partition(' ')[0]}", document)


def _documents(text: str) -> Iterator[Any]:
    """Yield the JSON documents of a text, which has one or one a line."""
    while text := text.lstrip():
        document, end = json.JSONDecoder().raw_decode(text)
        yield document
        text = text[end:]


def _keys(name: str, value: object) -> Iterator[str]:
    """Yield the keys of a document. A key that counts, such as seats, is not one."""
    if isinstance(value, list):
        for inner in value:
            yield from _keys(f"{name}[]", inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            label = f"{name}.{'N' if key.isdigit() else key}"
            yield label
            yield from _keys(label, inner)


def library() -> Iterator[str]:
    """Yield the public names of the engine, and the methods of the client."""
    for name in engine.__all__:
        yield f"engine.{name}"
        found = getattr(engine, name)
        if isinstance(found, type):
            yield from _attributes(f"engine.{name}", found)
    yield from _attributes("LadderClient", LadderClient)


def _attributes(name: str, kind: type) -> Iterator[str]:
    for attribute in vars(kind):
        if not attribute.startswith("_"):
            yield f"{name}.{attribute}"


def log() -> Iterator[str]:
    """Yield the kinds of leaves of the public log, and the keys that are read."""
    for kind, keys in KEYS_OF_KINDS.items():
        yield kind.value
        for key in keys.__annotations__:
            yield f"{kind}.{key}"


def datasets() -> Iterator[str]:
    """Yield the tables of open data, and their columns with the types."""
    for table, columns in TABLES.items():
        yield table
        for column, kind in columns.items():
            yield f"{table}.{column}: {kind}"


def service_settings() -> Iterator[str]:
    """Yield the environment variables that a service reads, and their types."""
    source = (settings.BASE_DIR / "ladder" / "settings.py").read_text()
    for kind, name in re.findall(r'\benv\.(\w+)\(\s*"([A-Z_]+)"', source):
        yield f"{name}: {kind}"


SURFACES: dict[str, Callable[[], Iterator[str]]] = {
    "command": command,
    "datasets": datasets,
    "library": library,
    "printed": printed,
    "log": log,
    "protocol": protocol,
    "rest": rest,
    "settings": service_settings,
}
"""The surfaces by the names of their files in recorded/."""


@cache
def present(name: str) -> list[str]:
    """Return the lines of a surface as it is now, sorted, each once."""
    return sorted(set(SURFACES[name]()))


def recorded(name: str) -> list[str]:
    """Return the lines of a surface that were recorded."""
    return (RECORDED / f"{name}.txt").read_text().splitlines()


def broken(before: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return the lines that break a promise: what is gone, and new demands.

    A new demand is a parameter, argument or member of a request that programs have to
    send and did not know. Members that only answers have may be new.
    """
    old, new = set(before), set(now)
    gone = [f"gone: {line}" for line in sorted(old - new)]
    callers = {line for line in old if re.fullmatch(r"[A-Z]+ /\S*|torres \S+", line)}
    bodies = {line.rsplit(" ", 1)[-1] for line in old if " body " in line}
    demands = [
        f"new demand: {line}"
        for line in sorted(new - old)
        if line.endswith(REQUIRED)
        and (
            " ".join(line.split(" ")[:2]) in callers or line.partition(".")[0] in bodies
        )
    ]
    return gone + demands
