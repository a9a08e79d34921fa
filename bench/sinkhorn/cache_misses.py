"""cache_misses.py --program PROGRAM [--quick] [--json FILE]: what rescaling rows and columns costs in misses of the caches.

Valgrind's callgrind simulates the first and the second level of a core's caches, without anything that fetches ahead:
the same on any machine. It knows no AVX-512: all use AVX2 at most.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTED = "counted_call"  # the function of the program
FIRST_LEVEL = {"bytes": 32 << 10, "ways": 8}
SECOND_LEVEL = {"bytes": 512 << 10, "ways": 8}
LINE_BYTES = 64


def option(name: str, cache: dict) -> str:
    return f"--{name}={cache['bytes']},{cache['ways']},{LINE_BYTES}"


def counts(profile: str) -> dict:
    """Of one call, from what callgrind wrote after it."""
    lines = dict(line.split(": ", 1) for line in profile.splitlines() if line.startswith(("events: ", "totals: ")))
    totals = [int(number) for number in lines["totals"].split()]
    events = dict(zip(lines["events"].split(), totals + [0] * len(lines["events"].split())))
    return {
        "references": events["Dr"] + events["Dw"],
        "first_level_misses": events["D1mr"] + events["D1mw"],
        "second_level_misses": events["DLmr"] + events["DLmw"],
    }


def report(program: list) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--cache-sim=yes"]
        command += [option("I1", FIRST_LEVEL), option("D1", FIRST_LEVEL), option("LL", SECOND_LEVEL)]
        command += ["--collect-atstart=no", f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", *program]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PLAIT_ISA": "avx2"})
        if ended.returncode != 0:
            sys.exit(f"{program[0]} under valgrind ended with {ended.returncode}:\n{ended.stderr}")
        mpi, isa, *calls = ended.stdout.splitlines()
        records = []
        for i, call in enumerate(calls, start=1):
            by, part, extent = call.split()
            numbers = counts(Path(f"{profile}.{i}").read_text())
            records.append({"by": by, "part": part, "extent": int(extent), **numbers})
    return {"mpi": mpi, "isa": isa, "first_level": FIRST_LEVEL, "second_level": SECOND_LEVEL, "records": records}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench cache-misses", description=__doc__.split(": ", 1)[1])
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="of a small matrix only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts")
    arguments = parser.parse_args()
    program = [arguments.program, *(["--quick"] if arguments.quick else [])]
    found = {"program": "cache-misses", "commit": arguments.commit, "quick": arguments.quick, **report(program)}
    print(f"{'by':<12} {'part':<10} {'extent':>6} {'references':>12} {'first level':>12} {'second level':>12}")
    for record in found["records"]:
        print(
            f"{record['by']:<12} {record['part']:<10} {record['extent']:>6} {record['references']:>12}"
            f" {record['first_level_misses']:>12} {record['second_level_misses']:>12}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
