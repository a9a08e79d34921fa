"""instructions.py --program PROGRAM [--quick] [--json FILE]: what reductions of one array into another one cost in instructions.

Valgrind's callgrind counts instructions, loads, stores and branches of plait's kernels, of MPI_Reduce_local as plait serves
it, and of the MPI library's own: exactly, and the same on any machine. It knows no AVX-512: all use AVX2 at most.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import callgrind  # noqa: E402

WITHOUT_OP_AVX = {"OMPI_MCA_op": "^avx"}


def counts(events: dict) -> dict:
    return {
        "instructions": events["Ir"],
        "loads": events["Dr"],
        "stores": events["Dw"],
        "branches": events["Bc"] + events["Bi"],
    }


def run(program: list, environment: dict) -> tuple[str, str, list[tuple[str, dict]]]:
    """The MPI library, the instruction set, and each call's line with its counts."""
    mpi, isa, calls = callgrind.run(program, ["--branch-sim=yes"], environment)
    return mpi, isa, [(call, counts(events)) for call, events in calls]


def records(calls: list[tuple[str, dict]], library: str, wanted: set[str]) -> list[dict]:
    named = [call.split(maxsplit=1) + [numbers] for call, numbers in calls]
    return [
        {"case": case, "by": library if by == "library" else by, **numbers} for by, case, numbers in named if by in wanted
    ]


def report(program: list) -> dict:
    mpi, isa, calls = run(program, {})
    everyone = {"kernel", "preload", "library"}
    if not mpi.startswith("Open MPI"):
        return {"mpi": mpi, "isa": isa, "records": records(calls, mpi, everyone)}
    _, _, plain = run(program, WITHOUT_OP_AVX)
    found = records(calls, f"{mpi}, op/avx", everyone) + records(plain, mpi, {"library"})
    order = list(dict.fromkeys(record["case"] for record in found))
    return {"mpi": mpi, "isa": isa, "records": sorted(found, key=lambda record: order.index(record["case"]))}


def show(found: list[dict]) -> None:
    print(f"{'case':<34} {'by':<24} {'instructions':>12} {'loads':>8} {'stores':>8} {'branches':>8}")
    for record in found:
        numbers = " ".join(f"{record[key]:>{width}}" for key, width in
                           (("instructions", 12), ("loads", 8), ("stores", 8), ("branches", 8)))  # fmt: skip
        print(f"{record['case']:<34} {record['by']:<24} {numbers}")


if __name__ == "__main__":
    callgrind.main("instructions", __doc__, "of 1 KB only", report, show)
