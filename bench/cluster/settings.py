"""What a cluster is asked to be, and how that is written on a command line."""

import re
from dataclasses import dataclass

MOST_NODES = 200  # their addresses share 10.77.0.0/24 with the head's
MOST_RANKS_PER_NODE = 128
SLOWEST, FASTEST = 10**6, 10**11  # bits per second
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True)
class Settings:
    nodes: int
    ranks_per_node: int
    rate: int  # bits per second, of every link and in each direction
    family: str  # "Open MPI" or "MPICH"
    mpiexec: str
    preload: str  # libraries that the ranks preload, separated by colons
    command: list[str]


def count_up_to(most: int):
    """A parser of whole numbers from 1 to `most`."""

    def count(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise ValueError(f"'{text}' is not a whole number from 1 to {most}")
        return int(text)

    return count


def bits_per_second(text: str) -> int:
    """A rate as `tc` takes it: 1gbit, 2.5gbit, 100mbit."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)([kmg]?)bit", text, re.ASCII | re.IGNORECASE)
    rate = round(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if not SLOWEST <= rate <= FASTEST:
        raise ValueError(f"'{text}' is not a rate from 1mbit to 100gbit, such as 1gbit or 2.5gbit")
    return rate
