"""What the counts of `./dev bench cache-misses` become on the page of benchmarks."""

PROGRAM = "cache-misses"
INTRODUCTION = """The rescaling of the rows of an N x N matrix of doubles, that of its columns by each of COFFEE's algorithms, and whole
iterations, by plait's scaling vectors too (scaling), in accesses to memory and misses of caches, as Valgrind's callgrind
simulates them, without anything that fetches ahead. It knows no AVX-512, so that plait's kernels use AVX2 at most. A share
is that of all accesses, as in COFFEE's Figs. 1b and 11; as longer vectors need fewer accesses, misses are also
given per element of the matrix, where reading every line once makes 0.125."""


def cache(of: dict) -> str:
    return f"{of['bytes'] >> 10} KiB in {of['ways']} ways"


def row(record: dict) -> str:
    elements = record["extent"] ** 2
    cells = [f"`{record['by']} {record['part']} {record['extent']}`", f"{record['references'] / elements:.2f}"]
    for level in ("first_level_misses", "second_level_misses"):
        cells += [f"{record[level] / elements:.3f}", f"{100 * record[level] / record['references']:.1f} %"]
    return f"| {' | '.join(cells)} |"


def section(report: dict) -> str:
    lines = [
        f"## cache-misses, {report['mpi']}",
        "",
        INTRODUCTION,
        "",
        f"First level: {cache(report['first_level'])}; second level: {cache(report['second_level'])}; lines of 64 bytes;"
        f" {report['isa']} kernels; plait at `{report['commit']}`.",
        "",
        "| what | accesses an element | first level: misses an element | share | second level: misses an element | share |",
        "|---|--:|--:|--:|--:|--:|",
        *[row(record) for record in report["records"]],
    ]
    return "\n".join(lines) + "\n"
