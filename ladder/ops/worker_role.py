"""The roles of workers in PostgreSQL: grant what `worker_access` declares.

One group has the rights, and each host of workers has a member of it, with which it
signs in. So a host that was taken over can be locked out alone, and changes only what
it claimed itself. Owners of tables and superusers are not limited by these policies.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import ProgrammingError, connection, transaction
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from ladder.ops.worker_access import ALL, WORKER_ACCESS, Access

PREFIX = "worker_"
"""The names of our policies begin with this, and end with a digest of their text."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
MAX_PROCESSES = 4
"""Of one host: their pools together must not use up the connections of the server."""
COLUMN_RIGHTS = ("SELECT", "INSERT", "UPDATE", "REFERENCES")
TABLE_RIGHTS = ("DELETE", "TRUNCATE", "TRIGGER")

_MEMBERS = (
    "SELECT m.rolname FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member"
    " JOIN pg_roles g ON g.oid = a.roleid WHERE g.rolname = %s"
)
_POLICIES = (
    "SELECT tablename, policyname FROM pg_policies WHERE schemaname = CURRENT_SCHEMA"
    " AND policyname LIKE 'worker\\_%%'"
)

Right = tuple[str, str, str]
"""A table, a column or "" for the whole table, and a privilege."""


class WorkerRoleRefused(CommandError):
    """The roles cannot be changed so. The message says what to do."""


def group() -> str:
    """Return the name of the group with the rights of workers on this database."""
    return f"{connection.settings_dict['NAME']}_workers"


def common_name() -> str:
    """Return the name that all workers can share, if they have none of their own."""
    return f"{connection.settings_dict['NAME']}_worker"


def exists() -> bool:
    """True if this database has a group of workers."""
    if connection.vendor != "postgresql":
        return False
    return bool(_rows("SELECT 1 FROM pg_roles WHERE rolname = %s", [group()]))


def grant() -> None:
    """Make the group, and give it exactly the declared rights. Idempotent.

    It locks the tables for a moment, so it does nothing if nothing differs.
    """
    if connection.vendor != "postgresql":
        raise WorkerRoleRefused("Roles need PostgreSQL. Set DATABASE_URL.")
    try:
        with transaction.atomic():
            if not exists():
                _execute("CREATE ROLE {group} NOLOGIN")
            if differences():
                _grant()
    except ProgrammingError as error:
        if isinstance(error.__cause__, InsufficientPrivilege):
            raise WorkerRoleRefused(
                "The user of DATABASE_URL may not make roles. Run this command with"
                " the owner of the tables and the attribute CREATEROLE."
            ) from error
        raise


def let_in(name: str, password: str) -> None:
    """Let a host of workers sign in under this name with this password. Idempotent.

    Raises WorkerRoleRefused if the name belongs to somebody else.
    """
    if not NAME.fullmatch(name):
        raise WorkerRoleRefused(
            f"{name[:60]!r} is no name of a role. Write at most 41 lowercase letters,"
            " digits and underscores, with a letter first."
        )
    with transaction.atomic():
        if _rows("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]):
            _require_member(name)
        else:
            _execute("CREATE ROLE {name} IN ROLE {group}", name=name)
        connections = (
            MAX_PROCESSES * settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
        )
        _execute(
            "ALTER ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION"
            " NOBYPASSRLS INHERIT CONNECTION LIMIT {limit} PASSWORD {password}",
            name=name,
            limit=sql.Literal(connections),
            password=sql.Literal(password),
        )


def lock_out(name: str) -> int:
    """Let a host of workers sign in no more; return how many sessions were ended."""
    _require_member(name)
    _execute("ALTER ROLE {name} NOLOGIN PASSWORD NULL", name=name)
    ended = _rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
        [name],
    )
    return len(ended)


def members() -> list[str]:
    """Return the names with which hosts of workers sign in."""
    rows = _rows(f"{_MEMBERS} AND m.rolcanlogin ORDER BY 1", [group()])
    return [str(name) for (name,) in rows]


def differences() -> list[str]:
    """Return how the database differs from what is declared, a sentence each."""
    if not exists():
        return [f"The role {group()} does not exist."]
    actual, declared = _actual_rights(), _declared_rights()
    found = [
        *(f"It lacks {_shown(right)}." for right in sorted(declared - actual)),
        *(f"It has {_shown(right)}." for right in sorted(actual - declared)),
    ]
    policies = {(table, name) for table, name, _, _ in _declared_policies()}
    made = set(_rows(_POLICIES))
    found += [f"{table} lacks the policy {name}." for table, name in policies - made]
    found += [f"{table} has the policy {name}." for table, name in made - policies]
    limited = {access.table for access in WORKER_ACCESS if access.is_limited}
    enabled = _rows(
        "SELECT relname FROM pg_class WHERE relrowsecurity AND relnamespace ="
        " CURRENT_SCHEMA::regnamespace"
    )
    off = limited - {str(name) for (name,) in enabled}
    found += [f"The policies of {table} are switched off." for table in sorted(off)]
    if powers := _powers():
        found.append(f"Roles have more than the rights of workers: {powers}.")
    return found


def _powers() -> str:
    """Return the workers that have rights beside those of the group."""
    rows = _rows(
        "SELECT r.rolname FROM pg_roles r WHERE (r.rolname = %s OR EXISTS (SELECT 1"
        " FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid"
        " WHERE a.member = r.oid AND g.rolname = %s)) AND (r.rolsuper OR r.rolbypassrls"
        " OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR EXISTS (SELECT 1"
        " FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid"
        " WHERE a.member = r.oid AND g.rolname <> %s))",
        [group()] * 3,
    )
    return ", ".join(str(name) for (name,) in rows)


def _declared_rights() -> set[Right]:
    columns: dict[str, list[str]] = {}
    for table, column in _rows(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = CURRENT_SCHEMA"
    ):
        columns.setdefault(str(table), []).append(str(column))
    rights = set()
    for access in WORKER_ACCESS:
        reads = columns[access.table] if access.reads == ALL else access.reads
        rights |= {(access.table, column, "SELECT") for column in reads}
        rights |= {(access.table, column, "INSERT") for column in access.adds}
        rights |= {(access.table, column, "UPDATE") for column in access.changes}
        if access.deletes:
            rights.add((access.table, "", "DELETE"))
    return rights


def _actual_rights() -> set[Right]:
    """Return all rights of the group on tables, also those that everybody has."""
    tables = (
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN"
        " ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%%'"
    )
    columns = tables.replace(
        " WHERE",
        " JOIN pg_attribute t ON t.attrelid = c.oid WHERE t.attnum > 0 AND NOT"
        " t.attisdropped AND",
        1,
    )
    rows = _rows(
        "SELECT relname, attname, p FROM (SELECT c.oid, relname, attname, attnum"
        f"{columns}) s, UNNEST(%s::text[]) p"
        " WHERE has_column_privilege(%s, oid, attnum, p)"
        f" UNION ALL SELECT relname, '', p FROM (SELECT c.oid, relname{tables}) s,"
        " UNNEST(%s::text[]) p WHERE has_table_privilege(%s, oid, p)",
        [list(COLUMN_RIGHTS), group(), list(TABLE_RIGHTS), group()],
    )
    return {(str(table), str(column), str(right)) for table, column, right in rows}


def _shown(right: Right) -> str:
    table, column, privilege = right
    return f"{privilege} on {table}.{column}" if column else f"{privilege} on {table}"


def _declared_policies() -> Iterator[tuple[str, str, str, str]]:
    """Yield the table, the name, the command and the rest of each policy.

    They are for everybody, and leave everybody but workers alone. A policy that named
    the role could not be restored where the role does not exist.
    """
    everybody_else = f"NOT pg_has_role(CURRENT_USER, '{group()}', 'MEMBER')"
    for access in WORKER_ACCESS:
        if not access.is_limited:
            continue
        others = f"USING ({everybody_else}) WITH CHECK ({everybody_else})"
        for command, rest in [("ALL", others), *_policies_of(access)]:
            digest = sha256(f"{command}{rest}".encode()).hexdigest()[:12]
            yield access.table, f"{PREFIX}{command.lower()}_{digest}", command, rest


def _policies_of(access: Access) -> Iterator[tuple[str, str]]:
    rows = access.rows or "TRUE"
    after = access.after or rows
    if access.reads:
        yield "SELECT", f"USING ({access.sees})"
    if access.adds:
        yield "INSERT", f"WITH CHECK ({after})"
    if access.changes:
        yield "UPDATE", f"USING ({rows}) WITH CHECK ({after})"
    if access.deletes:
        yield "DELETE", f"USING ({rows})"


def _grant() -> None:
    _execute("REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC")
    _execute("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    _execute("GRANT CONNECT ON DATABASE {database} TO {group}")
    _execute("GRANT USAGE ON SCHEMA {schema} TO {group}")
    _execute("REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {group}")
    rights: dict[tuple[str, str], list[str]] = {}
    for table, column, privilege in sorted(_declared_rights()):
        rights.setdefault((table, privilege), []).append(column)
    for (table, privilege), columns in rights.items():
        named = [sql.Identifier(column) for column in columns if column]
        listed = sql.SQL("({})").format(sql.SQL(", ").join(named)) if named else None
        _execute(
            f"GRANT {privilege} {{columns}} ON {{table}} TO {{group}}",
            columns=listed or sql.SQL(""),
            table=table,
        )
    for table, name in _rows(_POLICIES):
        _execute("DROP POLICY {name} ON {table}", name=str(name), table=str(table))
    for table, name, command, rest in _declared_policies():
        _execute("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY", table=table)
        text = sql.SQL(rest)
        _execute(
            f"CREATE POLICY {{name}} ON {{table}} FOR {command} {{rest}}",
            name=name,
            table=table,
            rest=text,
        )


def _require_member(name: str) -> None:
    if not _rows(f"{_MEMBERS} AND m.rolname = %s", [group(), name]):
        raise WorkerRoleRefused(
            f"{name[:60]!r} is no worker of this database. `manage.py worker_role"
            " --check` lists the names of workers."
        )


def _execute(text: str, **names: str | sql.Composable) -> None:
    """Execute a statement with the names of roles, tables and columns in its place."""
    known: dict[str, str | sql.Composable] = {
        "group": group(),
        "database": str(connection.settings_dict["NAME"]),
        "schema": str(_rows("SELECT CURRENT_SCHEMA")[0][0]),
    }
    quoted = {
        key: sql.Identifier(value) if isinstance(value, str) else value
        for key, value in (known | names).items()
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(text).format(**quoted))


def _rows(text: str, values: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, values or [])
        return list(cursor.fetchall())
