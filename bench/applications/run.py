"""run.py --plait PLAIT --launcher LAUNCHER [--quick] [--json FILE]: programs that know nothing of plait, with its reductions and
without them, in launches that take turns: the gradients of data-parallel training by mpi4py, and LAMMPS.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import median

FOLDER = Path(__file__).parent


def seconds_of_gradients(output: str) -> float:
    return median(json.loads(output.splitlines()[-1]))


def seconds_of_lammps(output: str) -> float:
    return float(re.search(r"^Loop time of ([0-9.e+-]+) ", output, re.MULTILINE)[1])


APPLICATIONS = {
    "gradients of AlexNet, a step's sums": (["/usr/bin/python3", FOLDER / "gradients.py"], seconds_of_gradients),
    "LAMMPS, 100 steps of a melt": (["lmp", "-log", "none", "-in", FOLDER / "melt.in"], seconds_of_lammps),
}


def output_of(command: list) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def measured(launcher: list[str], plait: Path, name: str, launches: int) -> dict:
    program, seconds_in = APPLICATIONS[name]
    samples: dict[str, list[float]] = {"plait": [], "without": []}
    for _ in range(launches):
        samples["plait"].append(seconds_in(output_of([plait, "exec", "--", *launcher, *program])))
        samples["without"].append(seconds_in(output_of([*launcher, *program])))
    speedups = [without / own for own, without in zip(samples["plait"], samples["without"])]
    return {
        "case": name,
        "seconds": median(samples["plait"]),
        "seconds_without": median(samples["without"]),
        "speedup": median(speedups),
        "speedup_range": [min(speedups), max(speedups)],
        "samples": samples,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench applications", description=__doc__.split("]: ", 1)[1])
    parser.add_argument("--plait", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--launcher", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--mpi", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--launches", type=int, metavar="N", help="of each program, with plait and without; 7, or 1 if quick")
    parser.add_argument("--quick", action="store_true", help="to see that it runs, not how fast")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report")
    arguments = parser.parse_args()
    launcher = shlex.split(arguments.launcher)
    launches = arguments.launches or (1 if arguments.quick else 7)
    report = {
        "program": "applications",
        "commit": arguments.commit,
        "mpi": arguments.mpi,
        "launcher": arguments.launcher,
        "quick": arguments.quick,
        "records": [],
    }
    print(f"{'application':<40} {'plait':>10} {'without':>10}  without / plait")
    for name in APPLICATIONS:
        record = measured(launcher, arguments.plait, name, launches)
        low, high = record["speedup_range"]
        print(
            f"{name:<40} {record['seconds']:>8.3f} s {record['seconds_without']:>8.3f} s"
            f"  {record['speedup']:.2f} [{low:.2f}, {high:.2f}]",
            flush=True,
        )
        report["records"].append(record)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
