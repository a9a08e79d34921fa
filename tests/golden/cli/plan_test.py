"""What plait plan says, against counting every element with NumPy."""

import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
from harness import CommandTest, alike_with_every_mpi


def block_cyclic_owners(shape, block, grid, by_columns=False):
    """The rank of each element."""
    row = np.arange(shape[0]) // block[0] % grid[0]
    column = np.arange(shape[1]) // block[1] % grid[1]
    return row[:, None] + column[None, :] * grid[0] if by_columns else row[:, None] * grid[1] + column[None, :]


def volumes(source, target, ranks, element_bytes):
    """Bytes from each rank to each."""
    counts = np.zeros((ranks, ranks), dtype=np.int64)
    np.add.at(counts, (source.ravel(), target.ravel()), element_bytes)
    return counts


def remote(counts):
    return counts - np.diag(np.diag(counts))


RELABELING = Path(__file__).parents[3] / "docs/relabeling.md"


class Plan(CommandTest):
    def plan(self, *options: str) -> dict:
        return json.loads(self.succeed(0, "plan", "--json", *options))

    def expect_volume(self, report: dict, counts) -> None:
        moved = remote(counts)
        self.assertEqual(report["messages"], np.count_nonzero(moved))
        self.assertEqual(report["volume_bytes"], moved.sum())
        self.assertEqual(report["largest_rank_bytes"], max(moved.sum(axis=0).max(), moved.sum(axis=1).max()))

    @alike_with_every_mpi
    def test_volumes_are_those_of_every_element(self):
        shape = (37, 53)
        source = block_cyclic_owners(shape, (3, 5), (2, 3))
        target = block_cyclic_owners(shape, (8, 4), (3, 2), by_columns=True)
        layouts = ["--from", "block-cyclic:3x5@2x3", "--to", "block-cyclic:8x4@3x2,order=col", "--shape", "37x53"]
        counts = volumes(source, target, 6, 4)
        report = self.plan(*layouts, "--dtype", "f32")
        self.expect_volume(report, counts)
        self.assertEqual((report["ranks"], report["bytes"]), (6, 37 * 53 * 4))
        self.assertEqual(report["kept_bytes"], np.trace(counts))
        self.assertNotIn("relabeled", report)

        report = self.plan(*layouts, "--dtype", "f32", "--relabel")
        rank_of = report["permutation"]
        self.assertEqual(sorted(rank_of), list(range(6)))
        self.expect_volume(report["relabeled"], volumes(source, np.array(rank_of)[target], 6, 4))
        best = max(sum(counts[p[role], role] for role in range(6)) for p in itertools.permutations(range(6)))
        self.assertEqual(report["relabeled"]["volume_bytes"], counts.sum() - best)
        saved = 100 * (1 - report["relabeled"]["volume_bytes"] / report["volume_bytes"])
        self.assertAlmostEqual(report["relabeled"]["removed_percent"], saved)

    @alike_with_every_mpi
    def test_nodes_are_what_relabeling_saves_between(self):
        shape = (36, 36)
        source = block_cyclic_owners(shape, (4, 4), (6, 1))
        target = block_cyclic_owners(shape, (6, 6), (6, 1))
        layouts = ["--from", "block-cyclic:4x4@6x1", "--to", "block-cyclic:6x6@6x1", "--shape", "36x36"]
        node_of = np.arange(6) // 2

        def between_nodes(counts):
            return counts[node_of[:, None] != node_of[None, :]].sum()

        counts = volumes(source, target, 6, 8)
        report = self.plan(*layouts, "--ranks-per-node", "2", "--relabel")
        relabeled = report["relabeled"]
        self.assertEqual((report["network_bytes"], relabeled["network_bytes_before"]), (between_nodes(counts),) * 2)
        found = volumes(source, np.array(report["permutation"])[target], 6, 8)
        self.expect_volume(relabeled, found)
        self.assertEqual(relabeled["network_bytes"], between_nodes(found))
        best = min(
            between_nodes(volumes(source, np.array(p)[target], 6, 8)) for p in itertools.permutations(range(6))
        )
        self.assertLessEqual(relabeled["network_bytes"], 1.1 * best)
        alone = self.plan(*layouts, "--relabel")
        by_ranks = volumes(source, np.array(alone["permutation"])[target], 6, 8)
        self.assertLess(relabeled["network_bytes"], between_nodes(by_ranks))
        self.assertNotIn("network_bytes", self.plan(*layouts, "--ranks-per-node", "6", "--relabel")["relabeled"])
        text = self.succeed(0, "plan", *layouts, "--ranks-per-node", "2", "--relabel")
        self.assertRegex(text, r"(?m)^ +\S+ kB of that between nodes$")
        self.assertRegex(text, r"(?m)^ +\S+ kB between nodes instead of \S+ kB, -?\d+\.\d\d % less; ")

    @alike_with_every_mpi
    def test_short_blocks_on_many_ranks_are_planned_at_once(self):
        """Of 1e8 pairs of ranks, most of which exchange something, none is looked at."""
        report = self.plan("--shape", "1000000000x1", "--from", "block-cyclic:3x1@10000x1",
                           "--to", "block-cyclic:2x1@9999x1")  # fmt: skip
        # Part s of the first meets part t of the second where 2t - 3s is -1, 0, 1 or 2 modulo 6: within a period of
        # 99,990,000 elements, once. Those that a rank keeps are no messages.
        meet = np.isin((2 * np.arange(9999)[None, :] - 3 * np.arange(6)[:, None]) % 6, (5, 0, 1, 2)).sum(axis=1)
        kept = np.isin(-np.arange(9999) % 6, (5, 0, 1, 2)).sum()
        self.assertEqual(report["messages"], meet[np.arange(10000) % 6].sum() - kept)

    @alike_with_every_mpi
    def test_a_transpose_and_a_custom_layout(self):
        shape = (20, 12)
        tiling = {"row_splits": [0, 5, 12], "column_splits": [0, 20], "owners": [[3], [1]]}
        (self.folder / "t.json").write_text(json.dumps(tiling))
        source = block_cyclic_owners(shape, (1, 12), (4, 1))
        target = np.where(np.arange(12)[:, None] < 5, 3, 1) + np.zeros((12, 20), dtype=int)
        report = self.plan("--from", "block-cyclic:1x12@4x1", "--to", "custom:t.json", "--op", "transpose",
                           "--shape", "20x12")  # fmt: skip
        self.expect_volume(report, volumes(source.T, target, 4, 8))

    @alike_with_every_mpi
    def test_the_table_of_the_documents(self):
        text = RELABELING.read_text()
        blocks, percents = (
            [cell.strip() for cell in re.search(rf"^\| {row}[^|]*\|(.*)\|$", text, re.MULTILINE)[1].split("|")]
            for row in ("Block of", "Volume that")
        )
        for block, percent in zip(blocks, percents, strict=True):
            with self.subTest(block):
                report = self.plan("--shape", "100000x100000", "--from", f"block-cyclic:{block}x{block}@10x10",
                                   "--to", "block-cyclic:10000x10000@10x10,order=col", "--relabel")  # fmt: skip
                digits = len(percent.partition(".")[2])
                self.assertEqual(f"{report['relabeled']['removed_percent']:.{digits}f}", percent)

    @alike_with_every_mpi
    def test_many_ranks_are_planned_at_once(self):
        report = self.plan("--shape", "1000000x1000000", "--from", "block-cyclic:32x32@128x128",
                           "--to", "block-cyclic:128x128@128x128,order=col")  # fmt: skip
        self.assertEqual((report["ranks"], report["bytes"]), (16384, 8 * 10**12))
        self.assertEqual(report["volume_bytes"] + report["kept_bytes"], 8 * 10**12)

    @alike_with_every_mpi
    def test_the_plot_is_a_picture(self):
        layouts = ["--from", "rows@150", "--to", "cols@150", "--shape", "300x300"]
        for options, titles in [([], ["Volume between ranks"]), (["--relabel"], ["Before relabeling", "After relabeling"])]:
            self.assertEqual(self.plan(*layouts, "--plot", "v.svg", *options)["plot"], "v.svg")
            texts, cells = self.picture("v.svg")
            for title in [*titles, "identity of B, 300 x 300, f64: 720 kB on 150 ranks"]:
                self.assertIn(title, texts)
            for axis in ("from rank", "to rank"):
                self.assertEqual(texts.count(axis), len(titles))
            self.assertEqual(texts.count("100"), 2 * len(titles), "a tick along each side")
            self.assertEqual(len(cells), len(titles))
        self.assertTrue("".join(texts).endswith(" ".join(["plait plan --json", *layouts, "--plot v.svg --relabel"])))
        self.assertEqual(self.files(), {"v.svg"})
        self.assertIn("\n  plot       v.svg\n", self.succeed(0, "plan", *layouts, "--plot", "v.svg"))
        self.assertIsNone(self.plan(*layouts)["plot"])

    def picture(self, name: str) -> tuple[list[str], list[dict]]:
        elements = list(ElementTree.parse(self.folder / name).getroot().iter())
        texts = [element.text for element in elements if element.tag.endswith("}text")]
        return texts, [element.attrib for element in elements if element.get("class") == "cells"]

    @alike_with_every_mpi
    def test_the_plot_tells_the_volumes(self):
        units = {"B": 1, "kB": 1e3, "MB": 1e6}
        for ranks, shape in ((6, (36, 60)), (333, (1000, 1100))):
            self.plan("--from", f"rows@{ranks}", "--to", f"cols@{ranks}", "--shape", f"{shape[0]}x{shape[1]}", "--plot", "v.svg")
            texts, (cells,) = self.picture("v.svg")
            rows, columns = ([len(part) for part in np.array_split(np.arange(n), ranks)] for n in shape)
            counts = np.outer(rows, columns) * 8.0
            place = np.arange(ranks) * min(ranks, 160) // ranks
            expected = np.zeros((min(ranks, 160),) * 2)
            np.add.at(expected, (place[:, None], place[None, :]), remote(counts))
            if ranks <= 160:
                expected += np.diag(np.diag(counts))
            told = [float(number) * units[unit] for number, unit in map(str.split, cells["data-numbers"].split(";"))]
            np.testing.assert_allclose(np.reshape(told, expected.shape), expected, rtol=0.006)
            self.assertEqual("A square is the sum over neighbouring ranks." in texts, ranks > 160)

    @alike_with_every_mpi
    def test_the_summary_is_for_people(self):
        text = self.succeed(0, "plan", "--from", "rows@2", "--to", "rows@2,ranks=1,0", "--shape", "30x20", "--relabel")
        self.assertRegex(text, r"(?m)^  moves +4.80 kB in 2 messages; at most 2.40 kB sent or received by a rank$")
        self.assertRegex(text, r"(?m)^ +100.00 % less; 2 of 2 ranks change roles \(found in ")

    @alike_with_every_mpi
    def test_every_key_of_the_json_is_documented(self):
        words = ["plan", "--from", "rows@2", "--to", "cols@2", "--shape", "30x20", "--relabel", "--json"]
        report = json.loads(self.succeed(0, *words, "--ranks-per-node", "1"))
        memory = report.pop("memory")
        keys = {*report, *report["relabeled"], *(f"memory.{key}" for key in memory)}
        text = (Path(__file__).resolve().parents[3] / "docs/command.md").read_text()
        documented = set(re.findall(r"`([a-z_.]+)`", text.split("## plait plan")[1].split("## plait generate")[0]))
        self.assertEqual(keys - documented, set())

    def test_under_a_launcher_it_is_told_once(self):
        words = ["plan", "--from", "rows@7", "--to", "cols@7", "--shape", "30x20", "--json"]
        report = json.loads(self.succeed(3, *words))
        self.assertEqual(report["ranks"], 7)

    @alike_with_every_mpi
    def test_errors_name_the_option(self):
        good = {"--from": "rows@2", "--to": "cols@2", "--shape": "30x20"}
        for wrong, status, message in [
            ({"--from": "rows@0"}, 2, "--from: .*at least 1"),
            ({"--shape": "30"}, 2, "--shape: '30' is no shape"),
            ({"--shape": "9000000000x9000000000"}, 2, "--shape: .*more than can be counted"),
            ({"--relabel": "fast"}, 2, "plan takes no further argument, but 'fast' is given"),
            ({"--ranks-per-node": "0"}, 2, "--ranks-per-node: '0' is no count"),
            ({"--to": "custom:none.json"}, 1, "--to: none.json: can't be opened"),
            ({"--to": "rows@2,within=5x5"}, 2, "--to: .*30 x 20"),
            ({"--to": "rows@2147483647"}, 2, "--to: 2147483647 ranks, expected at most 10000000"),
            ({"--plot": "none/v.svg"}, 1, "none/v.svg: can't be written"),
            ({"--plot": "v.png"}, 2, "--plot: v.png is not the name of an SVG file, expected one that ends in .svg"),
        ]:
            with self.subTest(wrong):
                words = [word for pair in {**good, **wrong}.items() for word in pair]
                result = self.run_plait(0, "plan", *words)
                self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
                self.assertRegex(result.stderr, message)
        self.assertEqual(self.run_plait(0, "plan", "--from", "rows@2").status, 2)
