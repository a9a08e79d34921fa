"""document_benchmarks.py --programs FOLDER FILE...: writes build/performance/README.md from the JSON files of benchmarks.

Each file becomes a section with a table of its cases, and pictures beside it, which the benchmark itself draws.
docs/performance.md is written by hand: it tells the headline cases.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import benchmark_applications
import benchmark_cache_misses
import benchmark_goals
import benchmark_instructions
import benchmark_maps
import benchmark_overlap
import benchmark_place

FOLDER = Path("build/performance")


def three_digits(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def seconds_text(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 0.9995:
            return f"{three_digits(seconds * factor)} {unit}"
    if seconds >= 0.9995e-6 or seconds == 0:
        return f"{three_digits(seconds * 1e6)} µs"
    return f"{three_digits(seconds * 1e9)} ns"


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
        parts.append(f"speedup {goal['speedup_over_peer']:.{1 if goal['speedup_over_peer'] >= 1 else 2}f}")
    if "cost_over_best" in goal:
        parts.append(f"cost {goal['cost_over_best']:.2f} of the best")
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


def plot_name(report: dict) -> str:
    place = benchmark_place.only_place(report)
    return f"performance-{report['program']}-{mpi_preset(report)}{f'-{place.name}' if place else ''}.svg"


def extent_plot_name(plot: str) -> str:
    return plot.replace(".svg", "-over-n.svg")


def has_extents(report: dict) -> bool:
    """Whether there are cases that differ in the extent of a square matrix alone, so that a line leads through them."""
    names = [re.sub(r"(\d+)x\1 ", "", record["case"], count=1) for record in report["records"]]
    return len(set(names)) < len(names)


def command(report: dict) -> str:
    mpi = mpi_preset(report)
    if report["program"] == benchmark_overlap.PROGRAM:
        return benchmark_overlap.command(report, mpi)
    if place := benchmark_place.only_place(report):
        return benchmark_place.command(report["program"], mpi, [place])
    option = "" if mpi == "openmpi" else f" --mpi {mpi}"
    return f"./dev bench {report['program']}{option} --json build/{report['program']}-{mpi}.json"


def warning(report: dict) -> str:
    """Whoever reads the figures has to know if the machine was busy with something else."""
    if report["load_average"] < 0.5 * report["machine"]["cores"]:
        return ""
    return " **The machine was busy with other work: run it again on a quiet one before you conclude anything.**"


def table_of_cases(report: dict, plot: str) -> list[str]:
    """Pictures, and a row for each case."""
    over_extents = []
    if has_extents(report):
        over_extents = [f"![Share of the limit's speed over N of N x N]({extent_plot_name(plot)})", ""]
    return [
        f"![Share of the limit's speed in each case]({plot})",
        "",
        *over_extents,
        "| case | plait | setup | limit | of the limit | peer | speedup | gate | aim |",
        "|---|--:|--:|--:|---|--:|---|---|---|",
        *[row(record) for record in report["records"]],
    ]


def section(report: dict, plot: str) -> str:
    for others in (benchmark_instructions, benchmark_applications, benchmark_cache_misses):
        if report["program"] == others.PROGRAM:
            return others.section(report)
    if report["program"] == benchmark_overlap.PROGRAM:
        return benchmark_overlap.section(report, mpi_preset(report), warning(report))
    machine = report["machine"]
    table = table_of_cases(report, plot)
    if benchmark_maps.is_map(report):
        table = benchmark_maps.body(report, plot)
    where = benchmark_place.only_place(report)
    lines = [
        f"## {report['program']}, {report['mpi']}{f', {where.title}' if where else ''}",
        "",
        f"{report['description']}.",
        "",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['isa']} kernels; {report['mpi']};"
        f" plait at `{report['commit']}`; load average {report['load_average']:.1f} when it began.{warning(report)}",
        *benchmark_goals.lines(report),
        "",
        *table,
    ]
    return "\n".join(lines) + "\n"


def page(reports: list[dict]) -> str:
    """All of the reports, each under the command that makes it again."""
    parts = [
        section(report, plot_name(report)).replace("\n\n", f"\n\n```sh\n{command(report)}\n```\n\n", 1)
        for report in reports
    ]
    return "\n".join(["# Benchmarks\n", *parts])


def draw(program: Path, path: Path, report: dict, plot: str) -> None:
    """The benchmark itself draws the pictures of its report."""
    without_pictures = (benchmark_instructions, benchmark_applications, benchmark_cache_misses)
    if report["program"] in [others.PROGRAM for others in without_pictures]:
        return
    words = [program, "--merge", path]
    if report["program"] == benchmark_overlap.PROGRAM:
        for choice, picture in benchmark_overlap.pictures(report, mpi_preset(report)):
            subprocess.run([*words, "--filter", choice, "--plot", FOLDER / picture], check=True)
        return
    if benchmark_maps.is_map(report):
        for choice, picture in benchmark_maps.picture_options(plot, report):
            subprocess.run([*words, "--filter", choice, "--heat-map", FOLDER / picture], check=True)
        return
    words += ["--plot", FOLDER / plot]
    if has_extents(report):
        words += ["--extent-plot", FOLDER / extent_plot_name(plot)]
    subprocess.run(words, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --document")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what `./dev bench NAME --json FILE` wrote")
    arguments = parser.parse_args()

    reports = [json.loads(path.read_text()) for path in arguments.files]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, report in zip(arguments.files, reports):
        if report["quick"]:
            parser.error(f"{path} is of a quick run, whose figures mean nothing")
        draw(arguments.programs / f"bench_{report['program']}", path, report, plot_name(report))
    written = FOLDER / "README.md"
    written.write_text(page(reports))
    print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
