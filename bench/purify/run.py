"""Density matrices by every method and by what `auto` takes, in turns: whether it takes the best.

./dev bench purify prints a line for each case: sizes, gaps of the half-filled spectrum [-1, 1], numbers of ranks, and rates of the
links of four emulated nodes with a rank each. Times are those of finding D and checking it, without files, the least of some runs;
`auto / best`, where runs of `auto` count as more of the method that it took, is of the choice alone, and to be at most 1.2.

With --json FILE cases that the file has are not measured again, so that --minutes M, again and again, ends with all of them:
  ./dev bench purify --rates 1gbit,10gbit --minutes 20 --json grid.json

--numpy puts NumPy's eigh and product, with a thread for each core, beside `auto`: both from reading H to writing D, inside of the
processes. plait checks D, NumPy does not; what that takes stands in a column.
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


def seconds_of_plait(launcher: list[str], program: Path, path: str, n: int, method: str, output: str = "") -> dict:
    words = [*launcher, program, "purify", path, "--electrons", str(n // 2 * 2), "--method", method, "--json", "--quiet"]
    found = subprocess.run([*words, *(["-o", output] if output else [])], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if found.returncode != 0:
        sys.exit(f"{shlex.join(map(str, words))} ended with {found.returncode}:\n{found.stderr}")
    report = json.loads(found.stdout[found.stdout.index("{") :])
    parts = ("prepare_seconds", "iterate_seconds", "check_seconds")
    return {
        "seconds": report["seconds"] if output else sum(report[part] for part in parts),
        "check": report["check_seconds"],
        "method": report["method"],
    }


NUMPY = """
import sys, time, numpy as np
begin = time.perf_counter()
h = np.load(sys.argv[1])
vectors = np.linalg.eigh(h)[1][:, : len(h) // 2]
np.save(sys.argv[2], np.dot(vectors, vectors.T))
print(time.perf_counter() - begin)
"""


def seconds_of_numpy(path: str, output: str) -> dict:
    found = subprocess.run([sys.executable, "-c", NUMPY, path, output], capture_output=True, text=True, check=True)
    return {"seconds": float(found.stdout)}


def numbers(kind: type):
    return lambda text: [kind(part) for part in text.split(",") if part]


def measured(options: argparse.Namespace, case: dict, path: str) -> dict:
    """The case with its times, the least of each method."""
    n = case["n"]
    if case["rate"]:
        launcher = [options.cluster, "-k", "4", "--ppn", "1", "-r", case["rate"], "--"]
    else:
        share = len(os.sched_getaffinity(0)) // case["ranks"]
        words = options.launcher.replace("SHARE", str(share)).replace("RANKS", str(case["ranks"]))
        launcher = shlex.split(words) if share > 0 else [options.crowded, str(case["ranks"])]
    output = f"{path}.D.npy" if options.numpy else ""
    runs = {method: [] for method in (("auto", "numpy") if options.numpy else METHODS)}
    for _ in range(options.repetitions):
        for method, so_far in runs.items():
            numpy = method == "numpy"
            so_far.append(seconds_of_numpy(path, output) if numpy else seconds_of_plait(launcher, options.plait, path, n, method, output))
    taken = runs["auto"][0]["method"]
    seconds = {method: [run["seconds"] for run in found] for method, found in runs.items()}
    least = {method: min(found) for method, found in seconds.items()}
    # What `auto` took is itself one of the methods: its runs are as many more of that one.
    best = min(found for method, found in least.items() if method != "auto")
    ratio = min(least["auto"], least.get(taken, least["auto"])) / best
    return {**case, "seconds": seconds, "check": min(run["check"] for run in runs["auto"]), "taken": taken, "ratio": ratio}


def line(record: dict, others: tuple[str, ...]) -> str:
    where = f"4 nodes, {record['rate']}" if record["rate"] else record["ranks"]
    cells = [f"{min(record['seconds'][method]):.3g}" for method in others]
    return f"| {record['n']} | {record['gap']:g} | {where} | {' | '.join(cells)} | {record['check']:.2g} | {record['taken']} | {record['ratio']:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench purify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plait", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--launcher", required=True, help=argparse.SUPPRESS)  # of RANKS ranks with SHARE cores each
    parser.add_argument("--crowded", required=True, help=argparse.SUPPRESS)  # where there are more ranks than cores
    parser.add_argument("--cluster", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=numbers(int), default=[500, 1000, 2000, 4000], metavar="N,N")
    parser.add_argument("--gaps", type=numbers(float), default=[1e-1, 1e-3, 1e-6], metavar="GAP,GAP")
    parser.add_argument("--ranks", type=numbers(int), default=[1, 2, 4], metavar="N,N", help="here; '' for none")
    parser.add_argument("--rates", type=numbers(str), default=[], metavar="RATE,RATE", help="of four emulated nodes' links, such as 1gbit")
    parser.add_argument("--numpy", action="store_true", help="NumPy instead of the other methods")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="no case begins after so many")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    others = ("auto", "numpy") if options.numpy else METHODS
    places = [{"ranks": ranks, "rate": None} for ranks in options.ranks] + [{"ranks": 4, "rate": rate} for rate in options.rates]
    cases = [{"n": n, "gap": gap, **place} for n in options.sizes for gap in options.gaps for place in places]
    records = json.loads(options.json.read_text())["records"] if options.json and options.json.exists() else []
    print(f"Seconds, the least of {options.repetitions}; {options.commit}\n")
    print(f"| n | gap | ranks | {' | '.join(others)} | of it check | taken | auto / best |\n{'|--' * (6 + len(others))}|")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "H.npy")
        made = None
        for case in cases:
            record = next((known for known in records if case.items() <= known.items() and known["seconds"].keys() == set(others)), None)
            if record is None:
                if time.monotonic() - begin > 60 * options.minutes:
                    continue
                if made != (case["n"], case["gap"]):
                    made = case["n"], case["gap"]
                    np.save(path, hamiltonian(*made))
                record = measured(options, case, path)
                records.append(record)
                if options.json:
                    options.json.write_text(json.dumps({"program": "purify", "commit": options.commit, "records": records}))
            case["ratio"] = record["ratio"]
            print(line(record, others), flush=True)
    ratios = [case["ratio"] for case in cases if "ratio" in case]
    worst = f", at worst {max(ratios):.2f} of the best; {sum(ratio > 1.2 for ratio in ratios)} above 1.2" if ratios else ""
    print(f"\n{len(ratios)} of {len(cases)} cases{worst}")


if __name__ == "__main__":
    os.environ.pop("OMP_NUM_THREADS", None)
    main()
