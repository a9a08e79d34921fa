"""The benchmarks that are scripts, on programs that only look like what they measure."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parent.parent / "bench"

LAUNCHER = """#!/bin/sh
echo "$@" >> "$CALLS"
echo "Loop time of 2.0 on 2 procs"
echo "[0.5, 0.25, 1.0]"
"""
VALGRIND = """#!/bin/sh
echo "$@" >> "$CALLS"
call='kernel sum MPI_DOUBLE 1024'
for word; do
  case $word in
    --callgrind-out-file=*) profile=${word#*=} ;;
    rescaling_calls) call='scaling iteration 67' ;;
  esac
done
printf 'events: Ir Dr Dw Bc Bi D1mr D1mw DLmr DLmw\\ntotals: 10 4 2 1 0 3 2 1 0\\n' > "$profile.1"
printf "Some MPI\\navx2\\n$call\\n"
"""

SINKHORN = f"#!{sys.executable}" + """
import json, os, sys
import numpy as np
open(os.environ["CALLS"], "a").write(" ".join(sys.argv))
option = lambda name: sys.argv[sys.argv.index(name) + 1]
x, y = (np.load(sys.argv[sys.argv.index("--points") + k]) for k in (1, 2))
kernel = np.exp(-((x[:, None] - y) ** 2).sum(2) / float(option("--epsilon")))
v, error, iterations = np.ones(len(y)), 1, 0
while error > float(option("--tolerance")):
    u = 1 / len(x) / (kernel @ v)
    error = abs(u @ kernel * v - 1 / len(y)).sum()
    v = 1 / len(y) / (u @ kernel)
    iterations += 1
np.save(option("--column-potentials"), float(option("--epsilon")) * np.log(v))
print(json.dumps({"iterate_seconds": 0.25, "iterations": iterations}))
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in ("launcher", LAUNCHER), ("valgrind", VALGRIND):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def report(self, script: str, *arguments) -> tuple[dict, list[str]]:
        """What it wrote, and with which words it called the programs."""
        calls, written = self.folder / "calls", self.folder / "report.json"
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "CALLS": str(calls)}
        subprocess.run(
            [sys.executable, BENCH / script, *arguments, "--json", written],
            env=os.environ | environment, check=True, capture_output=True,
        )  # fmt: skip
        return json.loads(written.read_text()), calls.read_text().splitlines()

    def test_applications_are_launched_once_where_it_is_to_be_quick(self):
        launcher = self.folder / "launcher"
        words = ["--plait", launcher, "--launcher", launcher, "--mpi", "Some MPI"]
        for more, launches in (["--quick"], 1), (["--launches", "2"], 2):
            report, calls = self.report("applications/run.py", *words, *more)
            (self.folder / "calls").unlink()
            self.assertEqual(report["quick"], "--quick" in more)
            self.assertEqual(len(calls), 2 * 2 * launches)
            self.assertEqual([record["seconds"] for record in report["records"]], [0.5, 2.0])

    def test_instructions_are_counted_of_fewer_calls_where_it_is_to_be_quick(self):
        report, calls = self.report("reduce/instructions.py", "--program", "reduce_calls", "--quick")
        self.assertTrue(report["quick"])
        self.assertTrue(calls[0].endswith("reduce_calls --quick"), calls)
        self.assertEqual(report["records"][0]["instructions"], 10)

    def test_misses_of_both_caches_are_counted_of_reads_and_writes(self):
        report, calls = self.report("sinkhorn/cache_misses.py", "--program", "rescaling_calls", "--quick")
        self.assertTrue(calls[0].endswith("rescaling_calls --quick"), calls)
        counts = {"references": 6, "first_level_misses": 5, "second_level_misses": 1}
        self.assertEqual(report["records"], [{"by": "scaling", "part": "iteration", "extent": 67, **counts}])

    def test_transports_count_when_their_gap_is_small(self):
        plait = self.folder / "plait"
        plait.write_text(SINKHORN)
        plait.chmod(0o755)
        report, _ = self.report("sinkhorn/transport.py", "--plait", plait, "--peers", "", "--quick")
        self.assertEqual([(case["n"], case["epsilon"]) for case in report["records"]], [(100, 0.1)])
        self.assertEqual(report["records"][0]["seconds"]["plait"][1], 0.25)
        self.assertGreater(report["records"][0]["iterations"], 3)  # of the error 1e-2, whose gap is too large

    def test_a_gap_is_that_of_a_plan_with_the_masses(self):
        sys.path.insert(0, str(BENCH / "sinkhorn"))
        import transport

        random = np.random.default_rng(1)
        x, y, epsilon = random.random((7, 2)), random.random((7, 2)), 0.2
        costs = np.array([[(a - b) @ (a - b) for b in y] for a in x])
        g = np.zeros(7)
        gaps = []
        for _ in range(200):
            gaps.append(transport.gap_of(x, y, g, epsilon))
            f = -epsilon * np.log((7 * np.exp((g - costs) / epsilon)).sum(1))
            plan = np.exp((f[:, None] + g - costs) / epsilon)
            best = (f.sum() + g.sum()) / 7 - epsilon
            g = g - epsilon * np.log(7 * plan.sum(0))
        value = (costs * plan).sum() + epsilon * (plan * (np.log(plan) - 1)).sum()
        self.assertAlmostEqual(value, best, 12)
        self.assertLess(abs(gaps[-1]), 1e-12)
        f = -epsilon * np.log(7 * np.exp(-costs / epsilon).sum(1))
        self.assertGreaterEqual(gaps[0], value - (f.sum() / 7 - epsilon))  # the dual value alone is so far away
        self.assertLess(gaps[0], 0.1)


if __name__ == "__main__":
    unittest.main()
