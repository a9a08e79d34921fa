"""Density matrices by every method and by what `auto` takes, in turns: whether it takes the best.

./dev bench purify prints a line for each case: sizes, gaps of the half-filled spectrum [-1, 1], numbers of ranks, and, with
--rate, one rank on each of four emulated nodes. Times are those of finding D and checking it, without files, the least of some
runs; `auto / best`, where runs of `auto` count as more of the method that it took, is of the choice alone, and to be at most 1.2. --numpy puts NumPy's eigh and product, with a thread for each core, beside `auto`.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

METHODS = ("auto", "eigen", "canonical", "tc2")


def hamiltonian(n: int, gap: float) -> np.ndarray:
    """With these eigenvalues, and eigenvectors by three reflections: full."""
    random = np.random.default_rng(1)
    h = np.diag(np.concatenate([np.linspace(-1, -gap / 2, n // 2), np.linspace(gap / 2, 1, n - n // 2)]))
    for _ in range(3):
        v = random.normal(size=n)
        v /= np.linalg.norm(v)
        h -= 2 * np.outer(v, v @ h)
        h -= 2 * np.outer(h @ v, v)
    return (h + h.T) / 2


def seconds_of_plait(launcher: list[str], program: Path, path: str, n: int, method: str) -> tuple[float, str]:
    words = [*launcher, program, "purify", path, "--electrons", str(n // 2 * 2), "--method", method, "--json"]
    found = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if found.returncode != 0:
        sys.exit(f"{shlex.join(map(str, words))} ended with {found.returncode}:\n{found.stderr}")
    report = json.loads(found.stdout[found.stdout.index("{") :])
    return sum(report[part] for part in ("prepare_seconds", "iterate_seconds", "check_seconds")), report["method"]


def seconds_of_numpy(path: str) -> float:
    h = np.load(path)
    begin = time.perf_counter()
    vectors = np.linalg.eigh(h)[1][:, : len(h) // 2]
    np.dot(vectors, vectors.T)
    return time.perf_counter() - begin


def numbers(kind: type):
    return lambda text: [kind(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench purify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plait", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--launcher", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cluster", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=numbers(int), default=[500, 1000, 2000, 4000], metavar="N,N")
    parser.add_argument("--gaps", type=numbers(float), default=[1e-1, 1e-3, 1e-6], metavar="GAP,GAP")
    parser.add_argument("--ranks", type=numbers(int), default=[1, 2, 4], metavar="N,N")
    parser.add_argument("--rate", help="of the links of four emulated nodes, such as 1gbit, instead of ranks here")
    parser.add_argument("--numpy", action="store_true", help="NumPy instead of the other methods")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    others = ("auto", "numpy") if options.numpy else METHODS
    print(f"Seconds, the least of {options.repetitions}; {options.commit}\n\n| n | gap | ranks | {' | '.join(others)} | taken | auto / best |")
    print("|--" * (5 + len(others)) + "|")
    records = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "H.npy")
        for n in options.sizes:
            for gap in options.gaps:
                np.save(path, hamiltonian(n, gap))
                for ranks in [4] if options.rate else options.ranks:
                    launcher = [*shlex.split(options.launcher), str(ranks)]
                    if options.rate:
                        launcher = [options.cluster, "-k", "4", "--ppn", "1", "-r", options.rate, "--"]
                    times = {method: [] for method in others}
                    for _ in range(options.repetitions):
                        for method, so_far in times.items():
                            if method == "numpy":
                                so_far.append(seconds_of_numpy(path))
                                continue
                            seconds, name = seconds_of_plait(launcher, options.plait, path, n, method)
                            so_far.append(seconds)
                            taken = name if method == "auto" else taken
                    least = {method: min(so_far) for method, so_far in times.items()}
                    # What `auto` took is itself one of the methods: its runs are as many more of that one.
                    best = min(seconds for method, seconds in least.items() if method != "auto")
                    own = min(least["auto"], least.get(taken, least["auto"]))
                    cells = [f"{least[method]:.3g}" for method in others]
                    where = f"4 nodes, {options.rate}" if options.rate else ranks
                    print(f"| {n} | {gap:g} | {where} | {' | '.join(cells)} | {taken} | {own / best:.2f} |", flush=True)
                    records.append({"n": n, "gap": gap, "ranks": ranks, "rate": options.rate, "seconds": times, "taken": taken, "ratio": own / best})
    worst = max(record["ratio"] for record in records)
    print(f"\n{len(records)} cases, at worst {worst:.2f} of the best; {sum(r['ratio'] > 1.2 for r in records)} above 1.2")
    if options.json:
        options.json.write_text(json.dumps({"program": "purify", "commit": options.commit, "records": records}))


if __name__ == "__main__":
    os.environ.pop("OMP_NUM_THREADS", None)
    main()
