"""How long the first redistributions of a program take by ScaLAPACK, and with plait's library preloaded, in turn.

./dev bench first-calls prints a table for docs/performance.md. Each run is a program of its own, as what is measured is what
a program has to wait for before it has called anything.
"""

import argparse
import shlex
import statistics
import subprocess

CASES = {
    "copy": "first copy, n = 500",
    "panels": "31 panels of 64 columns, each once",
    "grids": "copy of n = 64 on two new grids",
}


def seconds(launcher: str, ranks: int, program: str, case: str, preloaded: str) -> float:
    # As a user starts it: ranks share the cores as the library sees to it.
    settings = ["env", "-u", "OMP_NUM_THREADS", f"LD_PRELOAD={preloaded}"]
    words = [*shlex.split(launcher), str(ranks), *settings, program, case]
    found = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if found.returncode != 0:
        raise SystemExit(f"{shlex.join(words)}: exit status {found.returncode}\n{found.stderr}")
    return float(found.stdout)


def cell(times: list[float]) -> str:
    return f"{1e3 * statistics.median(times):.3g} ({1e3 * min(times):.3g}-{1e3 * max(times):.3g})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True, help="libplait_scalapack.so")
    parser.add_argument("--launcher", required=True, help="what starts as many ranks as the next word says")
    parser.add_argument("--commit", required=True)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    print(f"Milliseconds on the slowest rank, the median of {options.repetitions} programs (least to most); {options.commit}\n")
    print("| | ranks | ScaLAPACK | plait | plait / ScaLAPACK |\n|---|---|---|---|---|")
    for case, text in CASES.items():
        for ranks in map(int, options.ranks.split(",")):
            times: dict[str, list[float]] = {"": [], options.library: []}
            for _ in range(options.repetitions):
                for preloaded, of_it in times.items():
                    of_it.append(seconds(options.launcher, ranks, options.program, case, preloaded))
            theirs, own = times[""], times[options.library]
            ratio = statistics.median(own) / statistics.median(theirs)
            print(f"| {text} | {ranks} | {cell(theirs)} | {cell(own)} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
