"""What the counts of `./dev bench instructions` become on the page of benchmarks."""

PROGRAM = "instructions"
INTRODUCTION = """What one call costs that reduces an array of so many bytes into another one, in instructions, as Valgrind's
callgrind counts them: exactly, and the same on any machine with these programs. It knows no AVX-512, so that all use AVX2
at most: plait's kernels (kernel), MPI_Reduce_local as plait serves it (preload), and the MPI library's own, Open MPI's with
its vectorised component op/avx and without it."""


def row(record: dict, least: int) -> str:
    more = record["instructions"] / least
    numbers = [str(record[key]) for key in ("instructions", "loads", "stores", "branches")]
    return f"| `{record['case']}` | {record['by']} | {' | '.join(numbers)} | {more:.1f} |"


def section(report: dict) -> str:
    kernels = {record["case"]: record["instructions"] for record in report["records"] if record["by"] == "kernel"}
    lines = [
        f"## instructions, {report['mpi']}",
        "",
        INTRODUCTION,
        "",
        f"{report['isa']} kernels; {report['mpi']}; plait at `{report['commit']}`.",
        "",
        "| call | by | instructions | loads | stores | branches | instructions ÷ kernel's |",
        "|---|---|--:|--:|--:|--:|--:|",
        *[row(record, kernels[record["case"]]) for record in report["records"]],
    ]
    return "\n".join(lines) + "\n"
