"""document_benchmarks.py --programs FOLDER FILE...: writes docs/performance.md from the JSON files of benchmarks.

Each file becomes a section with a table, and a picture beside it which the benchmark itself draws; it replaces the one
that the same command made before, and the sections of other commands stay as they are. The overview and the list of
commands follow from the sections; all other text before these is written by hand, on the page itself.
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

DOCS = Path("docs")

OVERVIEW = "## At a glance"


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


SUBJECTS = (
    "redistribute batch network plan reduce instructions applications allreduce overlap multiply symm sinkhorn".split()
)


def place(words: str) -> tuple:
    """Where the section of a command stands: by subject, and Open MPI before MPICH."""
    name = words.split()[2]
    return SUBJECTS.index(name) if name in SUBJECTS else len(SUBJECTS), "--mpi" in words, words


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


def sections_of(page: str) -> dict[str, str]:
    """What a page has of each of its commands, which stand in the order of the sections."""
    commands = [line for line in page.splitlines() if line.startswith("./dev bench ") and "--document" not in line]
    if not commands:
        return {}
    begins = headings(page)[-len(commands) :]
    return {words: page[begin:end].rstrip() + "\n" for words, begin, end in zip(commands, begins, [*begins[1:], None])}


def headings(page: str) -> list[int]:
    """Where the sections of a page begin."""
    return [match.start() for match in re.finditer(r"^## ", page, re.MULTILINE)]


def link(heading: str) -> str:
    """To a section, as GitHub and others name it."""
    return f"[{heading}](#{re.sub(r'[^a-z0-9 -]', '', heading.lower()).replace(' ', '-')})"


def overview(sections: list[str]) -> str:
    """How many goals each benchmark meets."""
    lines = [OVERVIEW, "", "| | gates met | aims met |", "|---|--:|--:|"]
    for text in sections:
        if counts := re.search(r"^Gates met: (.*)\. Aims met: (.*)\.$", text, re.MULTILINE):
            lines.append(f"| {link(text.splitlines()[0].removeprefix('## '))} | {counts[1]} | {counts[2]} |")
    return "\n".join(lines) + "\n"


def text_by_hand(page: str) -> str:
    """From behind the overview to the sections of benchmarks."""
    begins = headings(page)
    of_overview = begins.index(page.index(OVERVIEW))
    return page[begins[of_overview + 1] : [*begins, None][len(begins) - len(sections_of(page))]].rstrip() + "\n"


def document(reports: list[dict], before: str) -> str:
    """The page `before` with these reports in the place of what it has of their commands."""
    sections = sections_of(before) | {command(report): section(report, plot_name(report)) for report in reports}
    order = sorted(sections, key=place)
    commands = [*order, "./dev bench --document build/*-*.json   # puts what was run onto this page"]
    title = before[: before.index(OVERVIEW)].rstrip() + "\n"
    block = "```sh\n" + "\n".join(commands) + "\n```"
    text = re.sub(r"^```sh\n.*?^```$", lambda _: block, text_by_hand(before), count=1, flags=re.MULTILINE | re.DOTALL)
    ordered = [sections[words] for words in order]
    return "\n".join([title, overview(ordered), text, *ordered])


def draw(program: Path, path: Path, report: dict, plot: str) -> None:
    """The benchmark itself draws the pictures of its report."""
    without_pictures = (benchmark_instructions, benchmark_applications, benchmark_cache_misses)
    if report["program"] in [others.PROGRAM for others in without_pictures]:
        return
    words = [program, "--merge", path]
    if report["program"] == benchmark_overlap.PROGRAM:
        for choice, picture in benchmark_overlap.pictures(report, mpi_preset(report)):
            subprocess.run([*words, "--filter", choice, "--plot", DOCS / picture], check=True)
        return
    if benchmark_maps.is_map(report):
        for choice, picture in benchmark_maps.picture_options(plot, report):
            subprocess.run([*words, "--filter", choice, "--heat-map", DOCS / picture], check=True)
        return
    words += ["--plot", DOCS / plot]
    if has_extents(report):
        words += ["--extent-plot", DOCS / extent_plot_name(plot)]
    subprocess.run(words, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --document")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what `./dev bench NAME --json FILE` wrote")
    arguments = parser.parse_args()

    reports = [json.loads(path.read_text()) for path in arguments.files]
    for path, report in zip(arguments.files, reports):
        if report["quick"]:
            parser.error(f"{path} is of a quick run, whose figures mean nothing")
        draw(arguments.programs / f"bench_{report['program']}", path, report, plot_name(report))
    page = DOCS / "performance.md"
    page.write_text(document(reports, page.read_text()))
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
