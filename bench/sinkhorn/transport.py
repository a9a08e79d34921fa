"""Seconds to a transport between points whose duality gap is 1e-6: plait against POT, in turns.

./dev bench transport prints a line for each number of points N and epsilon: N random points of a square against N whose density
grows towards a corner, masses 1/N, squared distances of at most 1. *Whole* is a process from its start to its end, which reads the
points and writes a potential: `plait transport --points`, and Python that imports POT. *Inside* is iterating alone: with costs made on
the way by plait, with the matrix of them in memory by POT. Every tool runs with the loosest of the tolerances 1e-2, 3e-3,
1e-3 ... that reaches the gap, and the least of some runs counts. The gap is certified here, from the potential alone: the dual
value, and the cost with entropy of the plan made of it, rounded to one with the very masses.

A peer that takes longer than --limit is not tried with more points. "no" is a peer that ends without a gap so small. A whole run takes
some eight minutes on two cores. With --json FILE cases that the file has are not measured again, so that
--minutes M, again and again, ends with all of them:
  ./dev bench transport --minutes 4 --json transport.json
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PEERS = ("sinkhorn", "sinkhorn_log", "sinkhorn_stabilized", "greenkhorn")
GAP = 1e-6
TOLERANCES = [10 ** (-2 - k / 2) for k in range(13)]


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return sum(np.subtract.outer(x[:, k], y[:, k]) ** 2 for k in range(x.shape[1]))


def gap_of(x: np.ndarray, y: np.ndarray, g: np.ndarray, epsilon: float) -> float:
    """Between the values of a plan with masses 1/N and of the potential g."""
    if g.shape != (len(y),) or not np.isfinite(g).all():
        return np.inf
    mass = 1 / len(x)
    parts = [x[i : i + 256] for i in range(0, len(x), 256)]

    def rows(part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        costs = squared_distances(part, y)
        plan = (g - costs) / epsilon
        highest = plan.max(1, keepdims=True)
        np.exp(plan - highest, out=plan)
        sums = plan.sum(1, keepdims=True)
        plan *= mass / sums
        return costs, plan, epsilon * (np.log(mass / sums) - highest)

    def first(part: np.ndarray) -> tuple[float, np.ndarray]:
        _, plan, f = rows(part)
        return f.sum() * mass, plan.sum(0)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(first, parts))
        dual = sum(value for value, _ in found) + g.sum() * mass - epsilon
        sums = sum(of_columns for _, of_columns in found)
        with np.errstate(divide="ignore"):
            share = np.minimum(1, mass / sums)
        missing = mass - sums * share

        def second(part: np.ndarray) -> float:
            costs, plan, _ = rows(part)
            plan *= share
            plan += (mass - plan.sum(1, keepdims=True)) * (missing / max(missing.sum(), 1e-300))
            logarithms = np.log(plan, out=np.zeros_like(plan), where=plan > 0)
            return float((costs * plan).sum() + epsilon * (plan * (logarithms - 1)).sum())

        return sum(pool.map(second, parts)) - dual


def run_peer(name: str, folder: Path, epsilon: float, tolerance: float) -> None:
    """What a child process does. Each stops by an error of its own: tolerances are of the sum of all columns' errors."""
    import ot

    x, y = np.load(folder / "X.npy"), np.load(folder / "Y.npy")
    n = len(x)
    masses = np.full(n, 1 / n)
    costs = ot.dist(x, y)
    begin = time.perf_counter()
    threshold = tolerance / (n if name == "greenkhorn" else n**0.5)
    method = getattr(ot.bregman, "sinkhorn_knopp" if name == "sinkhorn" else name)
    _, log = method(masses, masses, costs, epsilon, numItermax=10**9, stopThr=threshold, log=True)
    seconds = time.perf_counter() - begin
    g = log["beta"] if "beta" in log else epsilon * (log["log_v"] if "log_v" in log else np.log(log["v"]))
    np.save(folder / "g.npy", g)
    print(json.dumps({"seconds": seconds}))


class Tool:
    def __init__(self, name: str, words: list[str], limit: float):
        self.name, self.words, self.limit = name, words, limit
        self.rung = {}  # the tolerance with which an epsilon began to suffice
        self.gave_up = set()  # epsilons that took too long with fewer points

    def learn(self, record: dict) -> None:
        """What an earlier run of the benchmark found."""
        self.rung[record["epsilon"]] = record["rungs"][self.name]
        if isinstance(record["seconds"][self.name], str):
            self.gave_up.add(record["epsilon"])

    def run(self, folder: Path, epsilon: float) -> tuple[float, float, int | None] | None:
        """Whole and inside; None where it took too long."""
        tolerance = TOLERANCES[self.rung[epsilon]]
        (folder / "g.npy").unlink(missing_ok=True)
        words = [word.format(folder=folder, epsilon=epsilon, tolerance=tolerance) for word in self.words]
        begin = time.perf_counter()
        try:
            found = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return None
        whole = time.perf_counter() - begin
        if found.returncode != 0:
            sys.exit(f"{words} ended with {found.returncode}:\n{found.stdout}{found.stderr}")
        report = json.loads(found.stdout[found.stdout.index("{") :])
        return whole, report["iterate_seconds" if self.name == "plait" else "seconds"], report.get("iterations")

    def find(self, folder: Path, x: np.ndarray, y: np.ndarray, epsilon: float, guess: int):
        """Its run with the loosest tolerance that reaches the gap, or why there is none: "no", "> limit", "–" for not tried."""
        if epsilon in self.gave_up:
            self.rung.setdefault(epsilon, guess)
            return "–"
        may_loosen = epsilon not in self.rung
        self.rung.setdefault(epsilon, guess)
        best = None
        while (found := self.run(folder, epsilon)) is not None:
            if gap_of(x, y, np.load(folder / "g.npy").ravel(), epsilon) <= GAP:
                best = found
                if not may_loosen or self.rung[epsilon] == 0:
                    return best
                self.rung[epsilon] -= 1
            elif best is None and self.rung[epsilon] + 1 < len(TOLERANCES):
                may_loosen = False
                self.rung[epsilon] += 1
            else:
                break
        if best is not None:
            self.rung[epsilon] += 1
            return best
        self.gave_up.add(epsilon)
        return f"> {self.limit:g}" if found is None else "no"


def measured(tools: list[Tool], n: int, epsilon: float, repetitions: int) -> dict:
    """What all tools take, the least of some runs in turns."""
    random = np.random.default_rng(n)
    x, y = random.random((n, 2)) / 2**0.5, random.random((n, 2)) ** 2 / 2**0.5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", x)
        np.save(folder / "Y.npy", y)
        found = {}
        for tool in tools:  # plait first: peers hardly need looser tolerances
            found[tool.name] = tool.find(folder, x, y, epsilon, max(0, tools[0].rung.get(epsilon, 0) - 1))
        if not isinstance(found["plait"], tuple):
            sys.exit(f"plait: {found['plait']} seconds with {n} points and epsilon {epsilon:g}")
        runs = {tool: [found[tool.name]] for tool in tools if isinstance(found[tool.name], tuple)}
        for _ in range(1, repetitions):
            for tool, so_far in runs.items():
                if so_far[0][0] < 2 and (again := tool.run(folder, epsilon)) is not None:
                    so_far.append(again)
    best = {tool.name: [min(run[0] for run in so_far), min(run[1] for run in so_far)] for tool, so_far in runs.items()}
    return {"n": n, "epsilon": epsilon, "iterations": found["plait"][2], "seconds": found | best, "rungs": {tool.name: tool.rung[epsilon] for tool in tools}}


def ratios_of(record: dict) -> list[float] | None:
    """The best peer's seconds by plait's, whole and inside; None where no peer came to the end."""
    peers = [seconds for name, seconds in record["seconds"].items() if name != "plait" and not isinstance(seconds, str)]
    return [min(seconds[part] for seconds in peers) / record["seconds"]["plait"][part] for part in range(2)] if peers else None


def line(record: dict) -> str:
    seconds = record["seconds"]
    bounds = [float(cell[2:]) for cell in seconds.values() if isinstance(cell, str) and cell.startswith(">")]
    if ratios := ratios_of(record):
        shown = f"**{ratios[0]:.1f}** ({ratios[1]:.1f})"
    else:
        shown = f"> {bounds[0] / seconds['plait'][0]:.1f}" if bounds else "–"
    cells = [cell if isinstance(cell, str) else f"{cell[0]:.2f} ({cell[1]:.3g})" for cell in seconds.values()]
    return f"| {record['n']} | {record['epsilon']:g} | {record['iterations']} | {' | '.join(cells)} | {shown} |"


def numbers(kind: type):
    return lambda text: [kind(part) for part in text.split(",")]


def main() -> None:
    if sys.argv[1:2] == ["--peer"]:
        return run_peer(sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
    parser = argparse.ArgumentParser(prog="./dev bench transport", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plait", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=numbers(int), default=[500, 2000, 8000, 16000], metavar="N,N")
    parser.add_argument("--epsilons", type=numbers(float), default=[1e-1, 1e-2, 1e-3, 1e-4], metavar="E,E")
    parser.add_argument("--peers", type=lambda text: [name for name in PEERS if name in text.split(",")], default=PEERS, metavar="NAME,NAME")
    parser.add_argument("--limit", type=float, default=8, metavar="SECONDS", help="the most that a peer's process may take")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="no case begins after so many")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="of all but long runs")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="few points, large epsilons")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.epsilons, options.repetitions = [100], [1e-1], 1
    points = ["transport", "--points", "{folder}/X.npy", "{folder}/Y.npy", "--epsilon", "{epsilon}", "--tolerance", "{tolerance}"]
    tools = [Tool("plait", [str(options.plait), *points, "--max-iterations", "1000000", "--column-potentials", "{folder}/g.npy", "--json"], 600)]
    has_pot = bool(options.peers) and subprocess.run([sys.executable, "-c", "import ot"], capture_output=True).returncode == 0
    for name in options.peers if has_pot else ():
        tools.append(Tool(name, [sys.executable, __file__, "--peer", name, "{folder}", "{epsilon}", "{tolerance}"], options.limit))
    names = {tool.name for tool in tools}
    print(f"Seconds of whole processes (inside) to a gap of {GAP:g}, the least of up to {options.repetitions} runs in turns; {options.commit}")
    if not has_pot:
        print("Peers: not measured; POT is Debian's python3-pot")
    print(f"\n| N | epsilon | iterations | {' | '.join(tool.name for tool in tools)} | best peer ÷ plait, whole (inside) |")
    print("|--" * (4 + len(tools)) + "|")
    records = json.loads(options.json.read_text())["records"] if options.json and options.json.exists() else []
    known = {(record["n"], record["epsilon"]): record for record in records if record["seconds"].keys() == names}
    shown = []
    begin = time.monotonic()
    for n, epsilon in itertools.product(options.sizes, options.epsilons):
        record = known.get((n, epsilon))
        if record is not None:
            for tool in tools:
                tool.learn(record)
        elif time.monotonic() - begin > 60 * options.minutes:
            continue
        else:
            record = measured(tools, n, epsilon, options.repetitions)
            records.append(record)
            if options.json:
                options.json.write_text(json.dumps({"program": "transport", "commit": options.commit, "quick": options.quick, "records": records}))
        shown.append(record)
        print(line(record), flush=True)
    print(f"\n{len(shown)} of {len(options.sizes) * len(options.epsilons)} cases")
    compared = [(record["n"], ratios) for record in shown if (ratios := ratios_of(record))]
    for part, words in enumerate(("whole processes", "inside")) if has_pot else ():
        large = [ratios[part] for n, ratios in compared if n >= 2000]
        print(f"{words}: ahead in {sum(ratios[part] > 1 for _, ratios in compared)} of {len(compared)} cases with a peer;", end=" ")
        print(f"5 times as fast in {sum(ratio >= 5 for ratio in large)} of {len(large)} from 2,000 points on")


if __name__ == "__main__":
    os.environ.pop("OMP_NUM_THREADS", None)
    main()
