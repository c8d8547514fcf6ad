"""Datasets: complete, without secrets, resumed after a kill, readable by others."""

import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard
from django.conf import settings as django_settings
from django.core.management import CommandError
from django.utils import timezone

from ladder.extras.datasets import export, part_files, tables
from ladder.extras.datasets.export import KEPT_DATASETS, write_dataset
from ladder.extras.datasets.jobs import DATASET
from ladder.games import replays
from ladder.games.models import Game, Match
from ladder.public_log.models import LogHead
from ladder.ratings import rater, voids
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Rating
from ladder.ratings.seasons import change_parameters, parameters
from ladder.tournaments import visibility
from tests.factories import make_bot, make_match
from tests.games.factories import submission
from tests.games.test_kills import environment
from tests.ratings.factories import (
    finish,
    make_matches,
    open_games,
    play_some,
    rated_games,
)
from tests.tournaments.factories import begun, play_out
from torres.rating.ledger import EntryKind

DAY = "2026-11-22"
API = "/api/v1/datasets/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture
def games(monkeypatch) -> list[int]:
    """Return the numbers of seven public games, which are read in small chunks."""
    monkeypatch.setattr(tables, "GAMES_PER_CHUNK", 2)
    monkeypatch.setattr(export, "CHUNKS_PER_PART", 2)
    season = ensure_default_ladder().seasons.get()
    one, two = make_bot("one", "ana"), make_bot("two", "ben")
    rater.welcome(season.pk)
    numbers = [make_match(one, two).games.get().pk for _ in range(7)]
    hidden = make_match(one, two)
    Match.objects.filter(pk=hidden.pk).update(embargo=True)
    using = make_match(one, two, games=2, finished=1)  # its decks are still in use
    Match.objects.filter(pk__in=[hidden.pk, using.pk]).update(seed="0ddba115" * 4)
    return [*numbers, Game.objects.filter(status="finished").latest("pk").pk]


@pytest.fixture
def root(tmp_path, settings) -> Path:
    settings.TORRES_DATASETS = str(tmp_path / "datasets")
    return tmp_path / "datasets"


def lines(folder: Path, table: str) -> list[dict]:
    found = []
    for path in sorted((folder / table).glob("*.ndjson.zst")):
        found += [json.loads(line) for line in unpacked(path).splitlines()]
    return found


def unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


def test_it_has_all_public_games_and_no_others(games, root):
    folder = write_dataset(root, DAY)

    assert [row["id"] for row in lines(folder, "games")] == games
    assert {row["game"] for row in lines(folder, "seats")} == set(games)
    with_moves = {row["game"] for row in lines(folder, "moves")}
    assert with_moves == set(games[:-1])  # the last one shares its decks
    assert {row["bot"] for row in lines(folder, "submissions")} == {"one", "two"}
    everything = b"".join(unpacked(path) for path in folder.glob("*/*.zst"))
    for secret in (b"ana", b"ben", b"0ddba115", b"stderr", b"note of"):
        assert secret not in everything


def test_matches_that_are_over_have_their_decks_and_their_reason(games, root):
    first = Match.objects.order_by("pk")[0]
    Match.objects.filter(pk=first.pk).update(why={"reasons": ["close ratings"]})

    rows = lines(write_dataset(root, DAY), "matches")

    over = Match.objects.filter(games__in=games[:-1]).order_by("pk")
    assert [row["id"] for row in rows] == [match.pk for match in over]
    assert (rows[0]["seed"], rows[0]["seats"]) == (first.seed, 2)
    assert json.loads(rows[0]["why"]) == {"reasons": ["close ratings"]}
    assert rows[1]["why"] is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("scripted_players")
@pytest.mark.parametrize("held_back", [False, True])
def test_tournaments_that_are_over_have_fixtures_and_standings(root, held_back):
    cup = play_out(begun({"format": "round_robin"}, 3, held_back=held_back))

    folder = write_dataset(root, DAY)

    fixtures, standings = lines(folder, "fixtures"), lines(folder, "standings")
    if held_back:
        assert [*fixtures, *standings, *lines(folder, "tournaments")] == []
        return
    assert [row["tournament"] for row in lines(folder, "tournaments")] == [cup.slug]
    matches = set(cup.fixtures.values_list("match", flat=True))
    assert {row["match"] for row in fixtures} == matches
    assert {row["id"] for row in lines(folder, "matches")} == matches
    shown = [(line.rank, line.bot) for line in visibility.overview(cup).lines]
    assert [(row["rank"], row["bot"]) for row in standings] == shown
    assert len(shown) == 3


def test_the_manifest_is_right(games, root):
    folder = write_dataset(root, DAY)
    manifest = json.loads((folder / "manifest.json").read_bytes())

    assert manifest["format"] == "torres-dataset/1"
    named = {"manifest.json"}
    for name, table in manifest["tables"].items():
        assert table["columns"] == tables.TABLES[name]
        assert table["rows"] == len(lines(folder, name))
        for entry in table["files"]:
            data = (folder / entry["path"]).read_bytes()
            assert entry["sha256"] == sha256(data).hexdigest()
            assert entry["bytes"] == len(data)
            named.add(entry["path"])
    found = {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }
    assert found == named
    assert manifest["tables"]["games"]["rows"] == len(games) == 8


def test_duckdb_and_polars_read_the_same(games, root):
    import duckdb  # noqa: PLC0415 -- both take seconds, in each process of pytest
    import polars as pl  # noqa: PLC0415

    folder = write_dataset(root, DAY)
    for table in tables.TABLES:
        expected = lines(folder, table)
        frame = pl.read_parquet(folder / table / "*.parquet")
        assert frame.height == len(expected)
        assert frame.columns == list(tables.TABLES[table])
        query = f"SELECT COUNT(*) FROM '{folder}/{table}/*.parquet'"
        assert duckdb.sql(query).fetchall() == [(len(expected),)]
    ids = pl.read_parquet(folder / "games/*.parquet")["id"].to_list()
    assert ids == games
    actions = pl.read_parquet(folder / "moves/*.parquet")["actions"].to_list()
    assert actions == [row["actions"] for row in lines(folder, "moves")]
    source = f"read_json('{folder}/games/*.ndjson.zst')"
    found = duckdb.sql(f"SELECT id FROM {source} ORDER BY id").fetchall()
    assert found == [(number,) for number in games]


def test_damaged_rows_are_left_out_and_named(games, root):
    """A replay that cannot be unpacked, an entry that is no ledger's, a wrong type."""
    one, two, three = games[1], games[4], games[6]
    Game.objects.filter(pk=one).update(replay=b"no replay")
    text = json.loads(replays.unpack(bytes(Game.objects.get(pk=two).replay)))
    text["moves"][0]["ms"] = "soon"
    packed = zstandard.compress(json.dumps(text).encode())
    Game.objects.filter(pk=two).update(replay=packed)
    Game.objects.filter(pk=three).update(replay=zstandard.compress(b"[]"))
    entry = Entry.objects.order_by("seq").last()
    Entry.objects.filter(pk=entry.pk).update(changes=[{"bot": None}])

    folder = write_dataset(root, DAY)

    manifest = json.loads((folder / "manifest.json").read_bytes())
    season = f"ratings-{entry.season_id}"
    assert manifest["left_out"] == {"moves": [one, two, three], season: [entry.seq]}
    assert [row["id"] for row in lines(folder, "games")] == games
    whole = {*games[:-1]} - {one, two, three}
    assert {row["game"] for row in lines(folder, "moves")} == whole
    moves = (folder / "moves").glob("*.parquet")
    assert sum(pq.read_metadata(file).num_rows for file in moves) == len(
        lines(folder, "moves")
    )
    assert {row["seq"] for row in lines(folder, "ratings")} == {
        row.seq for row in Entry.objects.filter(seq__lt=entry.seq) if row.changes
    }


def test_a_service_that_can_read_nothing_writes_no_dataset(games, root, monkeypatch):
    monkeypatch.setattr(export, "MAX_LEFT_OUT", 2)
    Game.objects.update(replay=b"no replay")
    with pytest.raises(export.TooManyDamagedRows, match="rows of moves"):
        write_dataset(root, DAY)
    assert not (root / DAY).exists()


def test_a_dataset_without_damaged_rows_leaves_out_nothing(games, root):
    folder = write_dataset(root, DAY)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["left_out"] == {}


@pytest.mark.parametrize("killed_after", range(6))
def test_it_goes_on_after_any_part(games, root, monkeypatch, killed_after):
    written = []
    original = part_files.TableFiles.finish

    def finish(self):
        if len(written) == killed_after:
            raise KeyboardInterrupt
        written.append(self)
        return original(self)

    monkeypatch.setattr(part_files.TableFiles, "finish", finish)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(root, DAY)
    assert not (root / DAY).exists()
    monkeypatch.setattr(part_files.TableFiles, "finish", original)
    make_match(make_bot("three", "cora"), make_bot("four", "dora"))  # too late

    folder = write_dataset(root, DAY)

    assert [row["id"] for row in lines(folder, "games")] == games
    assert not list(folder.rglob("*.tmp"))
    assert write_dataset(root, DAY) == folder


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_it_goes_on_after_kill_9(games, root):
    # Chunks of the usual size: so a part is a whole source.
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(root), DAY],
        env=environment() | {"DJANGO_SETTINGS_MODULE": "ladder.settings"},
        cwd=django_settings.BASE_DIR,
    )
    assert process.wait(60) == -9
    draft = root / f"{DAY}.partial"
    assert len(list((draft / "parts").glob("*.json"))) == 1
    assert list(draft.rglob("*.tmp"))

    folder = write_dataset(root, DAY)

    assert [row["id"] for row in lines(folder, "games")] == games
    assert not list(folder.rglob("*.tmp"))
    subprocess.run(
        [sys.executable, "manage.py", "run_job", "dataset"],
        env=environment() | {"TORRES_DATASETS": str(root)},
        check=True,
        cwd=django_settings.BASE_DIR,
    )
    today = timezone.now().date().isoformat()
    assert (root / today / "manifest.json").exists()


_KILLED = """
import os, signal, sys
from pathlib import Path
import django
django.setup()
from ladder.extras.datasets import export, part_files, tables
tables.GAMES_PER_CHUNK = 2
export.CHUNKS_PER_PART = 2
calls = []
add = part_files.TableFiles.add
def killed(self, rows, table):
    add(self, rows, table)
    calls.append(rows)
    if len(calls) == 8:
        os.kill(os.getpid(), signal.SIGKILL)
part_files.TableFiles.add = killed
export.write_dataset(Path(sys.argv[1]), sys.argv[2])
"""


def test_files_are_served_whole_and_in_ranges(games, root, anybody):
    folder = write_dataset(root, DAY)
    assert anybody.get(API).json() == {"days": [DAY]}
    manifest = anybody.get(f"{API}{DAY}/manifest.json").json()
    entry = manifest["tables"]["games"]["files"][1]
    address = f"{API}{DAY}/{entry['path']}"
    data = (folder / entry["path"]).read_bytes()

    def get(status, **headers):
        answer = anybody.get(address, headers=headers)
        assert answer.status_code == status
        body = b"".join(answer.streaming_content) if status < 400 else b""
        assert int(answer["Content-Length"] if body else 0) == len(body)
        return body, answer.headers.get("Content-Range")

    size = len(data)
    assert get(200) == (data, None)
    assert get(206, range="bytes=10-19") == (data[10:20], f"bytes 10-19/{size}")
    assert get(206, range="bytes=10-")[0] == data[10:]
    assert get(206, range="bytes=-5")[0] == data[-5:]
    assert get(206, range=f"bytes=5-{size * 9}")[0] == data[5:]
    assert get(416, range=f"bytes={size}-")[1] == f"bytes */{size}"
    assert get(416, range="bytes=9-5")[1] == f"bytes */{size}"
    assert get(200, range="bytes=1-2,4-5")[0] == data
    assert get(200, range="lines=1-2")[0] == data
    tag = f'"{entry["sha256"]}"'
    assert get(206, range="bytes=0-0", if_range=tag)[0] == data[:1]
    assert get(200, range="bytes=0-0", if_range='"other"')[0] == data


@pytest.mark.parametrize(
    "name",
    ["nothing.parquet", "../../etc/passwd", "parts/x.json", "start.json", "games/"],
)
def test_nothing_else_is_served(games, root, anybody, name):
    write_dataset(root, DAY)
    (root / "secret").write_text("x")

    assert anybody.get(f"{API}{DAY}/{name}").status_code == 404
    assert anybody.get(f"{API}2026-11-21/manifest.json").status_code == 404


def test_without_a_folder_there_are_none(anybody, settings):
    settings.TORRES_DATASETS = ""
    assert anybody.get(API).json() == {"days": []}
    assert anybody.get(f"{API}{DAY}/manifest.json").status_code == 404
    assert not DATASET.is_due()
    with pytest.raises(CommandError, match="TORRES_DATASETS"):
        DATASET.run()


def test_old_ones_are_deleted(games, root):
    for day in range(10, 16):
        write_dataset(root, f"2026-11-{day}")
    (root / "2026-11-09.partial").mkdir()
    write_dataset(root, "2026-11-16")

    assert len(list(root.iterdir())) == KEPT_DATASETS
    assert DATASET.is_due()


def test_ratings_are_those_of_the_ledger(games, root):
    folder = write_dataset(root, DAY)

    rows = lines(folder, "ratings")

    changes = [c for e in Entry.objects.order_by("seq") for c in e.changes]
    assert [[r["mu"], r["sigma"]] for r in rows] == [c["after"] for c in changes] != []


def test_the_analyses_of_the_page_run(games, root, monkeypatch):
    monkeypatch.chdir(write_dataset(root, DAY))
    page = (django_settings.BASE_DIR / "docs/data.md").read_text()
    _, *programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 3

    for program, word in zip(programs, ("won", "mean_ms", "last"), strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, {})
        assert word in printed.getvalue()


@pytest.mark.parametrize(("tied", "precision"), [(False, 1e-6), (True, 0.02)])
def test_the_page_computes_the_leaderboard_from_the_files(
    root, monkeypatch, tied, precision
):
    """Games of two to four seats, a void, other parameters and a new version."""
    season = ensure_default_ladder().seasons.get()
    bots = [make_bot(f"bot-{number}", f"owner-{number}") for number in range(5)]
    rater.welcome(season.pk)
    play_some(season)
    change_parameters(season, replace(parameters(season.ladder), tau=0.5))
    voids.void(rated_games(season)[2], "for the test", replay_again=False)
    submission(bots[0].bot)
    rater.welcome(season.pk)
    make_matches(season, 3)
    for game in open_games():
        order = list(range(1, game.match.seats + 1))
        finish(game, [1, *order[:-1]] if tied else order)
    rater.fold(season.pk)
    kinds = set(Entry.objects.values_list("kind", flat=True))
    assert kinds == set(EntryKind) - {EntryKind.MERGE}
    log = {"origin": "here/log", "size": 7, "root": b""}
    LogHead.objects.update_or_create(pk=1, defaults=log)
    program = re.search(
        r"```python\n(import json.*?)```",
        (django_settings.BASE_DIR / "docs/data.md").read_text(),
        re.DOTALL,
    )
    monkeypatch.chdir(write_dataset(root, DAY))
    found = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program[1], found)

    ratings = {row.bot_id: row for row in Rating.objects.all()}
    assert found["skills"].keys() == ratings.keys()
    for bot, skill in found["skills"].items():
        assert skill.mu == pytest.approx(ratings[bot].mu, abs=precision)
        assert skill.sigma == pytest.approx(ratings[bot].sigma, abs=precision)
    order = [int(line.split()[0]) for line in printed.getvalue().splitlines()]
    assert tied or order == sorted(order, key=lambda bot: -ratings[bot].rating)
    manifest = json.loads(Path("manifest.json").read_bytes())
    assert manifest["log_size"] == 7
