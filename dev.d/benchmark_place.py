"""Where a benchmark ran that wants several nodes: as the names of its cases say it, ./dev takes it and people read it."""

import re
from typing import NamedTuple

WORDS = r"nodes=(\d+) ranks=(\d+)(?: rate=(\S+)mbit| (unlimited))?"
UNLIMITED = "100000"  # Mb/s: more than a machine's memory gives to both ends of a link


class Place(NamedTuple):
    nodes: int
    ranks: int
    mbit: str | None

    @property
    def per_node(self) -> int:
        return self.ranks // self.nodes

    @property
    def rate(self) -> str:
        """As ./dev takes it."""
        mbit = float(self.mbit or 0)
        return f"{mbit / 1000:g}gbit" if mbit >= 1000 else f"{mbit:g}mbit"

    @property
    def name(self) -> str:
        """Such as "4x1-1gbit"."""
        return f"{self.nodes}x{self.per_node}" + (f"-{self.rate}" if self.mbit else "")

    @property
    def title(self) -> str:
        links = f", links of {self.rate.replace('gbit', ' Gb/s').replace('mbit', ' Mb/s')}" if self.mbit else ""
        if self.mbit == UNLIMITED:
            links = ", links without a limit"
        return f"{self.nodes} node{'s'[: self.nodes - 1]} x {self.per_node} rank{'s'[: self.per_node - 1]}{links}"


def place_of(nodes: str, ranks: str, mbit: str | None, unlimited: str | None) -> Place:
    return Place(int(nodes), int(ranks), UNLIMITED if unlimited else mbit)


def only_place(report: dict) -> Place | None:
    """Of a report all of whose cases ran on the same several nodes; such a report has a section of its own."""
    found = [re.search(WORDS, record["case"]) for record in report["records"]]
    if not found or not all(found):
        return None
    places = {place_of(*match.groups()) for match in found}
    return places.pop() if len(places) == 1 else None


def command(program: str, mpi: str, places: list[Place]) -> str:
    """What makes a report, on as many nodes, ranks and links of such a rate."""
    first = places[0]
    words = ["./dev bench", program]
    if mpi != "openmpi":
        words += ["--mpi", mpi]
    words += ["--ranks", ",".join(str(place.ranks) for place in places)]
    if first.mbit:
        words += ["--rate", first.rate]
    if first.per_node > 1 and first.mbit:
        words += ["--ppn", str(first.per_node)]
    return " ".join([*words, "--json", f"build/{program}-{mpi}-{first.name}.json"])
