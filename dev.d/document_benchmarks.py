"""document_benchmarks.py --programs FOLDER FILE...: writes docs/performance.md from the JSON files of benchmarks.

Each file becomes a section with a table, and a picture beside it which the benchmark itself draws; it replaces the one
that the same command made before, and the sections of other commands stay as they are. What is written by hand is the
text before the sections, below.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import benchmark_applications
import benchmark_cache_misses
import benchmark_instructions
import benchmark_maps
import benchmark_overlap
import benchmark_place

DOCS = Path("docs")

HOW_TO_READ = """# Performance

<!-- Written by ./dev bench --document: change dev.d/document_benchmarks.py instead. -->

## How to read this

Each case compares plait with a *limit*, the least work that the hardware has to do for such a job, and with a *peer*,
another program that does the same job.

- **Times** are wall-clock medians, from a barrier of all ranks until the slowest one is done. plait, the limit and the
  peer take turns within one run, so that whatever else the machine does meets all of them; all operands are rewritten
  before every call. Plans are made once, before; what that took is `setup`.
- **Of the limit** is the limit's time divided by plait's, and **speedup** the peer's time divided by plait's: the
  median of the ratios of all rounds, with an interval that holds it with 95 % (from order statistics, so it assumes no
  distribution; below six rounds it is the whole range). There are 10 rounds at least, 6 of the longest
  cases, and up to 100 of short ones. What takes less than some microseconds is done many times in a row, and the time is
  that of one.
- The limit **memcpy** is the time in which every rank, all at once, copies its local array of the source once, in the
  memory that plait works on: by `memcpy` of the C library or by streaming stores, whichever has the smaller median.
- The limit **exchange** is the time in which every rank, on a node of its own, sends as many bytes to the next one as
  the busiest rank of the case has to send or receive, while it receives as many: one message of MPI. The limit **link** is
  that volume divided by the rate of the emulated cluster's links ([cluster.md](cluster.md)). As always, the
  smaller one counts.
- The limit **ping-pong** is the time in which as many bytes as have to pass one link of the cluster go to another node,
  half of them, and back, one message each.
- The limit **target** is no measurement, but the time that planning was promised to take at most.
- The limit **axpby** stands for it where beta is not 0: every rank adds beta times the old values to a copy of its
  local array of the source, one more stream to read. It is a plain loop.
- The limit **two loads and a store** is a loop in the longest vectors that the processor has, which does of a reduction
  only what cannot be left out: it loads both operands and stores as much. Where no single instruction computes an element,
  the limit is the time of the kernel's **instructions** if that is longer: a loop of independent vector additions, run
  until it has executed as many as the kernel. Those of both are counted by stopping them after each one. A kernel may
  be a little faster than that loop, whose mixture is another one. Of sums and products of float16 the limit is the time of
  the **conversions** to float and back, which take the processor several times as long as other instructions.
- **of memcpy** is the time in which `memcpy` writes as many bytes of one operand over the other, divided by plait's. It is
  no limit: it loads one operand only.
- Reductions of up to 1 KB take turns on eight pairs of operands. On a single one, each would wait for the result of the
  one before, whose way from a store to a load takes longer than the whole call, and all kernels would look alike.
- A **mean** is the geometric mean of the cases that its name spans, round by round: gates that are promised for it hold for it.
- A **gate** must hold, an *aim* is where we want to get: each says what the medians should come to at least. Where
  the ranks of a node outnumber the cores there is no gate. A gate or aim over a peer that is not there counts as met.
- Before it is timed, each case is run once by plait and once by the peer, and every element of the result is checked.

## How to reproduce it

```sh
{commands}
```

The first lines of each section name the machine and the sources. A run wants the machine for itself: the load average
tells whether it had it. `./dev bench NAME --quick` only checks that a benchmark works. `--gate` turns a missed gate into
exit status 1; `--ranks 2`, `--filter REGEX` and `--repetitions N` choose less or more of it.

## The JSON files

`{{schema, program, description, commit, machine: {{cpu, cores, isa}}, mpi, quick, load_average, records}}`, and in each
record:

| key | |
|---|---|
| `case` | what was measured, such as `gemr2d f64 8000x8000 2x1>1x2 ranks=2`: operation, type, shape, process grids |
| `seconds`, `spread` | plait's median, and the 95 % interval `[low, high]` of it |
| `setup_seconds` | what plait did once, before all calls |
| `limit`, `limit_seconds` | which limit was the best, and its median |
| `fraction_of_limit`, `fraction_of_limit_spread` | limit ÷ plait, and its interval |
| `peer`, `peer_seconds` | the peer and its median; `null` if there was none |
| `speedup_over_peer`, `speedup_over_peer_spread` | peer ÷ plait, and its interval; `null` if there was none |
| `gate`, `aim` | `{{"fraction_of_limit": 0.3, "speedup_over_peer": 1.0, "met": true}}`, what is asked for of it, or `null` |
| `samples` | every time in seconds, by contender, in the order of the rounds |

## What holds it back

Where an aim is missed, this was seen with the steps of an execution timed one by one, on the machine of the tables below,
for 8000 x 8000 doubles on two ranks, of whose data one half stays where it is:

- **Two ranks, through slots.** Half of the data is copied twice: into a slot, and out of it. Where the two cores have
  caches of their own, packing 128 MB takes 6.3 ms, unpacking it 6.2 ms, and moving the 128 MB that stay 6.9 ms, while
  memcpy takes 12 ms for all 256 MB: every pass costs as much as memcpy does, which makes 12 / 18 = 0.67 the most that two
  copies allow, 0.58 with waiting for each other. Where the cores share a cache, memory is the bottleneck
  (20 ms for memcpy), the slots stay in that cache, and the two copies cost less: the table shows what comes of it. A
  virtual machine is moved from one to the other within seconds, and its tables show both.
- **Two ranks, in place.** Nothing is copied twice, and 2x1>1x2 comes to 0.83 to 0.96: the order in which columns are read
  is that of their new owner, half of a matrix each. From 2x1 to 2x1, and transposed from 2x1 to 1x2, the runs that one rank
  gets from the other are 32 or 64 elements: reading 512 bytes, then leaving out 512, costs the other half of what the
  processor fetches ahead. Such runs take 9 to 13 ms for 128 MB where long ones take 7 to 9. There the old owner writes.
- **Runs of two ranks that alternate** (2x1 to 2x1: 512 of every 1024 bytes stay). Memory is read at its speed without gaps
  only, so that each half alone takes as long as the whole. What lies between packed runs is therefore fetched with them,
  and moved while it is in the core's cache, 256 KB at a time: 35 to 38 ms for 8000 x 8000 where it was 47 to 51, and 34
  where it was 39 to 41 for a transposition from 2x1 to 1x2, the two programs run in turn. It still decides whether the cores
  share a cache: 0.55 to 0.66 of a copy where they do, which is then slower itself, and 0.35 to 0.49 elsewhere. To
  transpose when packing in place of when unpacking was tried, and is no faster. A loop that writes both from one pass over
  the source takes 28.
  Where both matrices are shared, each rank reads its own source once and writes into both targets: 34 to 38 ms where
  reading the sources of both took 39 to 44, and 28 to 32 where it took 34 to 36 for the transposition, the two programs run
  in turn. To fetch what lies between took 25 to 29 then where it was 27 to 35, again in turn; in transpositions it costs.
- **How slots are written** is chosen by the clock: where the cores share no cache, ordinary stores into slots that the
  other core has read take three to five times as long as streaming ones, and the machine moves its cores within seconds. So
  chunks are streamed but where two ordinary ones, tried every 256, take no longer than the reader saves: 0.15 ns a byte.
- **Memory that ranks share** is in huge pages, which Linux makes when it is asked to since 6.1, however /dev/shm is mounted.
  Before, the transpositions from and into it that the table has came to 0.57 to 0.76 and 0.69 to 0.80 of a copy, and come to
  0.73 to 0.79 and 0.72 to 0.93, the two programs run in turn; in time mostly 20 to 40 % less, as the copy is faster, too.
  512 MB are made and touched in 37 ms where it took 300, and in 2 by a rank that maps them later, where it took 160.
- **Plain messages** add the copy that MPI makes, and its system calls.
- **Reductions of private memory** between two ranks pass through memory that both share. Where the cores share no cache,
  an ordinary store into a line that the other core has read waits until that one gives it up: 64 KB take 36 µs instead
  of 3. Past the caches they take 3 µs everywhere, but are read from memory then; ranks choose as for slots, below 8 KB
  stores are ordinary. Where the cores share a cache, how much memory is used in turn decides: ordinary stores into a line
  that the other core's second-level cache still holds come to 8 GB/s, into one that has left it to 25. Pieces therefore go
  round 576 KB, twice, however short they are: 1 MB is reduced in 63 to 70 µs where it took 104 in rings of 192 KB, 16 KB in 1.8
  where it took 2.7; rings of twice the size are slower again.
- **N = 500** fits the caches: memcpy takes 20 µs there, and a microsecond of planning what is next, of flags and of calls
  counts, for every 32 x 128 elements.
- **Transposed from columns 8192 elements apart**, lines of one band compete for the same places of the caches and of
  memory. Bands are narrower there, which costs longer streams; eight lines of a column are fetched before those of the
  next one, and loaded whole: 0.67 to 0.76 of a copy where parts of line after line came to 0.58 to 0.71, the two kernels
  run in turn. To read blocks of 64 to 256 rows and write longer rows was tried: 0.5 to 0.6, even where nothing competes.
- **Transposed into columns that begin anywhere in a line** (leading dimension 8001), what ends and begins each piece of a
  row is written in part, so that its line is read before: 0.55 to 0.62 of a copy where whole lines come to 0.77 to 0.89.
- **beta other than 0** reads and writes the target through the caches, a transposition in tiles, at 0.26 to 0.39 of
  the speed of a copy. Tiles of other widths, fetching either side farther ahead and one call for all rows of a tile were
  no faster; streaming stores are slower, 0.25 where it is 0.39.
  Into columns that begin anywhere in a line, all lines of a tile are fetched, the last one too: 4000 x 4000 into columns
  4001 apart take 13 ms where they took 22 to 25, the two kernels run in turn.
- **alpha other than 1, and conjugates**, are computed before the transposition, for a line of all columns of a band at
  once: 4000 x 4000 doubles take 9.5 to 10.7 ms where a call for each row, after it, took 12 to 15; alpha = 1 takes 8 to 9.
- **Short runs that begin in the midst of a line** have one line more than they fill, which is fetched, too: transposing
  runs of 32 doubles out of columns 4008 apart takes 5.5 to 6.5 ms where it took 10 to 11, copying runs of 32 or 64 out
  of columns 4001 apart 5 to 27 % less.

Reductions of one array into another one, with their instructions counted and timed one kind at a time:

- **Up to 1 KB**, kernels are 1.0 to 1.25 times as fast as op/avx's where the length is a whole number of vectors, 1.5 times
  for 1 KB of products of bytes, and not the 1.5 times that are asked for of all. 64 bytes take 7 to 8 cycles, as they do
  with op/avx, and calling a function that returns at once takes 6 to 7. 1 KB takes some 30, as with op/avx and with the
  loop that only loads and stores: its 16 stores alone are 17, and code without any loop came to 22 on a single pair of
  operands, but to no less on several, and to more for lengths in between. Other lengths, which op/avx ends one element
  after the other, are 1.5 to 4.7 times as fast at 56 bytes and 1.0 to 1.7 times at 1000.
- **256 KB that are in the caches**: which operations miss their gate is another matter in each of six runs, 2 to 14 of 120,
  but for those of bfloat16, which come to 0.64 to 0.9; its MAX and MIN come to 0.8 with 16 KB, too. Fetching the operands
  into the first-level cache 1 KB ahead gains nothing, and 4 MB of bfloat16 mostly take 1.2 to 1.5 times as long.
- **Sums and products of float16** take the 4.3 cycles per 64 bytes that their six conversions take. Doing these by integers
  takes more.

Matrix scaling, with the two passes over a block of rows timed one by one in a loop of their own, on one core:

- **The first pass** reads eight rows at the same time, as their factors have to be known before the second one. It takes
  1.15 to 1.4 times as long as one stream through the same memory, with or without a vector that is read along: the
  processor's own fetching ahead follows eight streams less well than one, and begins anew with each row.
- **The second pass** takes 0.27 to 0.33 of a read, all of it from the second-level cache, in which nothing comes from memory
  by itself. Fetching the next rows meanwhile, beside both passes and into that cache, the whole takes 1.2 to 1.3 reads in
  place of 1.4 to 1.6; into the first-level cache it takes 1.7 to 2.0.
- **Rows of 4000 doubles** fill the second-level cache by blocks of eight. Blocks of 4 or 16, fetching at other distances, by
  other strides or twice, both passes in one, and rows taken in turns were tried in turn with it: none was clearly faster.
  From the second-level cache alone, either pass takes 0.7 ns a line of 64 bytes, where reading from memory takes 1.8 to 2.4:
  the two, and what is fetched and thrown out meanwhile, share that cache, and come to 2.3 to 2.8. To go through the rows
  backwards in every second iteration, or through the columns in the second pass, gains 2 % at most.
  The rows to be fetched are named one by one in these passes: where they stood in a loop, a sweep took 4 to 6 %
  longer while another thread kept the core busy, too, and as long otherwise.
- **Shares of 32 and 64 MB** (N = 2000 of doubles, and 4000 on two ranks) lie in the third-level cache, or half of them do. A
  streaming read takes 1.4 to 2.1 ns a line from there, and the two passes 2.2 to 3.0, which is what they take from memory:
  with reading hidden, it is the second-level cache that they wait for.
- **Exponentials**, one an entry, are most of the time in the logarithmic domain, which takes twice a read.
- **COFFEE's overlap** hides the exchange of the sums of columns. Those of 28800 columns, 230 KB, pass a link of 1 Gb/s in
  1.8 ms, and an iteration of Algorithm 3 on 1600 x 28800 a rank takes 80 to 95 ms here: there is not 1.2 to gain, but 1.02.
  At 100 Mb/s it gains 1.07.
"""


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
        "",
        *table,
    ]
    return "\n".join(lines) + "\n"


def sections_of(page: str) -> dict[str, str]:
    """What a page has of each of its commands, which stand in the order of the sections."""
    commands = [line for line in page.splitlines() if line.startswith("./dev bench ") and "--document" not in line]
    if not commands:
        return {}
    heading = re.compile(r"^## ", re.MULTILINE)
    begins = [match.start() for match in heading.finditer(page)][-len(commands) :]
    return {words: page[begin:end].rstrip() + "\n" for words, begin, end in zip(commands, begins, [*begins[1:], None])}


def document(reports: list[dict], before: str = "") -> str:
    """The page with these reports, and what the page `before` has of other commands."""
    sections = sections_of(before) | {command(report): section(report, plot_name(report)) for report in reports}
    order = sorted(sections, key=place)
    commands = [*order, "./dev bench --document build/*-*.json   # puts what was run onto this page"]
    return "\n".join([HOW_TO_READ.format(commands="\n".join(commands)), *[sections[words] for words in order]])


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
    page.write_text(document(reports, page.read_text() if page.exists() else ""))
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
