"""The cluster's check of itself: MPI sees the nodes as nodes, and the links are as slow as they should be."""

import json
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

    def test_the_machine_is_measured_within_and_between_nodes(self):
        words = ["-k", "2", "--ppn", "2", "-r", "200mbit", "--", self.plait, "machine", "--quick", "-o", "m.json"]
        result = self.run_words(self.cluster(*words))
        self.assertEqual(result.status, 0, result.stdout + result.stderr)
        machine = json.loads((self.folder / "m.json").read_text())
        self.assertEqual((machine["node"]["measured"], machine["network"]["measured"]), (True, True))
        self.assertEqual([streams["ranks"] for streams in machine["network"]["streams"]], [1, 2])
        for streams in machine["network"]["streams"]:
            for way in ("one_way", "both_ways"):
                bytes_in_message, rate = streams[way][-1]
                self.assertGreaterEqual(bytes_in_message, 60_000)
                # As much as a link carries, and what its token bucket lets pass at once; how much less, who knows.
                self.assertTrue(1e5 < rate < 1.5 * 25e6, streams)

    def test_a_check_that_is_told_another_rate_fails(self):
        result = self.run_words(self.cluster("-k", "2", "-r", "1gbit", "--", self.checker(), "2", "1", "1e8"))
        self.assertEqual(result.status, 1, result.stdout + result.stderr)
        self.assertIn("implausible", result.stdout)

    def test_a_check_that_is_told_another_grouping_fails(self):
        result = self.run_words(self.cluster("-k", "2", "--ppn", "2", "--", self.checker(), "4", "1", "1e9"))
        self.assertEqual(result.status, 1, result.stdout + result.stderr)
        self.assertIn("not as asked for", result.stdout)
        self.assertNotIn("ping-pong", result.stdout)
