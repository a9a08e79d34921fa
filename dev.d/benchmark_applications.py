"""What the times of `./dev bench applications` become on the page of benchmarks."""

PROGRAM = "applications"
INTRODUCTION = """Programs of Debian that know nothing of plait, started by `plait exec` and without it, in launches that take
turns: what data-parallel training of AlexNet does with MPI (mpi4py; 61 million float gradients, fused into a buffer of 64
MB; the time is that of a step's sums on the slowest rank, in the median step), and LAMMPS. Times are medians of launches,
the speedup is the median of the ratios of a launch without plait and the one with it before, with their range. LAMMPS's
reductions are of ten numbers at most: it shows that nothing is lost, and no more."""


def row(record: dict) -> str:
    low, high = record["speedup_range"]
    cells = [
        record["case"],
        f"{record['seconds']:.3f} s",
        f"{record['seconds_without']:.3f} s",
        f"**{record['speedup']:.2f}** [{low:.2f}, {high:.2f}]",
        str(len(record["samples"]["plait"])),
    ]
    return f"| {' | '.join(cells)} |"


def section(report: dict) -> str:
    lines = [
        f"## applications, {report['mpi']}",
        "",
        INTRODUCTION,
        "",
        f"Started by `{report['launcher']}`; plait at `{report['commit']}`.",
        "",
        "| application | with plait | without | without ÷ with plait | launches |",
        "|---|--:|--:|---|--:|",
        *[row(record) for record in report["records"]],
    ]
    return "\n".join(lines) + "\n"
