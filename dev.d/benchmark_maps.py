"""What a report of thousands of cases becomes on the page of benchmarks: a picture of each part of the map, a table of what
they come to by size, and the names of those that miss a gate.

Their names are words: what is done, a size such as 16K, and the part of the map, such as `warm ranks=1 kernel`.
"""

import re
from statistics import median

import benchmark_goals

SIZE = re.compile(r" ([0-9]{1,4}[BKMG]) ")
UNITS = "BKMG"
FEWEST_CASES = 150  # of fewer, a table shows each


def is_map(report: dict) -> bool:
    cases = [record["case"] for record in report["records"]]
    return len(cases) >= FEWEST_CASES and all(SIZE.search(case) for case in cases)


def split(case: str) -> tuple[str, str, str]:
    """What is done, its size, and the part of the map."""
    what, size, part = SIZE.split(case, maxsplit=1)
    return what, size, part


def size_in_bytes(size: str) -> int:
    return int(size[:-1]) << 10 * UNITS.index(size[-1])


def parts(report: dict) -> list[str]:
    """In the order of the report."""
    return list(dict.fromkeys(split(record["case"])[2] for record in report["records"]))


def picture_name(plot: str, part: str) -> str:
    words = [word for word in part.split() if "=" not in word]
    return plot.replace(".svg", f"-{'-'.join(words)}.svg")


def picture_options(plot: str, report: dict) -> list[tuple[str, str]]:
    """Of each picture: the filter that chooses its cases, and its name."""
    return [(f"{SIZE.pattern}{part}$", picture_name(plot, part)) for part in parts(report)]


def of_memcpy(record: dict) -> float:
    return median(record["samples"]["memcpy"]) / record["seconds"]


def row(part: str, size: str, records: list[dict]) -> str:
    worst = min(records, key=lambda record: record["fraction_of_limit"])
    peers = [record["speedup_over_peer"] for record in records if record["peer"] is not None]
    copies = [of_memcpy(record) for record in records if "memcpy" in record["samples"]]
    cells = [
        part,
        size,
        str(len(records)),
        f"{median(record['fraction_of_limit'] for record in records):.2f}",
        f"{worst['fraction_of_limit']:.2f} `{split(worst['case'])[0]}`",
        f"{median(copies):.2f}" if copies else "–",
        f"{median(peers):.2f}" if peers else "–",
        f"{min(peers):.2f}" if peers else "–",
        benchmark_goals.met(records, "gate"),
        benchmark_goals.met(records, "aim"),
    ]
    return f"| {' | '.join(cells)} |"


def missed(record: dict) -> str:
    """A line for a case that misses a gate."""
    figures = []
    if "fraction_of_limit" in record["gate"]:
        figures.append(f"{record['fraction_of_limit']:.2f} of the limit, {record['gate']['fraction_of_limit']:.2f} asked")
    if "speedup_over_peer" in record["gate"] and record["peer"] is not None:
        figures.append(
            f"speedup {record['speedup_over_peer']:.2f} over {record['peer']}, "
            f"{record['gate']['speedup_over_peer']:.2f} asked"
        )
    return f"- `{record['case']}`: {'; '.join(figures)}"


def body(report: dict, plot: str) -> list[str]:
    """The lines of the report's section, below its head."""
    lines = []
    for part in parts(report):
        lines += [f"![Share of the limit's speed, {part}]({picture_name(plot, part)})", ""]
    lines += [
        "| | size | cases | median of the limit | worst of the limit | median of memcpy | median speedup | least speedup"
        " | gate met | aim met |",
        "|---|--:|--:|--:|---|--:|--:|--:|--:|--:|",
    ]
    groups: dict[tuple[str, str], list[dict]] = {}
    for record in report["records"]:
        _, size, part = split(record["case"])
        groups.setdefault((part, size), []).append(record)
    for part in parts(report):
        sizes = sorted((size for of, size in groups if of == part), key=size_in_bytes)
        lines += [row(part, size, groups[part, size]) for size in sizes]
    losers = [record for record in report["records"] if record["gate"] is not None and not record["gate"]["met"]]
    lines += ["", f"Cases that miss their gate: {len(losers) or 'none'}", "", *[missed(record) for record in losers]]
    return lines
