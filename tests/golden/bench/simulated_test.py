"""Schedules on SimGrid's simulated network, where the preset `simgrid` was built: run.py gives its program as mpiexec."""

import re
from pathlib import Path

from harness import CommandTest


class Simulated(CommandTest):
    def setUp(self):
        super().setUp()
        if not Path(self.mpiexec).exists():
            self.skipTest("the preset simgrid, which wants libsimgrid-dev, is not built")

    def simulated(self, *words):
        result = self.run_words([self.mpiexec, "--ranks", "9", "--bytes", "100000", "--check", *words])
        self.assertEqual(result.status, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, "^simulated: .* 9 ranks, 100000 bytes, .*, checked\n(chosen: .*\n)?$")
        return float(re.search(r"([0-9.]+) bytes/bandwidth", result.stdout)[1])

    def test_data_arrive_and_take_at_least_the_time_of_the_bound(self):
        for topology in ["switch", "fat-tree"]:
            with self.subTest(topology=topology):
                words = ["--operation", "broadcast", "--algorithm", "chain", "--segment", "3K", "--topology", topology]
                self.assertGreaterEqual(self.simulated(*words), 1)

    def test_each_operation_by_the_chosen_algorithm_and_by_the_library(self):
        bounds = {"reduce": 1, "broadcast": 1, "allreduce": 16 / 9, "reduce-broadcast": 16 / 9}
        for operation, bound in bounds.items():
            for algorithm in ["chosen", "library"]:
                with self.subTest(operation=operation, algorithm=algorithm):
                    self.assertGreaterEqual(
                        self.simulated("--operation", operation, "--algorithm", algorithm), round(bound, 3)
                    )

    def test_squares_and_cubes_and_scaling_are_simulated_too(self):
        for words, told in [
            (["square-cube", "--ranks", "8", "--n", "500"], r"simulated: own plait\*\d+, 8 ranks, n = 500: [0-9.]+ ms, "),
            (["square-cube", "--ranks", "8", "--n", "500", "--algorithm", "algorithm-6"], "simulated: algorithm-6 "),
            (["scaling", "--ranks", "3", "--n", "2000"], "simulated: scaling fused chosen wait, 3 ranks, n = 2000: "),
            (["scaling", "--ranks", "3", "--n", "2000", "--form", "blocked", "--way", "coffee"], "simulated: scaling blocked"),
        ]:
            with self.subTest(words=words):
                result = self.run_words([self.mpiexec, *words])
                self.assertEqual(result.status, 0, result.stdout + result.stderr)
                self.assertRegex(result.stdout, f"^{told}")
