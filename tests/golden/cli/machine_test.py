"""`plait machine`: what it measures is plausible, however many ranks there are, and other jobs can use it."""

import json

from harness import CommandTest, alike_with_every_mpi

RATES = ("read_bytes_per_second", "copy_bytes_per_second", "combine_bytes_per_second", "product_flops_per_second")


class Machine(CommandTest):
    def written(self) -> dict:
        self.assertEqual(self.files(), {"m.json"})
        machine = json.loads((self.folder / "m.json").read_text())
        for rate in RATES:
            self.expect_rate(machine[rate])
        return machine

    def expect_rate(self, rate: float) -> None:
        self.assertTrue(1e5 < rate < 1e13, rate)

    def test_one_rank_measures_its_memory_and_assumes_the_links(self):
        text = self.run_plait(0, "machine", "--quick", "-o", "m.json").stdout
        self.assertRegex(text, r"^m.json: 1 rank on 1 node, .*; measured quickly; in ")
        self.assertRegex(text, r"\n  memory: all ranks of a node read .*B/s and copy .*B/s, each combines .*B/s\n")
        self.assertRegex(text, r"\n  products: all ranks of a node multiply matrices of doubles at \S+ GFlop/s\n")
        self.assertIn("  between nodes: assumed, not measured: needs two nodes\n", text)
        machine = self.written()
        self.assertEqual((machine["node"]["measured"], machine["network"]["measured"]), (False, False))
        self.assertEqual(machine["ranks_per_node"], 1)
        info = json.loads(self.succeed(0, "info", "--json", "--machine", "m.json"))
        self.assertEqual(info["machine"], machine["description"])
        self.assertIn("1 rank on 1 node, ", info["machine"])

    def test_two_ranks_measure_messages_within_their_node(self):
        report = json.loads(self.succeed(2, "machine", "--quick", "-o", "m.json", "--json", "--quiet"))
        self.assertEqual((report["command"], report["ranks"], report["output"]), ("machine", 2, {"path": "m.json"}))
        machine = self.written()
        self.assertEqual(report["machine"], machine)
        self.assertEqual((machine["node"]["measured"], machine["network"]["measured"]), (True, False))
        self.assertTrue(1e-8 < machine["node"]["latency_seconds"] < 0.1, machine["node"])
        self.assertEqual([streams["ranks"] for streams in machine["node"]["streams"]], [1, 2])
        for streams in machine["node"]["streams"]:
            for way in ("one_way", "both_ways"):
                self.assertEqual([size for size, _ in streams[way]][:2], [1000, 16000])
                for _, rate in streams[way]:
                    self.expect_rate(rate)
        result = self.run_words(
            self.words(2, "generate", "9x9", "-o", "M.npy", "--quiet"), {"PLAIT_MACHINE": "m.json", "PLAIT_LOG": "choices"}
        )  # fmt: skip
        self.assertEqual((result.status, result.stderr), (0, ""))

    @alike_with_every_mpi
    def test_a_wrong_file_or_setting_is_told_once(self):
        (self.folder / "m.json").write_text('{"format": "plait-machine", "version": 7}')
        for words, environment, complaint in [
            (("--machine", "m.json"), {}, "m.json: has no key description, expected format, "),
            (("--machine", "none.json"), {}, "none.json: can't be opened"),
            ((), {"PLAIT_MACHINE": "none.json"}, "environment variable PLAIT_MACHINE: none.json: can't be opened"),
        ]:
            with self.subTest(complaint):
                result = self.run_words(self.words(2, "info", *words), environment)
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertIn(complaint, result.errors[0])
        result = self.run_words(self.words(2, "info"), {"PLAIT_LOG": "everything"})
        self.assertEqual(result.status, 0)
        self.assertEqual(result.stderr.count("PLAIT_LOG is 'everything', expected"), 1)

    def test_the_file_is_replaced_at_the_end_or_not_at_all(self):
        for output, complaint in [("none/m.json", "can't be written into the folder none"), ("/proc/m.json", "/proc/m.json")]:
            result = self.run_plait(2, "machine", "--quick", "--progress", "-o", output)
            self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
            self.assertIn(complaint, result.errors[0])
            self.assertNotIn("measuring", result.stderr)  # it is known before
        self.assertEqual(self.run_plait(0, "machine").status, 2)
        self.assertEqual(self.files(), set())

    @alike_with_every_mpi
    def test_no_matrix_replaces_the_file_of_a_setting(self):
        self.succeed(0, "machine", "--quick", "-o", "m.json", "--quiet")
        (self.folder / "m.json").rename(self.folder / "m")
        (self.folder / "tiling").write_text('{"row_splits": [0, 8], "column_splits": [0, 8], "owners": [[0]]}')
        self.succeed(0, "generate", "8x8", "-o", "B.npy", "--quiet")
        before = {name: (self.folder / name).read_bytes() for name in ("m", "tiling")}
        machine = ["-o", "./m", "--machine", "m"]
        for words, role in [
            (["redistribute", "B.npy", *machine], "the file of --machine"),
            (["redistribute", "B.npy", "-o", "./tiling", "--to", "custom:tiling"], "the file of --to"),
            (["redistribute", "B.npy", "-o", "./tiling", "--from", "custom:tiling"], "the file of --from"),
            (["multiply", "B.npy", "B.npy", *machine], "the file of --machine"),
            (["generate", "8x8", *machine], "the file of --machine"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.assertEqual((result.status, len(result.errors)), (2, 1), result.stderr)
                self.assertIn(f"is {role} and the file of -o, expected different files", result.errors[0])
                self.assertEqual({name: (self.folder / name).read_bytes() for name in before}, before)
