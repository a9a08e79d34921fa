"""cache_misses.py --program PROGRAM [--quick] [--json FILE]: what rescaling rows and columns costs in misses of the caches.

Valgrind's callgrind simulates the first and the second level of a core's caches, without anything that fetches ahead:
the same on any machine. It knows no AVX-512: all use AVX2 at most.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import callgrind  # noqa: E402

FIRST_LEVEL = {"bytes": 32 << 10, "ways": 8}
SECOND_LEVEL = {"bytes": 512 << 10, "ways": 8}
LINE_BYTES = 64


def option(name: str, cache: dict) -> str:
    return f"--{name}={cache['bytes']},{cache['ways']},{LINE_BYTES}"


def counts(events: dict) -> dict:
    return {
        "references": events["Dr"] + events["Dw"],
        "first_level_misses": events["D1mr"] + events["D1mw"],
        "second_level_misses": events["DLmr"] + events["DLmw"],
    }


def report(program: list) -> dict:
    options = [option("I1", FIRST_LEVEL), option("D1", FIRST_LEVEL), option("LL", SECOND_LEVEL)]
    mpi, isa, calls = callgrind.run(program, options)
    records = []
    for call, events in calls:
        by, part, extent = call.split()
        records.append({"by": by, "part": part, "extent": int(extent), **counts(events)})
    return {"mpi": mpi, "isa": isa, "first_level": FIRST_LEVEL, "second_level": SECOND_LEVEL, "records": records}


def show(records: list[dict]) -> None:
    print(f"{'by':<12} {'part':<10} {'extent':>6} {'references':>12} {'first level':>12} {'second level':>12}")
    for record in records:
        print(
            f"{record['by']:<12} {record['part']:<10} {record['extent']:>6} {record['references']:>12}"
            f" {record['first_level_misses']:>12} {record['second_level_misses']:>12}"
        )


if __name__ == "__main__":
    callgrind.main("cache-misses", __doc__, "of a small matrix only", report, show)
