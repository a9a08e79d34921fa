"""The cluster's check of itself: MPI sees the nodes as nodes, and the links are as slow as they should be."""

import re
from pathlib import Path

from cluster_harness import ClusterTest


class Check(ClusterTest):
    def checker(self) -> str:
        return str(Path(self.plait).with_name("cluster_check"))

    def test_nodes_are_grouped_and_links_have_their_rate(self):
        # Slow enough that even a busy machine keeps up with it.
        result = self.run_words(self.cluster("-k", "2", "--ppn", "2", "-r", "400mbit", "--check"))
        self.assertEqual(result.status, 0, result.stdout + result.stderr)
        self.assertIn("2 with 2 ranks each: as asked for", result.stdout)
        shares = [int(share) for share in re.findall(r"(\d+) % of the rate: plausible", result.stdout)]
        self.assertEqual(len(shares), 2, result.stdout)
        print(result.stdout)

    def test_a_check_that_is_told_another_rate_fails(self):
        result = self.run_words(self.cluster("-k", "2", "-r", "1gbit", "--", self.checker(), "2", "1", "1e8"))
        self.assertEqual(result.status, 1, result.stdout + result.stderr)
        self.assertIn("implausible", result.stdout)

    def test_a_check_that_is_told_another_grouping_fails(self):
        result = self.run_words(self.cluster("-k", "2", "--ppn", "2", "--", self.checker(), "4", "1", "1e9"))
        self.assertEqual(result.status, 1, result.stdout + result.stderr)
        self.assertIn("not as asked for", result.stdout)
        self.assertNotIn("ping-pong", result.stdout)
