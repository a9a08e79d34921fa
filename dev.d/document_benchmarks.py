"""document_benchmarks.py --programs FOLDER FILE...: writes docs/performance.md from the JSON files of benchmarks.

Each file becomes a section with a table, and a picture beside it which the benchmark itself draws. What is written by
hand is the text before the sections, below.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

DOCS = Path("docs")

HOW_TO_READ = """# Performance

<!-- Written by ./dev bench --document: change dev.d/document_benchmarks.py instead. -->

## How to read this

Each case compares plait with a *limit*, the least work that the hardware has to do for such a job, and with a *peer*,
another program that does the same job.

- **Times** are wall-clock medians, from a barrier of all ranks until the slowest one is done. plait, the limit and the
  peer take turns within one run, so that whatever else the machine does meets all of them; all operands are rewritten
  before every call. Plans are made once, before; what that took is `setup`.
- **Of the limit** is the limit's time divided by plait's, and **speedup** the peer's time divided by plait's: the
  median of the ratios of all rounds, with an interval that holds it with 95 % (from order statistics, so it assumes no
  distribution; below six rounds it is the whole range). There are 10 rounds at least, and up to 100 of short cases.
- The limit **memcpy** is the time in which every rank, all at once, copies its local array of the source once, in the
  memory that plait works on: by `memcpy` of the C library or by streaming stores, whichever has the smaller median.
- The limit **exchange** is the time in which every rank, on a node of its own, sends as many bytes to the next one as
  the busiest rank of the case has to send or receive, while it receives as many: one message of MPI. The limit **link** is
  that volume divided by the rate of the emulated cluster's links ([cluster.md](cluster.md)). As always, the
  smaller one counts.
- The limit **target** is no measurement, but the time that planning was promised to take at most.
- A **gate** must hold, an *aim* is where we want to get: each says what the medians should come to at least. Where
  the ranks of a node outnumber the cores there is neither, only the report. A gate or aim over a peer that is not there
  counts as met.
- Before it is timed, each case is run once by plait and once by the peer, and every element of the result is checked.

## How to reproduce it

```sh
{commands}
```

The first lines of each section name the machine and the sources. A run wants the machine for itself: the load average
tells whether it had it. `./dev bench NAME --quick` only checks that a benchmark works. `--gate` turns a missed gate into
exit status 1; `--ranks 2`, `--filter REGEX` and `--repetitions N` choose less or more of it.

## The JSON files

`{{schema, program, description, commit, machine: {{cpu, cores, isa}}, mpi, quick, load_average, records}}`, and in each
record:

| key | |
|---|---|
| `case` | what was measured, such as `gemr2d f64 8000x8000 2x1>1x2 ranks=2`: operation, type, shape, process grids |
| `seconds`, `spread` | plait's median, and the 95 % interval `[low, high]` of it |
| `setup_seconds` | what plait did once, before all calls |
| `limit`, `limit_seconds` | which limit was the best, and its median |
| `fraction_of_limit`, `fraction_of_limit_spread` | limit ÷ plait, and its interval |
| `peer`, `peer_seconds` | the peer and its median; `null` if there was none |
| `speedup_over_peer`, `speedup_over_peer_spread` | peer ÷ plait, and its interval; `null` if there was none |
| `gate`, `aim` | `{{"fraction_of_limit": 0.3, "speedup_over_peer": 1.0, "met": true}}`, what is asked for of it, or `null` |
| `samples` | every time in seconds, by contender, in the order of the rounds |
"""


def three_digits(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def seconds_text(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 0.9995:
            return f"{three_digits(seconds * factor)} {unit}"
    return f"{three_digits(seconds * 1e6)} µs"


def figure(median: float, spread: list[float]) -> str:
    return f"**{three_digits(median)}** [{three_digits(spread[0])}, {three_digits(spread[1])}]"


def goal(goal: dict | None) -> str:
    """What is asked for, and whether it was met."""
    if goal is None:
        return "–"
    parts = []
    if "fraction_of_limit" in goal:
        parts.append(f"{goal['fraction_of_limit']:.2f} of the limit")
    if "speedup_over_peer" in goal:
        parts.append(f"speedup {goal['speedup_over_peer']:.1f}")
    return f"{', '.join(parts)}: {'met' if goal['met'] else '**missed**'}"


def row(record: dict) -> str:
    peer, speedup = "–", "–"
    if record["peer"] is not None:
        peer = f"{seconds_text(record['peer_seconds'])} {record['peer']}"
        speedup = figure(record["speedup_over_peer"], record["speedup_over_peer_spread"])
    cells = [
        f"`{record['case']}`",
        seconds_text(record["seconds"]),
        seconds_text(record["setup_seconds"]),
        f"{seconds_text(record['limit_seconds'])} {record['limit']}",
        figure(record["fraction_of_limit"], record["fraction_of_limit_spread"]),
        peer,
        speedup,
        goal(record["gate"]),
        goal(record["aim"]),
    ]
    return f"| {' | '.join(cells)} |"


def mpi_preset(report: dict) -> str:
    """The name that ./dev has for the report's MPI: "openmpi" of "Open MPI 4.1.4"."""
    return "".join(word for word in report["mpi"].split() if not word[0].isdigit()).lower()


def plot_name(report: dict, reports: list[dict]) -> str:
    """The MPI is part of the name only where the benchmark was run with several."""
    alone = sum(other["program"] == report["program"] for other in reports) == 1
    return f"performance-{report['program']}{'' if alone else '-' + mpi_preset(report)}.svg"


def command(report: dict) -> str:
    mpi = mpi_preset(report)
    option = "" if mpi == "openmpi" else f" --mpi {mpi}"
    return f"./dev bench {report['program']}{option} --json build/{report['program']}-{mpi}.json"


def warning(report: dict) -> str:
    """Whoever reads the figures has to know if the machine was busy with something else."""
    if report["load_average"] < 0.5 * report["machine"]["cores"]:
        return ""
    return " **The machine was busy with other work: run it again on a quiet one before you conclude anything.**"


def section(report: dict, plot: str) -> str:
    machine = report["machine"]
    lines = [
        f"## {report['program']}, {report['mpi']}",
        "",
        f"{report['description']}.",
        "",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['isa']} kernels; {report['mpi']};"
        f" plait at `{report['commit']}`; load average {report['load_average']:.1f} when it began.{warning(report)}",
        "",
        f"![Share of the limit's speed in each case]({plot})",
        "",
        "| case | plait | setup | limit | of the limit | peer | speedup | gate | aim |",
        "|---|--:|--:|--:|---|--:|---|---|---|",
        *[row(record) for record in report["records"]],
    ]
    return "\n".join(lines) + "\n"


def document(reports: list[dict]) -> str:
    commands = [command(report) for report in reports]
    written = [line.split()[-1] for line in commands]
    commands.append(f"./dev bench --document {' '.join(written)}   # writes this page")
    sections = [section(report, plot_name(report, reports)) for report in reports]
    return "\n".join([HOW_TO_READ.format(commands="\n".join(commands)), *sections])


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --document")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what `./dev bench NAME --json FILE` wrote")
    arguments = parser.parse_args()

    reports = [json.loads(path.read_text()) for path in arguments.files]
    for path, report in zip(arguments.files, reports):
        if report["quick"]:
            parser.error(f"{path} is of a quick run, whose figures mean nothing")
        program = arguments.programs / f"bench_{report['program']}"
        plot = DOCS / plot_name(report, reports)
        subprocess.run([program, "--merge", path, "--plot", plot], check=True)
    (DOCS / "performance.md").write_text(document(reports))
    print(DOCS / "performance.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
