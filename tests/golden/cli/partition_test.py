"""`plait partition` and `plait repartition` against the definitions."""

import json
import re

import numpy as np
from harness import CommandTest, alike_with_every_mpi


def grid(columns: int, rows: int) -> list[list[int]]:
    def neighbours(x: int, y: int) -> list[int]:
        places = [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]
        return [b * columns + a for a, b in places if 0 <= a < columns and 0 <= b < rows]

    return [neighbours(x, y) for y in range(rows) for x in range(columns)]


def cut(graph: list[list[int]], parts) -> int:
    return sum(parts[v] != parts[u] for v, row in enumerate(graph) for u in row if u < v)


def factor_entries(graph: list[list[int]], order) -> int:
    """By elimination, as it is defined."""
    left = [set(row) for row in graph]
    entries = 0
    for v in order:
        entries += 1 + len(left[v])
        for u in left[v]:
            left[u] |= left[v] - {u}
            left[u].discard(v)
    return entries


def read_vtu(path) -> dict[str, np.ndarray]:
    """The arrays of an unstructured grid, by their names; without one, the places of points."""
    head, data = path.read_bytes().split(b'<AppendedData encoding="raw">\n   _', 1)
    arrays = {}
    for kind, words, offset in re.findall(rb'<DataArray type="(\w+)"(.*?)format="appended" offset="(\d+)"/>', head):
        name = re.search(rb'Name="(\w+)"', words)
        begin = int(offset) + 8
        count = int(np.frombuffer(data, np.uint64, 1, int(offset))[0])
        arrays[name[1].decode() if name else "points"] = np.frombuffer(data[begin : begin + count], kind.decode().lower())
    return arrays


class Order(CommandTest):
    def test_the_order_has_each_row_once_for_any_number_of_ranks_and_its_fill_is_counted(self):
        graph = grid(20, 20)
        lines = ["400 760", *(" ".join(str(u + 1) for u in row) for row in graph)]
        (self.folder / "g.graph").write_text("\n".join(lines) + "\n")
        found = []
        for ranks in (0, 3):
            report = json.loads(self.succeed(ranks, "order", "g.graph", "-o", "o.npy", "--json"))
            order = np.load(self.folder / "o.npy")
            self.assertEqual(sorted(order), list(range(400)))
            self.assertEqual(report["factor_entries"], factor_entries(graph, order))
            self.assertLess(report["factor_entries"], factor_entries(graph, range(400)) * 0.6)
            found.append(order.tolist())
        self.assertEqual(found[0], found[1])


    @alike_with_every_mpi
    def test_the_page_shows_the_matrix_in_its_order_and_the_memory_is_told(self):
        graph = grid(20, 20)
        lines = ["400 760", *(" ".join(str(u + 1) for u in row) for row in graph)]
        (self.folder / "g.graph").write_text("\n".join(lines) + "\n")
        for ranks in (0, 3):
            words = ("order", "g.graph", "-o", "o.npy", "--report", "o.html")
            report = json.loads(self.succeed(ranks, *words, "--json"))
            self.assertGreater(report["memory"]["largest_rank_bytes"], 4 * 2 * 760)
            page = (self.folder / "o.html").read_text()
            self.assertIn("The matrix in this order", page)
            self.assertIn("Dark: elements that are 1; others are 0. ", page)
            self.assertNotIn("positive", page)
            self.assertIn(f"<b>{report['factor_entries']}</b>", page)
            self.assertIn("\n  memory      ", self.succeed(ranks, *words))


class Partition(CommandTest):
    def write(self, name: str, graph: list[list[int]]):
        lines = [f"{len(graph)} {sum(map(len, graph)) // 2}", *(" ".join(str(u + 1) for u in row) for row in graph)]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def test_parts_are_even_and_the_same_for_any_number_of_ranks(self):
        graph = grid(24, 24)
        self.write("g.graph", graph)
        self.save("xy.npy", np.array([[v % 24, v // 24] for v in range(576)], dtype=float))
        found = []
        for ranks in (0, 2, 5):
            words = ("partition", "g.graph", "-k", "4", "--points", "xy.npy", "-o", "p.npy", "--json", "--report", "r.html")
            report = json.loads(self.succeed(ranks, *words))
            parts = np.load(self.folder / "p.npy")
            self.assertEqual((parts.dtype, parts.shape), (np.dtype("i4"), (576,)))
            self.assertLessEqual(np.bincount(parts).max(), 148)
            self.assertEqual(report["cut"], cut(graph, parts))
            self.assertLessEqual(report["cut"], 48)
            self.assertEqual(report["part_weights"], np.bincount(parts).tolist())
            self.assertEqual(report["components"], [1, 1, 1, 1])
            self.assertGreater(report["memory"]["fullest_node_bytes"], 4 * 2 * 1104)
            page = (self.folder / "r.html").read_text()
            self.assertIn(f"4 parts by best ({report['start']})", page)
            self.assertIn("Neighbouring parts", page)
            found.append(parts.tolist())
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])

    @alike_with_every_mpi
    def test_parts_are_text_for_metis_and_matrices_are_graphs(self):
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 3\n")
        self.succeed(0, "partition", "a.mtx", "-k", "2", "-o", "a.mtx.part.2")
        parts = (self.folder / "a.mtx.part.2").read_text().split()
        self.assertEqual(len(parts), 4)
        self.assertEqual(cut([[1], [0, 2], [1, 3], [2]], parts), 1)

    @alike_with_every_mpi
    def test_one_part_has_no_picture_of_its_neighbours(self):
        self.write("g.graph", grid(3, 3))
        self.succeed(0, "partition", "g.graph", "-k", "1", "-o", "p.npy", "--report", "r.html")
        self.assertNotIn("<svg", (self.folder / "r.html").read_text())

    @alike_with_every_mpi
    def test_the_heaviest_part_is_told_beside_what_it_may_weigh(self):
        # 576 vertices in 100 parts: some have 6, which is more than 3 % above 5.76.
        self.write("g.graph", grid(24, 24))
        text = self.succeed(0, "partition", "g.graph", "-k", "100", "-o", "p.npy")
        self.assertIn("imbalance   4.17 %: the heaviest part weighs 6 of 6 allowed\n", text)

    @alike_with_every_mpi
    def test_what_cannot_be_is_refused_on_all_ranks_with_the_reason(self):
        self.write("g.graph", grid(3, 1))
        (self.folder / "bad.graph").write_text("3 1\n2\n\n2\n")
        self.save("w.npy", np.array([1, 9, 1]))
        self.save("xy.npy", np.zeros((2, 2)))
        for ranks in (0, 3):
            for words, reason in (
                (("g.graph", "-k", "4"), "4 parts of 3 vertices: at least 1 of them would be empty"),
                (("g.graph", "-k", "2", "--weights", "w.npy"), "weighs 9, more than the 6 that one of 2 parts may weigh"),
                (("g.graph", "-k", "2", "--points", "xy.npy"), "--points xy.npy: the points are 2; expected 3"),
                (("g.graph", "-k", "2", "--weights", "3,1,3"), "--weights 3,1,3: can't be opened: No such file"),
                (("xy.npy", "-k", "2"), "xy.npy: is a NumPy .npy file; expected a graph in METIS' format"),
                (("bad.graph", "-k", "2"), "bad.graph:2: vertex 1 has the neighbour 2, which (line 3) does not have 1"),
            ):
                with self.subTest(words):
                    result = self.run_plait(ranks, "partition", *words, "-o", "p.npy")
                    self.assertEqual(result.status, 1)
                    self.assertIn(reason, result.stderr)
                    self.assertFalse((self.folder / "p.npy").exists())
        self.succeed(0, "partition", "bad.graph", "-k", "2", "--symmetrise", "-o", "p.npy")
        for words, reason in (
            (("-k", "0"), "--parts"),
            (("-k", "2", "--imbalance", "-1"), "--imbalance: '-1' is no share; expected 0 to 1, or a percentage, such as 0.03 or 3%"),
            (("-k", "2", "--imbalance", "3"), "--imbalance: '3' is no share; expected 0 to 1, or a percentage, such as"),
            (("-k", "2", "--method", "orb"), "--method is orb, but --points is missing, the places of the"),
            (("-k", "2", "--vtu", "p.vtu"), "--vtu is given, but --points is missing, the places of the"),
            (("-k", "2", "--seed", "-1"), "--seed"),
            (("--parts", "p.npy", "-k", "2"), "--parts and -k, which are one option, are given more than once"),
            (("-k", "2", "-o", "d.h5"), "d.h5 would be a file of another kind, expected a name that ends in .npy or .txt"),
        ):
            output = () if "-o" in words else ("-o", "p.npy")
            result = self.run_plait(0, "partition", "g.graph", *words, *output)
            self.assertEqual(result.status, 2)
            self.assertIn(reason, result.stderr)
        report = json.loads(self.succeed(0, "partition", "g.graph", "-k", "2", "--imbalance", "150%", "-o", "p.npy", "--json"))
        self.assertEqual(report["allowed_imbalance"], 1.5)
        for name in ("p.txt", "p.part", "p"):
            self.succeed(0, "partition", "g.graph", "-k", "3", "-o", name)
            self.assertEqual(sorted((self.folder / name).read_text().split()), ["0", "1", "2"])

    def test_parts_are_balanced_again_and_little_moves(self):
        graph = grid(32, 32)
        self.write("g.graph", graph)
        self.succeed(0, "partition", "g.graph", "-k", "8", "-o", "old.npy")
        old = np.load(self.folder / "old.npy")
        weights = np.array([4 if v % 32 < 8 and v // 32 < 8 else 1 for v in range(1024)])
        self.save("w.npy", weights)
        words = ("repartition", "g.graph", "--from", "old.npy", "--weights", "w.npy", "-o", "new.npy", "--json")
        found = []
        for ranks in (0, 3):
            report = json.loads(self.succeed(ranks, *words, "--moved-at-most", "50%", "--report", "r.html"))
            new = np.load(self.folder / "new.npy")
            self.assertLessEqual(np.bincount(new, weights).max(), 1.03 * weights.sum() / 8)
            self.assertEqual((report["cut"], report["moved"]), (cut(graph, new), int((new != old).sum())))
            self.assertLessEqual(report["moved"], 512)
            self.assertEqual(report["front"], sorted(report["front"], key=lambda way: way["moved"]))
            found.append(new.tolist())
        self.assertEqual(*found)
        text = self.succeed(0, *words[:-1])
        self.assertRegex(text, r"\n  moved       \S+ % of the data; less with --moved-at-most\n")
        self.assertRegex(self.succeed(0, *words[:-1], "--moved-at-most", "50%"), r"\n  moved       \S+ % of the data\n")
        same = [*words[:3], "old.npy", "-o", "new.npy", "--json"]
        for ranks in (0, 3):
            with self.subTest("nothing to do", ranks=ranks):
                report = json.loads(self.succeed(ranks, *same, "--moved-at-most", "0"))
                self.assertEqual((report["way"], report["moved"]), ("kept", 0))
                self.assertEqual(np.load(self.folder / "new.npy").tolist(), old.tolist())
        result = self.run_plait(0, *words, "--moved-at-most", "0")
        self.assertEqual(result.status, 1)
        self.assertIn("no way was found that moves at most 0 % of the data", result.stdout + result.stderr)
        for parts in (5, 11):
            report = json.loads(self.succeed(2, *words, "-k", str(parts), "--report", "r.html"))
            new = np.load(self.folder / "new.npy")
            self.assertEqual(set(new), set(range(parts)))
            self.assertLessEqual(np.bincount(new, weights).max(), np.ceil(1.03 * weights.sum() / parts))
            self.assertEqual((report["moved"], report["from"]["cut"]), (int((new != old).sum()), cut(graph, old)))
            self.assertEqual(report["report"], "r.html")
            page = (self.folder / "r.html").read_text()
            for way in report["front"]:
                self.assertIn(f"{way['way']}: cut {way['cut']}, moved", page)
            self.assertIn("of the data moved", page)
            self.assertIn("the cut before, of 8 parts", page)
        old[7] = 1024
        self.save("old.npy", old)
        self.assertIn("old.npy: vertex 7 is in part 1024; expected", self.run_plait(3, *words, "-k", "4").stdout)

    def test_rows_go_with_their_vertices(self):
        self.write("g.graph", grid(9, 7))
        random = np.random.default_rng(4)
        for ranks, values in (
            (0, random.standard_normal((63, 3))),
            (5, random.integers(0, 99, 63, dtype="u1")),
            (2, random.standard_normal((63, 2, 4)) + 1j),
            (3, np.asfortranarray(random.standard_normal((63, 4)).astype("f4"))),
        ):
            self.save("u.npy", values)
            self.succeed(ranks, "partition", "g.graph", "-k", "5", "-o", "old.npy", "--move", "u.npy", "--moved", "by-old.npy")
            old = np.load(self.folder / "old.npy")
            by_old = values[np.argsort(old, kind="stable")]
            np.testing.assert_array_equal(np.load(self.folder / "by-old.npy"), by_old, strict=True)
            self.save("w.npy", np.where(np.arange(63) < 20, 5, 1))
            words = ("repartition", "g.graph", "--from", "old.npy", "--weights", "w.npy", "-o", "new.npy", "--json")
            report = json.loads(self.succeed(ranks, *words, "--move", "by-old.npy", "--moved", "by-old.npy", "--moved-from", "rows.npy"))
            by_new = values[np.argsort(np.load(self.folder / "new.npy"), kind="stable")]
            rows = np.load(self.folder / "rows.npy")
            np.testing.assert_array_equal(np.load(self.folder / "by-old.npy"), by_new, strict=True)
            np.testing.assert_array_equal(by_old[rows], by_new)
            self.assertEqual(report["move"]["rows"], int((rows != np.arange(63)).sum()))
            self.succeed(ranks, *words, "--move", "u.npy", "--move-order", "vertices", "--moved", "by-new.npy")
            np.testing.assert_array_equal(np.load(self.folder / "by-new.npy"), by_new, strict=True)

    @alike_with_every_mpi
    def test_rows_that_are_none_of_the_vertices_are_refused_before_anything_is_written(self):
        self.write("g.graph", grid(3, 2))
        words = ("partition", "g.graph", "-k", "2", "-o", "p.npy", "--move", "u.npy", "--moved", "v.npy")
        for values, reason in (
            (np.zeros((5, 2)), "u.npy: has 5 rows; expected 6, one for each vertex"),
            (np.zeros((6, 2, 2), order="F"), "u.npy: is 6 x 2 x 2 in Fortran order; expected C order"),
        ):
            self.save("u.npy", values)
            for ranks in (0, 3):
                result = self.run_plait(ranks, *words)
                self.assertEqual(result.status, 1)
                self.assertIn(reason, result.stderr)
                self.assertEqual(self.files(), {"g.graph", "u.npy"})
        for words, reason in (
            (("--move", "u.npy"), "--move is given, but --moved is missing"),
            (("--moved-from", "r.npy"), "--moved-from is given, but --move is missing"),
        ):
            result = self.run_plait(0, "partition", "g.graph", "-k", "2", "-o", "p.npy", *words)
            self.assertEqual(result.status, 2)
            self.assertIn(reason, result.stderr)

    def write_mesh(self, columns: int, rows: int):
        """Quadrangles with nodes numbered from 11 on, and the lines of one side."""
        tags = np.arange(11, 11 + (columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
        cells = [[*tags[y, x : x + 2], *tags[y + 1, x : x + 2][::-1]] for y in range(rows) for x in range(columns)]
        lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$Nodes", f"1 {tags.size} 11 {tags.max()}", f"2 1 0 {tags.size}"]
        lines += [str(tag) for tag in tags.flat] + [f"{x} {y} 0" for y in range(rows + 1) for x in range(columns + 1)]
        lines += ["$EndNodes", "$Elements", f"2 {columns + len(cells)} 1 99", f"1 1 1 {columns}"]
        lines += [f"{x + 1} {tags[0, x]} {tags[0, x + 1]}" for x in range(columns)] + [f"2 1 3 {len(cells)}"]
        lines += [" ".join(map(str, [columns + 1 + i, *cell])) for i, cell in enumerate(cells)] + ["$EndElements", ""]
        (self.folder / "m.msh").write_text("\n".join(lines))
        return np.array(cells) - 11

    @alike_with_every_mpi
    def test_cells_of_a_mesh_are_vertices_with_places(self):
        cells = self.write_mesh(12, 8)
        for ranks in (0, 3):
            words = ("partition", "m.msh", "-k", "6", "--method", "orb", "-o", "p.npy", "--vtu", "p.vtu", "--json")
            report = json.loads(self.succeed(ranks, *words))
            parts = np.load(self.folder / "p.npy")
            self.assertEqual((report["graph"]["edges"], report["vtu"]), (11 * 8 + 12 * 7, "p.vtu"))
            self.assertEqual((report["cut"], report["start"]), (cut(grid(12, 8), parts), "orb"))
            vtu = read_vtu(self.folder / "p.vtu")
            np.testing.assert_array_equal(vtu["part"], parts)
            np.testing.assert_array_equal(vtu["connectivity"].reshape(-1, 4), cells)
            np.testing.assert_array_equal(vtu["offsets"], np.arange(4, 4 * 97, 4))
            np.testing.assert_array_equal(vtu["types"], np.full(96, 9))
            np.testing.assert_array_equal(vtu["points"].reshape(-1, 3)[14], [1, 1, 0])
            self.save("w.npy", np.where(np.arange(96) < 20, 3, 1))
            self.succeed(ranks, "repartition", "m.msh", "--from", "p.npy", "--weights", "w.npy", "-o", "q.npy", "--vtu", "q.vtu")
            np.testing.assert_array_equal(read_vtu(self.folder / "q.vtu")["part"], np.load(self.folder / "q.npy"))
        (self.folder / "m.msh").write_text("garbage")
        self.assertIn('m.msh:1: expected $MeshFormat, found "garbage"', self.run_plait(2, "partition", "m.msh", "-k", "2", "-o", "p.npy").stderr)

    @alike_with_every_mpi
    def test_without_a_mesh_points_have_the_parts_in_a_vtk_file(self):
        self.write("g.graph", grid(4, 4))
        places = self.save("xy.npy", np.random.default_rng(1).random((16, 2)))
        self.succeed(2, "partition", "g.graph", "-k", "3", "--points", "xy.npy", "-o", "p.npy", "--vtu", "p.vtu")
        vtu = read_vtu(self.folder / "p.vtu")
        np.testing.assert_array_equal(vtu["part"], np.load(self.folder / "p.npy"))
        np.testing.assert_array_equal(vtu["points"].reshape(-1, 3), np.column_stack([places, np.zeros(16)]))
        np.testing.assert_array_equal(vtu["types"], np.ones(16))
