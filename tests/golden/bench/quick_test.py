"""quick_test.py BENCHMARK MPIEXEC RANKS: a quick run of a benchmark and what it leaves behind."""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

KEYS = {"schema", "program", "description", "commit", "machine", "mpi", "quick", "load_average", "records"}
LINK_RATES = {"bench_network": "1gbit", "bench_symm": "200mbit"}
RECORD_KEYS = {
    "case", "seconds", "spread", "setup_seconds", "limit", "limit_seconds", "fraction_of_limit",
    "fraction_of_limit_spread", "peer", "peer_seconds", "speedup_over_peer", "speedup_over_peer_spread", "gate", "aim",
    "samples",
}  # fmt: skip


class QuickRun(unittest.TestCase):
    benchmark: Path
    mpiexec = ""
    ranks = 0

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.quick = cls.launched("--quick", "--commit", "abc", "--json", cls.folder / "a.json")

    @classmethod
    def launched(cls, *arguments) -> subprocess.CompletedProcess:
        return cls.ended(cls.mpiexec, str(cls.ranks), cls.benchmark, *arguments)

    @staticmethod
    def ended(*command) -> subprocess.CompletedProcess:
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def report(self) -> dict:
        self.assertEqual(self.quick.returncode, 0, self.quick.stdout + self.quick.stderr)
        return json.loads((self.folder / "a.json").read_text())

    def test_the_report_has_every_key_that_is_promised(self):
        report = self.report()
        self.assertEqual(set(report), KEYS)
        self.assertEqual(report["schema"], "plait-bench-1")
        self.assertEqual(f"bench_{report['program']}", self.benchmark.name)
        self.assertEqual((report["commit"], report["quick"]), ("abc", True))
        self.assertEqual(set(report["machine"]), {"cpu", "cores", "isa"})
        self.assertTrue(report["records"])
        for record in report["records"]:
            self.assertEqual(set(record) - {"costs"}, RECORD_KEYS)
            self.assertEqual(set(record.get("costs", {})) - set(record["samples"]), set())

    def test_its_figures_are_those_of_its_samples(self):
        for record in self.report()["records"]:
            with self.subTest(case=record["case"]):
                self.assertTrue(f" ranks={self.ranks} " in record["case"] + " ")
                samples = record["samples"]
                self.assertEqual({len(seconds) for seconds in samples.values()}, {2})
                self.assertTrue(all(second > 0 for seconds in samples.values() for second in seconds))
                self.assertAlmostEqual(record["seconds"], sum(samples["plait"]) / 2, places=9)
                self.assertEqual(record["spread"], sorted(samples["plait"]))
                of_limit = [limit / own for limit, own in zip(samples[record["limit"]], samples["plait"])]
                self.assertAlmostEqual(record["fraction_of_limit"], sum(of_limit) / 2, places=9)
                if record["peer"] is not None:
                    speedup = [peer / own for peer, own in zip(samples[record["peer"]], samples["plait"])]
                    self.assertAlmostEqual(record["speedup_over_peer"], sum(speedup) / 2, places=9)

    def test_a_quick_run_asks_for_no_speed(self):
        for record in self.report()["records"]:
            self.assertIsNone(record["gate"])
            self.assertIsNone(record["aim"])

    def test_the_table_has_a_line_for_each_case(self):
        lines = self.quick.stdout.splitlines()
        names = [record["case"] for record in self.report()["records"]]
        begun = [max((name for name in names if line.startswith(name)), key=len) for line in lines[1:-1]]
        self.assertEqual(begun, names)
        self.assertRegex(lines[-1], "What is freed stays with the process")
        self.assertIn(lines[-1].rstrip("."), self.report()["description"])

    def test_reports_are_merged_and_drawn_without_measuring(self):
        report, merged, plot = self.report(), self.folder / "b.json", self.folder / "b.svg"
        source = self.folder / "a.json"
        run = self.ended(self.benchmark, "--merge", source, source, "--json", merged, "--plot", plot)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(merged.read_text())["records"], 2 * report["records"])
        texts = [element.text for element in xml.parse(plot).getroot().iter() if element.tag.endswith("text")]
        for record in report["records"]:
            self.assertEqual(texts.count(record["case"]), 2)

    def test_a_missed_gate_is_a_failure_only_if_asked(self):
        report = self.report()
        report["records"][0]["gate"] = {"fraction_of_limit": 1e9}
        path = self.folder / "missed.json"
        path.write_text(json.dumps(report))
        self.assertEqual(self.ended(self.benchmark, "--merge", path).returncode, 0)
        run = self.ended(self.benchmark, "--merge", path, "--gate")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, f"missed gate: {report['records'][0]['case']}\n")

    def test_a_filter_chooses_cases(self):
        name = self.report()["records"][-1]["case"]
        path = self.folder / "filtered.json"
        run = self.launched("--quick", "--filter", f"^{name}$", "--repetitions", "3", "--json", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        records = json.loads(path.read_text())["records"]
        self.assertEqual([record["case"] for record in records], [name])
        self.assertEqual(len(records[0]["samples"]["plait"]), 3)

    def test_the_numbers_of_ranks_are_listed(self):
        run = self.ended(self.benchmark, "--list-ranks")
        self.assertIn(self.ranks, [int(number) for number in run.stdout.split()])

    def test_a_benchmark_that_wants_a_cluster_says_which_links(self):
        run = self.ended(self.benchmark, "--list-link-rate")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout, LINK_RATES.get(self.benchmark.name, "") + "\n")


if __name__ == "__main__":
    benchmark, QuickRun.mpiexec, ranks = sys.argv[1:]
    QuickRun.benchmark, QuickRun.ranks = Path(benchmark), int(ranks)
    unittest.main(argv=sys.argv[:1], verbosity=2)
