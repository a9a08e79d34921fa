"""`plait redistribute` on 2 nodes of 2 ranks, by the network and through the nodes' shared memory, against NumPy."""

import json
from collections import defaultdict

import numpy as np
from cluster_harness import ClusterTest

SHAPE = (1237, 811)


class Redistribute(ClusterTest):
    def plait_on_nodes(self, *arguments: str) -> dict:
        words = self.cluster("-k", "2", "--ppn", "2", "-r", "1gbit", "--", self.plait, *arguments, "--json")
        result = self.run_words(words)
        self.assertEqual((result.status, result.errors), (0, []), result.stderr)
        return json.loads(result.stdout)

    def test_block_cyclic_layouts_and_transposition(self):
        report = self.plait_on_nodes("generate", f"{SHAPE[0]}x{SHAPE[1]}", "--dtype", "f64", "-o", "B.npy")
        self.assertEqual(report["ranks"], 4)
        b = self.load("B.npy")
        self.assertEqual(b.shape, SHAPE)

        # Blocks of both layouts are ragged, and the grids number their ranks in different orders.
        report = self.plait_on_nodes(
            "redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--alpha", "2",
            "--from", "block-cyclic:32x48@2x2,src=1,0", "--to", "block-cyclic:40x24@4x1,order=col", "--trace", "t.json",
        )  # fmt: skip
        self.assertEqual((report["ranks"], report["nodes"], report["check"]), (4, 2, "passed"))
        moved = report["redistribution"]
        for way in ("self", "node", "network"):
            self.assertGreater(moved[way]["bytes"], 0, way)
        self.assertEqual(sum(moved[way]["bytes"] for way in ("self", "node", "network")), b.nbytes)
        np.testing.assert_array_equal(self.load("A.npy"), 2 * b.T)
        self.expect_trace(moved)

    def test_relabeling_saves_what_goes_between_nodes(self):
        self.plait_on_nodes("generate", "60x40", "-o", "B.npy")
        report = self.plait_on_nodes(
            "redistribute", "B.npy", "-o", "A.npy", "--relabel",
            "--from", "block-cyclic:6x40@4x1", "--to", "block-cyclic:9x40@4x1",
        )  # fmt: skip
        np.testing.assert_array_equal(self.load("A.npy"), self.load("B.npy"))
        relabeled = report["relabeled"]
        self.assertLess(relabeled["network_bytes"], relabeled["network_bytes_before"])
        self.assertEqual(report["redistribution"]["network"]["bytes"], relabeled["network_bytes"])

    def expect_trace(self, moved: dict) -> None:
        """That t.json has all that was moved between nodes, in an order that the nodes' clocks agree on."""
        trace = json.loads((self.folder / "t.json").read_text())
        about, events = trace["otherData"], trace["traceEvents"]
        self.assertEqual((about["nodes"], about["link_bits_per_second"]), ([0, 0, 1, 1], 10**9))
        run = next(e["args"]["run"] for e in events if e["ph"] == "b" and e["name"] == "redistributing")

        ends = {(e["pid"], e["id2"]["local"]): e["ts"] for e in events if e["ph"] == "e"}
        sent, received = defaultdict(list), defaultdict(list)
        for e in events:
            if e["ph"] != "b" or e["cat"] != "network" or e["args"]["run"] != run:
                continue
            args, end = e["args"], ends[e["pid"], e["id2"]["local"]]
            if args["kind"] == "send":
                sent[e["pid"], args["peer"], *args["position"]].append((args["bytes"], e["ts"]))
            else:
                received[args["peer"], e["pid"], *args["position"]].append((args["bytes"], end))
        self.assertEqual(sent.keys(), received.keys())
        total = 0
        for message, out in sent.items():
            for (bytes_out, posted), (bytes_in, arrived) in zip(out, received[message], strict=True):
                self.assertEqual(bytes_out, bytes_in)
                self.assertGreaterEqual(arrived + 2 * about["clock_error_us"], posted)
                total += bytes_out
        self.assertEqual(total, moved["network"]["bytes"])
