"""Change the code a little, and look whether the tests notice: a fixed sample.

    python -m tests.mutation run FILE [--commit COMMIT] [--like OTHER_FILE] [--areas …]
    python -m tests.mutation table FILE
    python -m tests.mutation compare BEFORE AFTER

`run` appends a line of JSON to the file for each mutant, and continues a run that was
interrupted. With `--like` it tries the mutants of another file instead of drawing a
sample. `compare` fails if a mutant that the tests killed before survives now. Mutants
are made by Cosmic Ray, from the extra `mutation`.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.mutation.areas import AREAS
from tests.mutation.mutants import all_mutants, sample
from tests.mutation.results import compare, read, table
from tests.mutation.workshop import Workshop


def run(options: argparse.Namespace) -> int:
    """Try the mutants that are not in the file yet, and print the table."""
    file: Path = options.file
    done = {row["id"] for row in read(file)} if file.exists() else set()
    wanted = {row["id"] for row in read(options.like)} if options.like else set()
    with tempfile.TemporaryDirectory(prefix="torres-mutation-") as folder:
        workshop = Workshop(Path(folder), options.commit)
        for name in options.areas:
            area = AREAS[name]
            mutants = sample(workshop.source, name, area)
            if options.like:
                every = all_mutants(workshop.source, name, area)
                mutants = [mutant for mutant in every if mutant.id in wanted]
            for mutant in sorted(mutants, key=lambda each: (each.path, each.line)):
                if mutant.id in done:
                    continue
                began = time.monotonic()
                outcome = workshop.outcome(mutant, area)
                spent = round(time.monotonic() - began, 1)
                row = asdict(mutant) | {"outcome": outcome, "seconds": spent}
                with file.open("a") as lines:
                    lines.write(json.dumps(row) + "\n")
                print(f"{spent:6.1f} s  {outcome:<9} {mutant.id}", flush=True)
    return table(options.file)


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run", help="try mutants")
    command.add_argument("file", type=Path)
    command.add_argument("--commit", default="HEAD", help="the code and its tests")
    command.add_argument("--like", type=Path, help="try the mutants of this file")
    command.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    command.set_defaults(call=run)
    command = commands.add_parser("table", help="count the mutants of a file")
    command.add_argument("file", type=Path)
    command.set_defaults(call=lambda options: table(options.file))
    command = commands.add_parser("compare", help="compare two files")
    command.add_argument("files", type=Path, nargs=2, metavar="FILE")
    command.set_defaults(call=lambda options: compare(*options.files))
    options = parser.parse_args(arguments)
    return int(options.call(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
