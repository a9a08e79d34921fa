"""Traces: what --trace writes, and what plait trace makes of it.

trace/small.json is that of tests/unit/report/small_trace.hpp, whose figures can be found by hand; trace/small.html is its
page. A page that has become another one for a good reason replaces it: plait trace small.json --rate 500mbit --report small.html --quiet
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

SMALL = Path(__file__).parent / "trace"
REFERENCE = Path(__file__).parents[3] / "docs/command.md"


def settled(page: str) -> str:
    """What a trace decides of it: neither when it was made and by which version, nor its style and script."""
    page = re.sub(r">20[-\d: ]+ UTC, plait [\d.]+: ", ">", page)
    return re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)


class Trace(CommandTest):
    def small(self) -> None:
        shutil.copy(SMALL / "small.json", self.folder)

    def figures(self, name: str, *options: str) -> dict:
        return json.loads(self.succeed(0, "trace", name, "--json", *options))

    @alike_with_every_mpi
    def test_the_page_of_a_small_trace_is_as_it_was(self):
        self.small()
        self.assertEqual(self.succeed(0, "trace", "small.json", "--rate", "500mbit", "--report", "small.html", "--quiet"), "")
        text = (self.folder / "small.html").read_text()
        self.assertEqual(settled(text), settled((SMALL / "small.html").read_text()))
        page = Page(text)
        self.assertEqual((page.open, page.fetched), ([], []))
        self.assertNotIn("url(", text)
        self.assertIn("demo &lt;1&gt;", text)
        self.assertEqual(self.files(), {"small.json", "small.html"})

    @alike_with_every_mpi
    def test_the_figures_of_a_small_trace_are_those_found_by_hand(self):
        self.small()
        figures = self.figures("small.json")
        self.assertEqual((figures["ranks"], figures["nodes"], figures["runs"], figures["lost"]), (2, 2, 1, 0))
        self.assertAlmostEqual(figures["hidden_share"], 0.5)
        self.assertAlmostEqual(figures["seconds"], 110e-6)
        self.assertAlmostEqual(figures["clock_error_seconds"], 1.5e-6)
        times = [(rank["computing_seconds"], rank["posting_seconds"], rank["waiting_seconds"]) for rank in figures["per_rank"]]
        np.testing.assert_allclose(times, [(70e-6, 2e-6, 10e-6), (30e-6, 1e-6, 64e-6)])
        self.assertEqual(figures["all_ranks"]["sent"]["network"], {"messages": 1, "bytes": 2500})
        self.assertEqual(figures["link_bits_per_second"], 1e9)
        self.assertAlmostEqual(figures["links"][0]["achieved_share"], 0.4)
        self.assertAlmostEqual(self.figures("small.json", "--rate", "500mbit")["links"][1]["achieved_share"], 0.8)

    @alike_with_every_mpi
    def test_nothing_is_printed_where_that_is_asked_for(self):
        self.assertEqual(self.succeed(0, "trace", str(SMALL / "small.json"), "--quiet"), "")

    @alike_with_every_mpi
    def test_the_summary_is_for_people(self):
        self.small()
        text = self.succeed(0, "trace", "small.json")
        self.assertRegex(text, r"^small.json: 2 ranks on 2 nodes, 1 run in 110 us\n")
        self.assertRegex(text, r"(?m)^  overlap +50.0 % of 100 us of communication hidden$")
        self.assertRegex(text, r"(?m)^  spent +computing 47.6 % \(100 us\), posting 1.4 % \(3 us\), waiting 35.2 % \(74 us\), rest ")
        self.assertRegex(text, r"(?m)^  links +node 0: out 50.0 MB/s, in -; 40.0 % of 1 Gb/s$")
        self.assertRegex(text, r"(?m)^  clocks +agree to 2 us$")

    @alike_with_every_mpi
    def test_every_key_of_the_json_is_documented(self):
        self.small()
        figures = self.figures("small.json")
        keys = {*figures, *figures["all_ranks"], *figures["links"][0], *figures["all_ranks"]["sent"]}
        documented = set(re.findall(r"`([a-z_]+)`", REFERENCE.read_text().split("## plait trace")[1].split("## plait exec")[0]))
        self.assertEqual(keys - documented, set())

    def test_a_redistribution_is_traced(self):
        b = self.save("B.npy", np.arange(300.0 * 200).reshape(300, 200))
        words = ["redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--from", "blocks@3x1", "--trace", "t.json"]
        report = json.loads(self.succeed(3, *words, "--json"))
        np.testing.assert_array_equal(self.load("A.npy"), b.T)
        self.assertEqual(report["trace"], "t.json")
        self.assertEqual(self.files(), {"A.npy", "B.npy", "t.json"})

        trace = json.loads((self.folder / "t.json").read_text())
        events = trace["traceEvents"]
        self.assertEqual({event["pid"] for event in events}, {0, 1, 2})
        names = {event["args"]["name"] for event in events if event.get("name") == "process_name"}
        self.assertEqual(names, {"rank 0 on node 0", "rank 1 on node 0", "rank 2 on node 0"})
        begun, ended = ([(e["pid"], e["id2"]["local"]) for e in events if e["ph"] == phase] for phase in "be")
        self.assertEqual(sorted(begun), sorted(set(ended)))
        self.assertTrue(all(event["dur"] >= 0 for event in events if event["ph"] == "X"))
        runs = [event for event in events if event["ph"] == "b" and event["cat"] == "run"]
        self.assertIn("redistributing", {event["name"] for event in runs})

        figures = self.figures("t.json")
        self.assertEqual((figures["ranks"], figures["nodes"], figures["link_bits_per_second"]), (3, 1, None))
        for where in ("self", "node", "network"):
            sent = sum(event["args"]["sent"][where][1] for event in runs if event["name"] == "redistributing")
            self.assertEqual(sent, report["redistribution"][where]["bytes"])
        self.succeed(0, "trace", "t.json", "--report", "t.HTML")
        text = (self.folder / "t.HTML").read_text()
        self.assertLess(len(text), 300_000)
        self.assertEqual(Page(text).open, [])

    @alike_with_every_mpi
    def test_the_timeline_of_a_small_trace_tells_all_of_it(self):
        self.small()
        self.succeed(0, "trace", "small.json", "--report", "small.html")
        text = (self.folder / "small.html").read_text()
        columns = int(re.search(r'data-columns="(\d+)"', text)[1])
        nanoseconds = int(re.search(r'data-span="(\d+)"', text)[1]) / columns
        self.assertEqual(round(nanoseconds * columns), 110_000)
        for ends in (("0", "→ 1"), ("1", "← 0")):  # each end of the message, with the other rank and its bytes
            rank, towards = ends
            arrow, peer = towards.split()
            found = re.search(rf'data-strip="rank {rank} {arrow}" data-messages="(\S+) (\S+) {peer} 2500"', text)
            duration = (float(found[2]) - float(found[1])) * nanoseconds
            self.assertAlmostEqual(duration, 50_000, delta=10)
        # At the finest, computation is as long as the figures say.
        fine = re.findall(r'<g class="fine" transform="scale\((\S+),1\)"[^>]*>(.*?)</g>', text)
        computed = sum(
            int(length) * float(scale) * nanoseconds
            for scale, paths in fine
            for path in re.findall(r'<path class="(?:compute|combine)" d="([^"]*)"', paths)
            for length in re.findall(r"h(\d+)", path)
        )
        self.assertAlmostEqual(computed, 100_000, delta=200)

    @alike_with_every_mpi
    def test_a_trace_of_a_hundred_thousand_spans_has_a_page_that_opens(self):
        whole = json.loads((SMALL / "small.json").read_text())
        computed = next(event for event in whole["traceEvents"] if event.get("cat") == "compute")
        for event in whole["traceEvents"]:
            if event["ph"] == "e" and event["cat"] == "run":
                event["ts"] = 200_000
        for n in range(100_000):
            args = computed["args"] | {"operation": 1000 + n}
            whole["traceEvents"].append(computed | {"ts": 200 + 1.5 * n, "dur": 0.7, "args": args})
        (self.folder / "large.json").write_text(json.dumps(whole))
        self.succeed(0, "trace", "large.json", "--report", "large.html")
        text = (self.folder / "large.html").read_text()
        self.assertLess(len(text), 4_000_000)
        self.assertEqual(Page(text).open, [])

    def test_a_rate_that_is_none_ends_a_job_before_it_computes(self):
        np.save(self.folder / "H.npy", np.diag([0.0, 1.0]))
        job = ("purify", "H.npy", "--electrons", "2", "--method", "tc2", "--progress")
        result = self.run_words(self.words(0, *job), {"PLAIT_CLUSTER_RATE": "fast"})
        self.assertEqual((result.status, len(result.errors)), (1, 1))
        self.assertIn("PLAIT_CLUSTER_RATE: 'fast' is no rate", result.errors[0])
        self.assertNotIn("iteration", result.stderr)

    def test_under_a_launcher_it_is_told_once(self):
        self.small()
        self.assertEqual(json.loads(self.succeed(3, "trace", "small.json", "--json"))["ranks"], 2)

    @alike_with_every_mpi
    def test_wrong_files_and_options_are_refused(self):
        self.small()
        whole = (self.folder / "small.json").read_text()
        (self.folder / "half.json").write_text(whole[: len(whole) // 2])
        (self.folder / "foreign.json").write_text('{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "pid": 3}]}')
        (self.folder / "large.json").write_text('{"traceEvents": [1e999]}')
        (self.folder / "text.json").write_text("hello, world\n")
        (self.folder / "bytes.json").write_bytes(b"\x93NUMPY\x01\x00")
        (self.folder / "folder.html").mkdir()
        files = self.files()
        for words, status, message in [
            (["trace", "none.json"], 1, "none.json: can't be opened: No such file"),
            (["trace", "half.json"], 1, r"half.json: is no JSON, or truncated: parse error at line \d+"),
            (["trace", "text.json"], 1, "text.json: is no JSON, or truncated: parse error at line 1, column 1"),
            (["trace", "bytes.json"], 1, r"bytes.json: is no JSON, or truncated: parse error .*last read: '<93>'$"),
            (["trace", "large.json"], 1, "large.json: is no JSON, or truncated: number overflow parsing '1e999'"),
            (["trace", "foreign.json"], 1, "foreign.json: is no trace of plait"),
            (["trace", "foreign.json", "--report", "r.html"], 1, "foreign.json: is no trace of plait"),
            (["trace", "small.json", "--report", "folder.html"], 1, "folder.html: is a directory"),
            (["trace", "small.json", "--report", "r.pdf"], 2, "--report: r.pdf is not the name of an HTML file, expected one that ends in .html"),
            (["trace", "small.json", "--rate", "fast"], 2, "--rate: 'fast' is no rate; expected"),
            (["trace"], 2, "IN is missing, expected plait trace IN "),
            (["redistribute", "B.npy", "-o", "A.npy", "--trace", "t.txt"], 2, "--trace: t.txt is not the name of a JSON file"),
        ]:  # fmt: skip
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
                self.assertRegex(result.stderr, message)
                self.assertEqual(self.files(), files)

    @alike_with_every_mpi
    def test_a_trace_replaces_none_of_the_files_of_its_job(self):
        self.save("B.npy", np.ones((10, 8)))
        (self.folder / "t.json").write_text('{"row_splits": [0, 10], "column_splits": [0, 8], "owners": [[0]]}')
        before = (self.folder / "t.json").read_text()
        for trace, status, message in [("./t.json", 2, "t.json: is the file of --from and the file of --trace, expected different"),
                                       ("none/t.json", 1, "none/t.json: can't be written into the folder none")]:  # fmt: skip
            result = self.run_plait(2, "redistribute", "B.npy", "-o", "A.npy", "--from", "custom:t.json", "--trace", trace)
            self.assertEqual(result.status, status)
            self.assertRegex(result.stderr, message)
            self.assertEqual((self.folder / "t.json").read_text(), before)
            self.assertEqual(self.files(), {"B.npy", "t.json"})

    @alike_with_every_mpi
    def test_a_trace_replaces_neither_the_machine_nor_the_description_of_the_parts(self):
        self.save("B.npy", np.ones((10, 8)))
        self.succeed(1, "machine", "--quick", "-o", "m.json", "--quiet")
        self.succeed(1, "redistribute", "B.npy", "--per-rank", "parts", "--quiet")
        before = {name: (self.folder / name).read_bytes() for name in ("m.json", "parts/layout.json")}
        files = self.files()
        to_a, machine = ["-o", "A.npy"], ["--machine", "m.json"]
        for words, environment, message in [
            (["redistribute", "B.npy", *to_a, *machine, "--trace", "m.json"], {}, "is the file of --machine and the file of --trace"),
            (["redistribute", "B.npy", *to_a, "--trace", "m.json"], {"PLAIT_MACHINE": "./m.json"},
             "is the file that PLAIT_MACHINE names and the file of --trace"),
            (["multiply", "B.npy", "B.npy", "--op-a", "transpose", *to_a, *machine, "--trace", "m.json"], {},
             "is the file of --machine and the file of --trace"),
            (["sinkhorn", "B.npy", *to_a, *machine, "--trace", "m.json"], {}, "is the file of --machine and the file of --trace"),
            (["redistribute", "B.npy", "--per-rank", "parts", "--trace", "parts/layout.json"], {},
             "is the file of --trace and layout.json in the folder of --per-rank"),
            (["redistribute", "B.npy", "--per-rank", "new", "--trace", "new/layout.json"], {},
             "is the file of --trace and layout.json in the folder of --per-rank"),
        ]:  # fmt: skip
            with self.subTest(words):
                result = self.run_words(self.words(0, *words), environment)
                self.assertEqual((result.status, len(result.errors)), (2, 1), result.stderr)
                self.assertIn(message, result.errors[0])
                self.assertEqual({name: (self.folder / name).read_bytes() for name in before}, before)
                self.assertEqual(self.files(), files)
