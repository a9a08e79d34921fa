"""What a report of `./dev bench overlap` becomes on the page of benchmarks: for each place where it ran, a table of plait and
MPI by operation and size, and one of the steps towards a hierarchical allreduce.

Times are in units of n ÷ goodput, of what a ping-pong of the same run gets through a link: of how often the n bytes of a
vector (of all vectors of a node, between columns) would pass it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import benchmark_goals
import benchmark_place
from benchmark_place import Place

PROGRAM = "overlap"
CASE = re.compile(rf"(\S+) (\S+) (\d+[KMG]) {benchmark_place.WORDS} ")
TO_ALL = ("allreduce", "allreduce>update", "reduce>broadcast")
PICTURED = "16M"


class Measured(NamedTuple):
    """One record, by the parts of its name."""

    operation: str
    variant: str
    size: str
    place: Place
    record: dict

    @property
    def bound(self) -> float:
        """The least that links allow."""
        places = self.place.nodes if self.place.nodes > 1 else self.place.ranks
        return 2 * (places - 1) / places if self.operation.split("/")[0] in TO_ALL else 1.0

    @property
    def units(self) -> float:
        return self.bound / self.record["fraction_of_limit"]

    @property
    def text(self) -> str:
        low, high = self.record["fraction_of_limit_spread"]
        return f"**{self.units:.2f}** [{self.bound / high:.2f}, {self.bound / low:.2f}]"


def measured(report: dict) -> Iterator[Measured]:
    for record in report["records"]:
        if found := CASE.match(record["case"]):
            operation, variant, size, *place = found.groups()
            yield Measured(operation, variant, size, benchmark_place.place_of(*place), record)


def places(report: dict) -> list[Place]:
    """In the order of the report."""
    return list(dict.fromkeys(one.place for one in measured(report)))


def goal(one: Measured, kind: str) -> str:
    """What is asked for, in the table's units, and whether it was met."""
    asked = one.record[kind]
    if asked is None:
        return "–"
    parts = []
    if "fraction_of_limit" in asked:
        parts.append(f"≤ {one.bound / asked['fraction_of_limit']:.2f}")
    if "speedup_over_peer" in asked:
        parts.append(f"≤ {1 / asked['speedup_over_peer']:.2f} x the best of MPI")
    return f"{', '.join(parts)}: {'met' if asked['met'] else '**missed**'}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def row(variants: dict[str, Measured]) -> str:
    """Of one operation at one size."""
    dash = "–"
    first = next(iter(variants.values()))
    ours, blocking = variants.get("ours"), variants.get("mpi")
    of_mpi = [one for name, one in variants.items() if name.startswith("mpi")]
    best = min(of_mpi, key=lambda one: one.units, default=None)
    cells = [
        f"`{first.operation}`",
        first.size,
        milliseconds(first.record["limit_seconds"] / first.bound),
        f"{first.bound:.2f}",
        ours.text if ours else dash,
        f"{best.text} `{best.variant}`" if best else dash,
        blocking.text if blocking else dash,
        goal(ours, "gate") if ours else dash,
        goal(ours, "aim") if ours else dash,
    ]
    return f"| {' | '.join(cells)} |"


def steps(groups: dict[tuple[str, str], dict[str, Measured]]) -> list[str]:
    """The allreduces that tell what each step is worth, a table for each operation that has them: a row for each."""
    lines = []
    for operation in dict.fromkeys(operation for operation, _ in groups):
        by_size = {size: variants for (of, size), variants in groups.items() if of == operation}
        names = [name for name in next(iter(by_size.values())) if name != "ours" and not name.startswith("mpi")]
        if not names:
            continue
        lines += ["", f"| `{operation}` by | {' | '.join(by_size)} |", f"|---|{'---|' * len(by_size)}"]
        for name in names:
            cells = [variants[name].text if name in variants else "–" for variants in by_size.values()]
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


# Fig. 5 of Huang and Chow: each node has n bytes, in one rank while the others sleep, or shared among its ranks.
PROCESSES = {
    ("active", "mpi"): "MPI, blocking, one rank a node",
    ("active", "mpi*4"): "MPI, N_DUP = 4, one rank a node",
    ("columns", "mpi"): "MPI, blocking, all ranks of a node",
    ("columns", "mpi*4"): "MPI, N_DUP = 4, all ranks of a node",
    ("active", "ours"): "plait, one rank a node",
    ("columns", "ours"): "plait, all ranks of a node",
}


def processes(groups: dict[tuple[str, str], dict[str, Measured]]) -> list[str]:
    """What several ranks of a node gain over one, a table for each operation that was done by both."""
    lines = []
    for operation in dict.fromkeys(name.split("/")[0] for name, _ in groups if name.endswith("/active")):
        sizes = [size for name, size in groups if name == f"{operation}/active"]
        lines += ["", f"| `{operation}` by | {' | '.join(sizes)} |", f"|---|{'---|' * len(sizes)}"]
        for (among, variant), title in PROCESSES.items():
            found = [groups.get((f"{operation}/{among}", size), {}).get(variant) for size in sizes]
            lines.append(f"| {title} | {' | '.join(one.text if one else '–' for one in found)} |")
    return lines


# Fig. 16 of COFFEE, in its order: what each step adds to the one before, on top of a ring.
BREAKDOWN = {
    "ring": "ring over all ranks",
    "leaders+chunks": "SALaR: leaders of nodes, in chunks",
    "coffee+chunks": "+ reduce: all ranks of a node reduce",
    "leaders+chunks+compute": "+ overlap: each chunk computed with as it comes",
    "coffee+chunks+compute": "+ reduce + overlap: COFFEE",
    "scattered+window+chunks+compute": "plait: rings of ranks of equal place, shared memory",
}


def breakdown(groups: dict[tuple[str, str], dict[str, Measured]]) -> list[str]:
    """How many times as fast as the ring each of the literature's steps is, with the update that follows it."""
    by_size = {size: variants for (of, size), variants in groups.items() if of == "allreduce>update"}
    by_size = {size: variants for size, variants in by_size.items() if "ring" in variants}
    if not by_size:
        return []
    lines = ["", f"| speed, ring = 1 | {' | '.join(by_size)} |", f"|---|{'--:|' * len(by_size)}"]
    for name, title in BREAKDOWN.items():
        cells = [
            f"{variants['ring'].units / variants[name].units:.2f}" if name in variants else "–"
            for variants in by_size.values()
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def tables(report: dict, place: Place) -> list[str]:
    groups: dict[tuple[str, str], dict[str, Measured]] = {}
    for one in measured(report):
        if one.place == place:
            groups.setdefault((one.operation, one.size), {})[one.variant] = one
    return [
        "| operation | n | n ÷ goodput | bound | plait | best of MPI | MPI, blocking | gate | aim |",
        "|---|--:|--:|--:|---|---|---|---|---|",
        *[row(variants) for variants in groups.values()],
        *processes(groups),
        *breakdown(groups),
        *steps(groups),
    ]


def picture_name(mpi: str, place: Place) -> str:
    return f"performance-{PROGRAM}-{mpi}-{place.name}.svg"


def pictures(report: dict, mpi: str) -> list[tuple[str, str]]:
    """Of each picture: the filter that chooses its cases, and its name."""
    chosen = dict.fromkeys(one.place for one in measured(report) if one.size == PICTURED)
    return [
        (f" {PICTURED} nodes={place.nodes} ranks={place.ranks} {f'rate={place.mbit}mbit ' if place.mbit else ''}",
         picture_name(mpi, place))
        for place in chosen
    ]  # fmt: skip


def command(report: dict, mpi: str) -> str:
    return benchmark_place.command(PROGRAM, mpi, places(report))


def section(report: dict, mpi: str, warning: str) -> str:
    machine = report["machine"]
    of_report = places(report)
    lines = [
        f"## Collectives on a network, and overlap: {report['mpi']}, {of_report[0].title}",
        "",
        f"{report['description']}.",
        "",
        "Times in units of n ÷ goodput, medians with their intervals, less is better: how often the n bytes of a rank's"
        " vector (of a node's, between columns) would pass a link at the speed of a ping-pong in the same run. The bound"
        " is what links allow.",
        "",
        f"{machine['cpu']}, {machine['cores']} cores; {report['mpi']}; plait at `{report['commit']}`;"
        f" load average {report['load_average']:.1f} when it began.{warning}",
        *benchmark_goals.lines(report),
    ]
    drawn = {name for _, name in pictures(report, mpi)}
    for place in of_report:
        if len(of_report) > 1:
            lines += ["", f"### {place.title}"]
        if (picture := picture_name(mpi, place)) in drawn:
            lines += ["", f"![Share of the limit's speed at {PICTURED}, {place.title}]({picture})"]
        lines += ["", *tables(report, place)]
    return "\n".join(lines) + "\n"
