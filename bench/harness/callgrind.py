"""Counts of Valgrind's callgrind, for each call of one function of a program: exactly, and the same on any machine.

It knows no AVX-512, so that plait's kernels use AVX2 at most.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

COUNTED = "counted_call"  # the function of the program


def events_of(profile: str) -> dict[str, int]:
    """Of one call, by the names that callgrind has for them, from what it wrote after the call."""
    lines = dict(line.split(": ", 1) for line in profile.splitlines() if line.startswith(("events: ", "totals: ")))
    totals = [int(number) for number in lines["totals"].split()]
    names = lines["events"].split()
    return dict(zip(names, totals + [0] * len(names)))


def run(program: list, options: list[str], environment: dict | None = None) -> tuple[str, str, list[tuple[str, dict]]]:
    """What the program prints, the MPI library, the instruction set, and a line for each call, with the events of that."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--cache-sim=yes", *options]
        command += ["--collect-atstart=no", f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", *program]
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"PLAIT_ISA": "avx2"} | (environment or {})
        )
        if ended.returncode != 0:
            sys.exit(f"{program[0]} under valgrind ended with {ended.returncode}:\n{ended.stderr}")
        mpi, isa, *calls = ended.stdout.splitlines()
        return mpi, isa, [(call, events_of(Path(f"{profile}.{i}").read_text())) for i, call in enumerate(calls, start=1)]


def main(
    name: str, document: str, quick: str, report: Callable[[list], dict], show: Callable[[list[dict]], None]
) -> None:
    """The script of a benchmark: shows its records, and writes them where that is asked for.

    `document` is that of the script, `quick` what its program leaves when it is to be quick.
    """
    parser = argparse.ArgumentParser(prog=f"./dev bench {name}", description=document.split(": ", 1)[1])
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts")
    arguments = parser.parse_args()
    program = [arguments.program, *(["--quick"] if arguments.quick else [])]
    found = {"program": name, "commit": arguments.commit, "quick": arguments.quick, **report(program)}
    show(found["records"])
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
