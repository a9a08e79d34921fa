"""`plait multiply` against NumPy: every type and operation, ragged and empty shapes, all methods, 1 to 4 ranks."""

import json
import re

import numpy as np
from harness import DTYPES, CommandTest, alike_with_every_mpi, random_matrix

OPERATIONS = {
    "identity": lambda a: a,
    "transpose": lambda a: a.T,
    "conjugate": np.conj,
    "conjugate-transpose": lambda a: np.conj(a).T,
}
FIELDS = ["f32", "f64", "c64", "c128"]


class Multiply(CommandTest):
    def save_operand(self, name: str, shape: tuple[int, int], op: str, dtype: str, seed: int, order: str) -> np.ndarray:
        """op of what is saved has this shape; elements are small, so that single precision is exact."""
        stored = random_matrix(shape[::-1] if "transpose" in op else shape, dtype, seed)
        stored = (stored / 9).round().astype(DTYPES[dtype], order=order)
        return OPERATIONS[op](self.save(name, stored))

    def test_every_type_operation_and_method(self):
        methods = [[], ["--method", "summa"], ["--method", "cannon"], ["--method", "ring"], ["--layers", "2"]]
        for i in range(8):
            ranks, dtype = 1 + i % 4, FIELDS[(i + i // 4) % 4]
            op_a, op_b = list(OPERATIONS)[i % 4], list(OPERATIONS)[i // 2]
            rows, columns, terms = [(37, 23, 11), (5, 61, 8), (1, 3, 70)][i % 3]
            more = methods[i % 5] if ranks > 1 else []
            ranks = 4 if "cannon" in more else ranks
            with self.subTest(ranks=ranks, dtype=dtype, op_a=op_a, op_b=op_b, more=more):
                a = self.save_operand("A.npy", (rows, terms), op_a, dtype, i, "CF"[i % 2])
                b = self.save_operand("B.npy", (terms, columns), op_b, dtype, i + 100, "CF"[i // 2 % 2])
                text = self.succeed(ranks, "multiply", "A.npy", "B.npy", "-o", "C.npy", "--op-a", op_a, "--op-b", op_b,
                                    "--json", *more)  # fmt: skip
                report = json.loads(text)
                self.assertEqual((report["command"], report["ranks"], report["check"]), ("multiply", ranks, "passed"))
                c = self.load("C.npy")
                self.assertEqual(c.dtype, np.dtype(DTYPES[dtype]))
                np.testing.assert_array_equal(c, a @ b)

    def test_scalars_and_a_matrix_to_add_to(self):
        a, b = self.save("A.npy", random_matrix((9, 7), "c128", 1)), self.save("B.npy", random_matrix((7, 5), "c128", 2))
        c = self.save("C.npy", np.asfortranarray(random_matrix((9, 5), "c128", 3)))
        self.succeed(3, "multiply", "A.npy", "B.npy", "-o", "C.npy", "--alpha", "2", "--beta", "3i", "--into", "C.npy", "--quiet")
        np.testing.assert_array_equal(self.load("C.npy"), 2 * (a @ b) + 3j * c)

    def test_empty_extents(self):
        for shape in [(0, 4, 3), (3, 0, 2), (2, 3, 0)]:
            rows, columns, terms = shape
            with self.subTest(shape):
                self.save("A.npy", np.ones((rows, terms)))
                self.save("B.npy", np.ones((terms, columns)))
                self.succeed(2 if terms == 0 else 0, "multiply", "A.npy", "B.npy", "-o", "C.npy", "--quiet")
                np.testing.assert_array_equal(self.load("C.npy"), np.zeros((rows, columns)))

    @alike_with_every_mpi
    def test_matrix_market_and_one_file_for_both(self):
        lines = ["%%MatrixMarket matrix coordinate real general", "3 4 3", "1 1 2.0", "3 2 -1.5", "2 4 4.0"]
        (self.folder / "A.mtx").write_text("\n".join(lines) + "\n")
        a = np.zeros((3, 4))
        a[0, 0], a[2, 1], a[1, 3] = 2, -1.5, 4
        self.succeed(2, "multiply", "A.mtx", "A.mtx", "--op-b", "transpose", "-o", "C.npy", "--quiet")
        np.testing.assert_array_equal(self.load("C.npy"), a @ a.T)

    @alike_with_every_mpi
    def test_nan_leaves_the_check_undecided_and_is_in_the_product(self):
        a = np.ones((6, 6))
        a[2, 3] = np.nan
        self.save("A.npy", a)
        report = json.loads(self.succeed(2, "multiply", "A.npy", "A.npy", "-o", "C.npy", "--json"))
        self.assertEqual(report["check"], "undecided")
        np.testing.assert_array_equal(np.isnan(self.load("C.npy")), np.isnan(a @ a))

    @alike_with_every_mpi
    def test_the_summary_tells_how_and_how_well(self):
        self.save("A.npy", np.ones((60, 50)))
        self.save("B.npy", np.ones((50, 40)))
        text = self.succeed(4, "multiply", "A.npy", "B.npy", "-o", "C.npy", "--method", "summa", "--layers", "1")
        self.assertRegex(text, r"^C ← A·B   A is 60 x 50, B is 50 x 40, f64\n")
        self.assertRegex(text, r"\n  by        SUMMA on \d x \d ranks; .* of workspace a rank\n")
        workspace = re.search(r"; (\S+) kB of workspace", text)  # of 60 kB of matrices, tiles and what is sent and received
        self.assertLess(float(workspace[1]), 300)
        self.assertRegex(text, r"\n  took      .*, .* GFlop/s; planned in ")
        self.assertRegex(text, r"\n  moved     at most .* to a rank, \d\.\d\d× the lower bound; (operands not moved|at most .* to rearrange operands)\n")
        self.assertRegex(text, r"\n  check     passed: residual \S+ with a random vector, \S+ is rounding; ")
        self.assertRegex(text, r"\n  wrote     C.npy: 19.2 kB in ")

    def test_matrices_are_multiplied_where_they_lie(self):
        a, b = self.save("A.npy", random_matrix((9, 7), "f64", 1)), self.save("B.npy", random_matrix((5, 7), "f64", 2))
        for more, factor in [((), b.T), (("--alpha", "0"), 0 * b.T)]:
            text = self.succeed(3, "multiply", "A.npy", "B.npy", "--op-b", "transpose", "-o", "C.npy", "--method", "in-place", "--json", *more)
            np.testing.assert_array_equal(self.load("C.npy"), a @ factor)
            report = json.loads(text)
            self.assertEqual(report["arrangement"], "SUMMA in place on 3 x 1 ranks")
            self.assertEqual(report["multiplication"]["flops"], 0 if more else 2 * 9 * 7 * 5)
            self.assertEqual(report["multiplication"]["received_bytes"] > 0, not more)

    def test_a_memory_limit_is_kept_or_tells_what_is_needed(self):
        self.save("A.npy", np.ones((200, 200)))
        refused = self.run_plait(4, "multiply", "A.npy", "A.npy", "-o", "C.npy", "--memory", "100K")
        self.assertEqual(refused.status, 1)
        needed = re.search(r"--memory: 102400 bytes a rank, but .* needs (\d+) on 4 ranks", refused.stderr)
        self.assertIsNotNone(needed, refused.stderr)
        text = self.succeed(4, "multiply", "A.npy", "A.npy", "-o", "C.npy", "--memory", needed[1], "--json")
        self.assertLessEqual(json.loads(text)["workspace_bytes"], int(needed[1]))
        self.assertFalse(any("tmp" in name for name in self.files()))

    def test_cannon_wants_squares_of_ranks(self):
        self.save("A.npy", np.ones((6, 6)))
        for ranks, more, told in [
            (3, [], "there are 3 ranks, expected 1 or 4, a square, or --layers"),
            (4, ["--layers", "2"], "there are 4 ranks, expected 2 or 8, a square for each of the layers"),
        ]:
            with self.subTest(ranks=ranks, more=more):
                to_c = ["-o", "C.npy", "--method", "cannon", *more]
                refused = self.run_plait(ranks, "multiply", "A.npy", "A.npy", *to_c)
                self.assertEqual(refused.status, 1)
                self.assertIn(f"--method cannon: {told}", refused.stderr)

    @alike_with_every_mpi
    def test_mistakes_are_named_and_leave_nothing(self):
        self.save("A.npy", np.ones((6, 4)))
        self.save("whole.npy", np.ones((4, 4), dtype="i4"))
        self.save("single.npy", np.ones((4, 4), dtype="f4"))
        to_c = ("-o", "C.npy")
        rows = [
            (("A.npy", "A.npy", *to_c), 1, r"op\(A\) is 6 x 4, op\(B\) is 6 x 4"),
            (("whole.npy", "whole.npy", *to_c), 1, "whole.npy has elements of i32, expected f32, f64, c64 or c128"),
            (("A.npy", "single.npy", *to_c), 1, "single.npy has elements of f32, expected f64, as A.npy has"),
            (("A.npy", "A.npy", "--op-b", "transpose", *to_c, "--beta", "1", "--into", "A.npy"), 1,
             "--into: A.npy is 6 x 4, expected 6 x 6, the shape of the product"),
            (("A.npy", "A.npy", "--op-b", "transpose", *to_c, "--alpha", "2i"), 1, "--alpha: 2i is complex"),
            (("A.npy", "A.npy", "--op-b", "transpose", *to_c, "--layers", "3"), 1, "--layers: 3 layers of 1 x 1 are too many for 2 ranks"),
            (("A.npy", "A.npy"), 2, "-o FILE is missing, expected plait multiply A B -o FILE"),
            (("A.npy", "A.npy", *to_c, "--method", "strassen"), 2, "--method: 'strassen' is unknown; expected auto, ring, summa, cannon or in-place"),
            (("A.npy", "A.npy", "--op-b", "transpose", *to_c, "--layers", "2", "--method", "in-place"), 2,
             "--layers is 2, but --method in-place has one layer only"),
            (("A.npy", "A.npy", *to_c, "--layers", "0"), 2, "--layers: '0' is no number of layers"),
            (("A.npy", "A.npy", *to_c, "--beta", "2"), 2, "--beta is 2, but --into is missing"),
            (("A.npy", "A.npy", *to_c, "--into", "A.npy"), 2, "--into is given, but --beta is 0"),
        ]  # fmt: skip
        before = self.files()
        for arguments, status, message in rows:
            with self.subTest(arguments):
                result = self.run_plait(2 if "--layers" in arguments else 0, "multiply", *arguments)
                self.assertEqual(result.status, status, result.stderr)
                self.assertEqual(len(result.errors), 1, result.stderr)
                self.assertRegex(result.stderr, message)
                self.assertEqual(self.files(), before)
