"""`plait redistribute` against NumPy: every type, order and operation, all kinds of layouts, 1 to 4 ranks."""

import json
import os
import pty
import re
import subprocess
from itertools import product

import numpy as np
from harness import DTYPES, CommandTest, alike_with_every_mpi, random_matrix

OPERATIONS = {
    "identity": lambda b: b,
    "transpose": lambda b: b.T,
    "conjugate": np.conj,
    "conjugate-transpose": lambda b: np.conj(b).T,
}

# For each number of ranks, layouts that suit a matrix of any shape; "" is to leave the option out.
LAYOUTS = {
    1: ["", "block-cyclic:3x2@1x1", "cols@1"],
    2: ["", "block-cyclic:5x4@2x1", "rows@2,storage=col", "blocks@1x2,ranks=1,0"],
    3: ["", "cols@3", "block-cyclic:4x7@1x3,src=0,2,storage=row", "rows@3,ranks=2,0,1"],
    4: ["", "block-cyclic:3x5@2x2,order=col", "blocks@2x2", "rows@2", "cols@4,storage=row"],
}


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """The same type and the same bits."""
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    np.testing.assert_array_equal(actual, expected)


class Redistribute(CommandTest):
    def moved(self, ranks: int, *options: str) -> dict:
        """The report of a job from B.npy to A.npy, after a look at what it should say of any."""
        report = json.loads(self.succeed(ranks, "redistribute", "B.npy", "--json", *options))
        self.assertEqual((report["command"], report["ranks"], report["check"]), ("redistribute", max(ranks, 1), "passed"))
        bytes_of_matrix = np.prod(report["shape"]) * np.dtype(DTYPES[report["dtype"]]).itemsize
        moved = report["redistribution"]
        self.assertEqual(moved["bytes"], bytes_of_matrix)
        self.assertEqual(sum(moved[where]["bytes"] for where in ("self", "node", "network")), bytes_of_matrix)
        self.assertEqual(moved["node"]["messages"] == 0, moved["node"]["bytes"] == 0)
        self.assertEqual(report["write"]["bytes"], bytes_of_matrix)
        for stage in (report["read"], report["write"], moved):
            self.assertGreaterEqual(stage["seconds"], 0)
        return report

    def test_every_type_order_and_operation(self):
        orders = list(product("CF", "<>"))
        for i, dtype in enumerate(DTYPES):
            ranks = 1 + i % 4
            order, byte_order = orders[(i + i // 4) % 4]
            operation = list(OPERATIONS)[(i // 2) % 4]
            shape = [(37, 23), (8, 61), (40, 40)][i % 3]
            source, target = (LAYOUTS[ranks][(i // 4 + k) % len(LAYOUTS[ranks])] for k in (1, 2))
            with self.subTest(dtype=dtype, ranks=ranks, order=order, byte_order=byte_order, op=operation):
                b = random_matrix(shape, dtype, seed=i)
                stored = b.astype(np.dtype(DTYPES[dtype]).newbyteorder(byte_order), order=order)
                np.save(self.folder / "B.npy", stored)
                layouts = (["--from", source] if source else []) + (["--to", target] if target else [])
                report = self.moved(ranks, "-o", "A.npy", "--op", operation, *layouts)
                a = self.load("A.npy")
                assert_same(a, OPERATIONS[operation](b))
                self.assertTrue(a.flags.f_contiguous if order == "F" else a.flags.c_contiguous)
                self.assertEqual((report["dtype"], report["input"]["order"]), (dtype, order))
                self.assertEqual(report["output"]["shape"], list(a.shape))
                self.assertEqual((report["from"], report["to"]), (source or report["from"], target or report["to"]))

    def test_complex_operations_conjugate(self):
        b = self.save("B.npy", random_matrix((9, 14), "c64", seed=1))
        for operation in ("conjugate", "conjugate-transpose"):
            with self.subTest(operation):
                self.moved(2, "-o", "A.npy", "--op", operation, "--to", "blocks@1x2")
                assert_same(self.load("A.npy"), np.ascontiguousarray(OPERATIONS[operation](b)))

    def test_many_layouts_on_four_ranks(self):
        b = self.save("B.npy", random_matrix((53, 47), "f32", seed=2))
        for source, target in zip(LAYOUTS[4][1:], LAYOUTS[4][2:] + LAYOUTS[4][1:2]):
            with self.subTest(source=source, target=target):
                self.moved(4, "-o", "A.npy", "--op", "transpose", "--from", source, "--to", target)
                assert_same(self.load("A.npy"), b.T)

    def test_sums_with_a_matrix_that_was_there(self):
        cases = [
            (2, "f64", "transpose", "-3", "0.5", -3.0, 0.5),
            (3, "c128", "conjugate-transpose", "1+2i", "-0.5i", 1 + 2j, -0.5j),
            (2, "i32", "identity", "2000000000", "-3", np.int32(2000000000), np.int32(-3)),
            (0, "u8", "transpose", "200", "3", np.uint8(200), np.uint8(3)),
        ]
        for ranks, dtype, operation, alpha, beta, alpha_value, beta_value in cases:
            with self.subTest(dtype=dtype, op=operation):
                b = self.save("B.npy", random_matrix((12, 17), dtype, seed=3))
                of_b = OPERATIONS[operation](b)
                old = random_matrix(of_b.shape, dtype, seed=4)
                self.save("A.npy", np.asfortranarray(old))  # the order of A as it was is its own affair
                self.moved(ranks, "-o", "A.npy", "--into", "A.npy", "--op", operation, "--alpha", alpha, "--beta", beta)
                with np.errstate(over="ignore"):
                    assert_same(self.load("A.npy"), (alpha_value * of_b + beta_value * old).astype(old.dtype))

    def test_a_file_may_be_replaced_by_its_transpose(self):
        b = self.save("B.npy", random_matrix((20, 30), "i64", seed=5))
        self.moved(2, "-o", "B.npy", "--op", "transpose")
        assert_same(self.load("B.npy"), b.T)
        self.assertEqual(self.files(), {"B.npy"})

    def test_matrices_without_elements(self):
        for shape in [(0, 5), (5, 0), (1, 1)]:
            with self.subTest(shape):
                b = self.save("B.npy", np.ones(shape))
                self.moved(3, "-o", "A.npy", "--op", "transpose", "--to", "cols@3")
                assert_same(self.load("A.npy"), b.T)

    @alike_with_every_mpi
    def test_not_a_number_leaves_sums_undecided(self):
        b = np.ones((4, 5))
        b[2, 3] = np.nan
        self.save("B.npy", b)
        report = json.loads(self.succeed(0, "redistribute", "B.npy", "-o", "A.npy", "--alpha", "2", "--json"))
        self.assertEqual(report["check"], "undecided")
        assert_same(self.load("A.npy"), 2 * b)

    @alike_with_every_mpi
    def test_what_a_zero_multiplies_may_be_anything(self):
        self.save("B.npy", np.full((4, 5), np.nan))
        old = self.save("C.npy", random_matrix((4, 5), "f64", seed=12))
        for options, expected in [(("--beta", "-2", "--into", "C.npy", "--to", "cols@2"), -2 * old), ((), 0 * old)]:
            with self.subTest(options):
                job = ("redistribute", "B.npy", "-o", "A.npy", "--alpha", "0", "--json", *options)
                report = json.loads(self.succeed(2, *job))
                self.assertEqual((report["check"], report["redistribution"]["bytes"]), ("passed", 0))
                assert_same(self.load("A.npy"), expected)

    def test_little_staging_memory_is_enough(self):
        b = self.save("B.npy", random_matrix((300, 200), "f64", seed=6))
        self.moved(3, "-o", "A.npy", "--op", "transpose", "--to", "block-cyclic:7x9@3x1", "--memory", "4K")
        assert_same(self.load("A.npy"), b.T)

    @alike_with_every_mpi
    def test_a_matrix_market_file_becomes_an_npy_file_in_fortran_order(self):
        text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 5\n3 1 -2.5\n2 2 1e3\n"
        (self.folder / "B.npy").write_text(text)  # told by its content, not by its name
        report = self.moved(2, "-o", "A.npy", "--to", "rows@2")
        self.assertEqual(report["input"]["format"], "Matrix Market")
        a = self.load("A.npy")
        assert_same(a, np.array([[5, 0, -2.5], [0, 1000, 0], [-2.5, 0, 0]]))
        self.assertTrue(a.flags.f_contiguous)

    def reassembled(self, folder: str) -> np.ndarray:
        """The matrix from the files that the ranks wrote, as layout.json says."""
        description = json.loads((self.folder / folder / "layout.json").read_text())
        matrix = np.zeros(description["shape"], DTYPES[description["dtype"]])

        def indices(ranges: list[list[int]]) -> list[int]:
            return [i for begin, end in ranges for i in range(begin, end)]

        for file in description["files"]:
            tile = self.load(f"{folder}/{file['file']}")
            self.assertEqual(list(tile.shape), file["shape"])
            if min(tile.shape) > 1:
                by_rows = description["storage"] == "row"
                self.assertTrue(tile.flags.c_contiguous if by_rows else tile.flags.f_contiguous)
            rows = indices(description["row_parts"][file["row_part"]])
            columns = indices(description["column_parts"][file["column_part"]])
            matrix[np.ix_(rows, columns)] = tile
        return matrix

    def test_the_parts_of_the_ranks_make_up_the_matrix(self):
        b = self.save("B.npy", random_matrix((31, 22), "c64", seed=7))
        tiling = {
            "row_splits": [0, 4, 4, 22], "column_splits": [0, 11, 31], "owners": [[2, 0], [1, 1], [0, 2]],
            "storage": "row",
        }  # fmt: skip
        (self.folder / "tiling.json").write_text(json.dumps(tiling))
        for ranks, layout, files in [
            (4, "block-cyclic:3x4@2x2,order=col", 4),
            (3, "custom:tiling.json", 6),
            (2, "", 2),
            (4, "rows@2", 2),
        ]:
            with self.subTest(ranks=ranks, layout=layout):
                folder = f"parts-{ranks}-{files}/of it"
                options = ["--to", layout] if layout else []
                report = self.moved(ranks, "--per-rank", folder, "--op", "conjugate-transpose", *options)
                self.assertEqual((report["output"]["path"], report["output"]["per_rank"]), (folder, True))
                assert_same(self.reassembled(folder), np.conj(b).T)
                self.assertEqual(len(list((self.folder / folder).iterdir())), files + 1)

    @alike_with_every_mpi
    def test_parts_of_an_earlier_matrix_are_removed(self):
        b = self.save("B.npy", random_matrix((9, 4), "i16", seed=10))
        self.moved(4, "--per-rank", "parts", "--to", "block-cyclic:2x2@2x2")
        own = {"mine.npy", "rank-0009.npy", "rank-0000-tile-0000.npy"}  # which no layout.json lists
        for name in own:
            (self.folder / "parts" / name).touch()
        self.moved(2, "--per-rank", "parts")
        assert_same(self.reassembled("parts"), b)
        names = {path.name for path in (self.folder / "parts").iterdir()}
        self.assertEqual(names, {"rank-0000.npy", "rank-0001.npy", "layout.json"} | own)

    @alike_with_every_mpi
    def test_a_foreign_layout_file_lists_nothing_to_remove(self):
        b = self.save("B.npy", random_matrix((9, 4), "i16", seed=11))
        (self.folder / "parts/rank-0005.npy").mkdir(parents=True)
        (self.folder / "rank-0006.npy").touch()
        entries = [7, {"file": 8}, {"file": "../rank-0006.npy"}, {"file": "rank-0005.npy"}, {"file": "../B.npy"}]
        endless = [{"file": f"rank-{'0' * 1000000}.npy"}]
        for text in ("", "no JSON", "[]", '{"files": 3}', json.dumps({"files": entries}), json.dumps({"files": endless})):
            with self.subTest(text[:99]):
                (self.folder / "parts/layout.json").write_text(text)
                self.moved(2, "--per-rank", "parts")
                assert_same(self.reassembled("parts"), b)
                self.assertLessEqual({"B.npy", "rank-0006.npy", "parts/rank-0005.npy"}, self.files())

    def test_an_empty_matrix_of_many_lines_moves_at_once(self):
        most = 2**58
        header = {"descr": "<i2", "fortran_order": False, "shape": (most, 0)}
        with open(self.folder / "B.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
        entries = f"%%MatrixMarket matrix coordinate real general\n0 {most} 0\n"
        (self.folder / "B.mtx").write_text(entries)
        for name, options, shape in [
            ("B.npy", ("--from", "block-cyclic:1x1@2x1", "--to", "cols@2"), (most, 0)),
            ("B.npy", ("--op", "transpose", "--to", "block-cyclic:3x1@1x2"), (0, most)),
            ("B.mtx", ("--from", "blocks@2x1", "--to", "block-cyclic:1x1@1x2,storage=row"), (0, most)),
        ]:
            with self.subTest(name=name, options=options):
                self.succeed(2, "redistribute", name, "-o", "A.npy", "--quiet", *options)
                self.assertEqual(self.load("A.npy").shape, shape)

    def test_custom_layouts_move_as_others_do(self):
        b = self.save("B.npy", random_matrix((10, 8), "i16", seed=8))
        tiling = {"row_splits": [0, 1, 7, 10], "column_splits": [0, 3, 8], "owners": [[1, 0], [0, 2], [2, 2]]}
        (self.folder / "t.json").write_text(json.dumps(tiling))
        self.moved(3, "-o", "A.npy", "--op", "transpose", "--from", "custom:t.json", "--to", "cols@3")
        assert_same(self.load("A.npy"), b.T)

    @alike_with_every_mpi
    def test_the_summary_tells_people_what_was_done(self):
        self.save("B.npy", random_matrix((60, 40), "f64", seed=9))
        self.save("C.npy", np.ones((40, 60)))
        text = self.succeed(2, "redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--to", "blocks@2x1,ranks=1,0",
                            "--alpha", "2", "--beta", "-1", "--into", "C.npy")  # fmt: skip
        for pattern in [
            "^A ← 2·transpose\\(B\\) - A   B is 60 x 40, f64$",
            "^  from +rows@2$",
            "^  to +blocks@2x1,ranks=1,0$",
            "^  check +passed: checksums equal to rounding; .*s$",
            r"^  moved +19.2 kB in .*B/s; planned in ",
            r"^ +.*B within ranks, .*B within nodes \(\d+ messages?\)$",
            "^  arranged +the old A for --to, A for the file: 38.4 kB in .*B/s$",
            "^  read +C.npy and B.npy: 38.4 kB in ",
            "^  wrote +A.npy: 19.2 kB in ",
            "^  total +",
        ]:
            self.assertRegex(text, f"(?m){pattern}")

    def test_progress_is_told_in_lines_when_asked_for_and_never_when_quiet(self):
        self.save("B.npy", np.ones((60, 40)))
        result = self.run_plait(2, "redistribute", "B.npy", "-o", "A.npy", "--progress", "--to", "cols@2")
        self.assertEqual(result.status, 0)
        for stage in ("reading B.npy", "redistributing", "arranging A for the file", "writing A.npy"):
            self.assertRegex(result.stderr, rf"(?m)^plait: \d+\.\d s: {stage}, 19.2 kB$")
        result = self.run_plait(2, "redistribute", "B.npy", "-o", "A.npy", "--progress", "--quiet")
        self.assertEqual((result.status, result.stdout, result.stderr), (0, "", ""))

    @alike_with_every_mpi
    def test_the_formula_is_written_as_people_write_it(self):
        self.save("B.npy", np.ones((3, 3), "c16"))
        self.save("C.npy", np.ones((3, 3), "c16"))
        for alpha, beta, formula, values in [
            ("1", "1", "B + A", ([1, 0], [1, 0])),
            ("-1", "-0.5", "-B - 0.5·A", ([-1, 0], [-0.5, 0])),
            ("+2", "1e-3", "2·B + 1e-3·A", ([2, 0], [1e-3, 0])),
            ("-i", "(1,2)", "(-i)·B + (1,2)·A", ([0, -1], [1, 2])),
        ]:
            with self.subTest(alpha=alpha, beta=beta):
                job = ("redistribute", "B.npy", "-o", "A.npy", "--into", "C.npy", "--alpha", alpha, "--beta", beta)
                self.assertRegex(self.succeed(0, *job), rf"^A ← {re.escape(formula)}   B is 3 x 3, c128\n")
                report = json.loads(self.succeed(0, *job, "--json"))
                self.assertEqual((report["alpha"], report["beta"]), values)
        b = self.save("B.npy", np.ones((3, 3), "u8"))
        report = self.moved(0, "-o", "A.npy", "--alpha", str(2**64 - 1))
        self.assertEqual((report["alpha"], report["beta"]), (2**64 - 1, 0))
        assert_same(self.load("A.npy"), np.uint64(2**64 - 1) * b)

    @alike_with_every_mpi
    def test_the_parts_of_the_time_add_up(self):
        self.save("B.npy", np.ones((1500, 1000)))
        report = self.moved(2, "-o", "A.npy", "--from", "blocks@1x2", "--to", "cols@2")
        self.assertEqual(report["arrange"]["bytes"], 2 * 1500 * 1000 * 8)
        parts = [report[part]["seconds"] for part in ("read", "write", "arrange", "redistribution")]
        parts += [report["check_seconds"], report["redistribution"]["plan_seconds"]]
        self.assertGreater(min(parts), 0)
        self.assertLessEqual(sum(parts), report["seconds"])

    def test_relabeling_moves_less_to_the_same_end(self):
        b = self.save("B.npy", random_matrix((60, 40), "f64", seed=12))
        layouts = ["--from", "block-cyclic:15x10@2x2", "--to", "block-cyclic:20x10@2x2,order=col"]
        before = self.moved(4, "-o", "A.npy", *layouts)["redistribution"]
        report = self.moved(4, "-o", "A.npy", *layouts, "--relabel")
        assert_same(self.load("A.npy"), b)
        self.assertEqual(sorted(report["permutation"]), [0, 1, 2, 3])
        moved = [part["node"]["bytes"] + part["network"]["bytes"] for part in (before, report["redistribution"])]
        self.assertEqual(moved, [report["relabeled"]["volume_bytes_before"], report["relabeled"]["volume_bytes"]])
        self.assertLess(moved[1], moved[0])

        self.moved(4, "--per-rank", "parts", *layouts, "--relabel")
        assert_same(self.reassembled("parts"), b)
        text = self.succeed(4, "redistribute", "B.npy", "-o", "A.npy", *layouts, "--relabel")
        self.assertRegex(text, r"(?m)^  relabeled +\S+ \S+ between ranks instead of ")
        self.assertRegex(text, r"(?m)^ +\d+.\d\d % less; \d of 4 ranks change roles \(found in ")

    def test_progress_is_a_bar_on_a_terminal(self):
        self.save("B.npy", np.ones((60, 40)))
        terminal, end = pty.openpty()
        words = self.words(0, "redistribute", "B.npy", "-o", "A.npy", "--progress")
        process = subprocess.run(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=end)
        os.close(end)
        drawn = os.read(terminal, 100000).decode()
        os.close(terminal)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(drawn, r"\r\[=* *\] +\d+ %  reading B.npy  0 s")
        self.assertTrue(drawn.endswith("\r\x1b[K"), repr(drawn[-40:]))
        # Unless the terminal is told so, what is too long for its line goes on in the next one.
        self.assertEqual(re.findall(r"\x1b\[\?7[lh]|\[=* *\]|reading B.npy", drawn)[:4],
                         ["\x1b[?7l", "[                              ]", "reading B.npy", "\x1b[?7h"])  # fmt: skip
