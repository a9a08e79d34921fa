"""`plait balance` and `plait barycentre` against NumPy: results, masked rows, and every way they can fail."""

import json

import numpy as np
from harness import CommandTest, alike_with_every_mpi


def contacts(n: int, seed: int) -> np.ndarray:
    """Counts that fall off with the distance, each bin with a bias of its own; some bins are empty."""
    random = np.random.default_rng(seed)
    bias = random.random(n) + 0.3
    mean = 500 * np.outer(bias, bias) / (1 + np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    counts = np.triu(random.poisson(mean)).astype("f8")
    counts = counts + np.triu(counts, 1).T
    for empty in (0, n // 2):
        counts[empty, :] = counts[:, empty] = 0
    return counts


def balanced(matrix: np.ndarray) -> np.ndarray:
    """Rows and columns in turns: the limit is the only scaling with these sums, so it is the symmetric one."""
    kept = matrix.sum(0) > 0
    plan = matrix[np.ix_(kept, kept)].copy()
    for _ in range(500):
        plan /= plan.sum(0)[None, :]
        plan /= plan.sum(1)[:, None]
    whole = np.zeros_like(matrix)
    whole[np.ix_(kept, kept)] = plan
    return whole


class Balance(CommandTest):
    def setUp(self):
        super().setUp()
        self.counts = self.save("A.npy", contacts(41, seed=1))
        self.expected = balanced(self.counts)

    def test_factors_and_matrix_from_every_kind_of_file(self):
        self.save("AF.npy", np.asfortranarray(self.counts))
        self.save("A32.npy", self.counts.astype("f4"))
        rows, columns = np.nonzero(np.tril(self.counts))
        lines = [f"{i + 1} {j + 1} {int(self.counts[i, j])}\n" for i, j in zip(rows, columns)]
        (self.folder / "A.mtx").write_text(
            f"%%MatrixMarket matrix coordinate integer symmetric\n41 41 {len(lines)}\n{''.join(lines)}"
        )
        for ranks, path, dtype in [(0, "A.npy", "f8"), (3, "AF.npy", "f8"), (2, "A.mtx", "f8"), (2, "A32.npy", "f4")]:
            with self.subTest(path):
                words = ("-o", "x.npy", "--matrix", "B.npy", "--tolerance", "1e-12")
                report = json.loads(self.succeed(ranks, "balance", path, *words, "--json"))
                self.assertEqual((report["status"], report["masked"], report["sum"]), ("converged", 2, 1))
                self.assertLess(report["iterations"], 100)
                x, matrix = self.load("x.npy"), self.load("B.npy")
                self.assertEqual((x.shape, matrix.dtype.str[1:]), ((41, 1), dtype))
                np.testing.assert_array_equal(np.flatnonzero(np.isnan(x)), [0, 20])
                np.testing.assert_allclose(matrix, self.expected, rtol=1e-9 if dtype == "f8" else 1e-5)
                np.testing.assert_allclose(np.nan_to_num(x * self.counts * x.T), self.expected, rtol=1e-9)

    def read_coordinates(self, name: str) -> tuple[str, np.ndarray]:
        banner, size, *lines = (self.folder / name).read_text().splitlines()
        rows, columns, entries = map(int, size.split())
        self.assertEqual(len(lines), entries)
        matrix = np.zeros((rows, columns))
        for line in lines:
            i, j, value = line.split()
            matrix[int(i) - 1, int(j) - 1] = float(value)
        return banner, matrix

    def test_a_sparse_matrix_stays_sparse_and_symmetric(self):
        for symmetry, kept in (("symmetric", np.tril(self.counts)), ("general", self.counts)):
            rows, columns = np.nonzero(kept)
            lines = "".join(f"{i + 1} {j + 1} {kept[i, j]}\n" for i, j in zip(rows, columns, strict=True))
            (self.folder / "A.mtx").write_text(f"%%MatrixMarket matrix coordinate real {symmetry}\n41 41 {len(rows)}\n{lines}")
            for ranks, precision in ((0, "f64"), (3, "mixed")):
                with self.subTest(symmetry=symmetry, ranks=ranks):
                    words = ("-o", "x.npy", "--matrix", "B.mtx", "--tolerance", "1e-12", "--precision", precision)
                    report = json.loads(self.succeed(ranks, "balance", "A.mtx", *words, "--json"))
                    self.assertEqual((report["status"], report["masked"], report["entries"]), ("converged", 2, len(rows)))
                    banner, matrix = self.read_coordinates("B.mtx")
                    self.assertEqual(banner, f"%%MatrixMarket matrix coordinate real {symmetry}")
                    if symmetry == "symmetric":
                        self.assertFalse(np.triu(matrix, 1).any())
                        matrix = matrix + np.tril(matrix, -1).T
                    np.testing.assert_array_equal(matrix, matrix.T)
                    np.testing.assert_allclose(matrix, self.expected, rtol=1e-9 if precision == "f64" else 1e-5)
                    x = np.nan_to_num(self.load("x.npy"))
                    np.testing.assert_allclose(x * self.counts * x.T, self.expected, rtol=1e-9)
                    self.assertEqual(report["input_rounding"], 2.0**-24 if precision == "mixed" else 0)
        text = self.succeed(0, "balance", "A.mtx", "-o", "x.npy", "--precision", "mixed")
        self.assertIn("  rounded   A.mtx to f32, each entry by up to 6e-08 of itself: the check is of the rounded matrix\n", text)
        text = self.succeed(0, "balance", "A.mtx", "--matrix", "A.mtx")
        self.assertRegex(text, r"A is 41 x 41, sparse: \d+ entries in the file, f64; rows of B sum up to 1\n")
        result = self.run_plait(0, "balance", "A.npy", "--matrix", "B.mtx")
        self.assertIn("--matrix: B.mtx would be a sparse matrix, but A.npy is dealt with as a dense matrix", result.stderr)

    @alike_with_every_mpi
    def test_the_support_of_sparse_matrices_is_decided(self):
        files = {
            "star": "pattern symmetric\n9 9 3\n5 3\n6 3\n8 3\n",
            "slow": "pattern symmetric\n6 6 2\n4 4\n6 4\n",
            "skew": "real general\n3 3 4\n1 1 1\n1 3 2\n3 1 3\n2 2 1\n",
            "half": "real general\n3 3 3\n1 1 1\n1 3 2\n2 2 1\n",
        }
        for name, text in files.items():
            (self.folder / f"{name}.mtx").write_text(f"%%MatrixMarket matrix coordinate {text}")
        for name, message in [
            ("star", "no support: 3 of the rows must sum up to 3, .* 1 of the columns.*; nothing was written"),
            ("skew", "the entry in row 0, column 2 is 2, that in row 2, column 0 is 3, expected a symmetric matrix"),
            ("half", "the entry in row 0, column 2 is 2, that in row 2, column 0 is 0, expected a symmetric matrix"),
        ]:
            with self.subTest(name):
                result = self.run_plait(2, "balance", f"{name}.mtx", "-o", "x.npy")
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], message)
        result = self.run_plait(2, "balance", "slow.mtx", "-o", "x.npy", "--max-iterations", "10")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.stderr, "no total support: .*; the entry in row 3, column 3 and 0 others are in no such matrix")

    @alike_with_every_mpi
    def test_the_matrix_is_as_symmetric_as_what_it_came_from_and_names_are_those_of_the_file(self):
        self.succeed(2, "balance", "A.npy", "--matrix", "B.npy", "--quiet")
        np.testing.assert_array_equal(self.load("B.npy"), self.load("B.npy").T)
        self.save("skewF.npy", np.asfortranarray(np.array([[1.0, 2, 3], [2, 1, 4], [3, 5, 1]])))
        self.save("wideF.npy", np.asfortranarray(np.ones((2, 3))))
        self.assertRegex(self.run_plait(0, "balance", "skewF.npy", "-o", "x.npy").stderr, "row 2, column 1 is 5, that in row 1, column 2 is 4|row 1, column 2 is 4, that in row 2, column 1 is 5")
        self.assertIn("the matrix is 2 x 3, expected", self.run_plait(0, "balance", "wideF.npy", "-o", "x.npy").stderr)

    @alike_with_every_mpi
    def test_the_summary_and_the_scale(self):
        text = self.succeed(2, "balance", "A.npy", "--matrix", "A.npy", "--sum", "41")
        self.assertRegex(text, r"A is 41 x 41, f64; rows of B sum up to 41\n  masked    2 of 41 rows without entries\n  status    converged: ")
        np.testing.assert_allclose(self.load("A.npy").sum(1)[1:20], np.full(19, 41), rtol=1e-7)

    @alike_with_every_mpi
    def test_what_can_not_be_is_said(self):
        star = np.zeros((4, 4))
        star[0, 1:] = star[1:, 0] = 1
        self.save("star.npy", star)
        self.save("slow.npy", np.array([[1.0, 1], [1, 0]]))
        self.save("skew.npy", np.array([[1.0, 2, 3], [2, 1, 4], [3, 5, 1]]))
        self.save("wide.npy", np.ones((2, 3)))
        self.save("negative.npy", np.array([[1.0, -2], [-2, 1]]))
        self.save("zeros.npy", np.zeros((3, 3)))
        before = self.files()
        for ranks, path, message in [
            (0, "slow.npy --sum 1e-300", "factors or sums left the range of double in iteration 2; nothing was written"),
            (2, "zeros.npy", "zeros.npy: all entries are 0, expected one above"),
            (2, "star.npy", "no support: 3 of the rows must sum up to 3, .* 1 of the columns.*; nothing was written"),
            (3, "skew.npy", "the entry in row 1, column 2 is 4, that in row 2, column 1 is 5, expected a symmetric matrix"),
            (2, "wide.npy", "the matrix is 2 x 3, expected as many rows as columns"),
            (0, "negative.npy", "the entry in row 0, column 1 is -2, expected a finite number >= 0"),
        ]:
            with self.subTest(path):
                result = self.run_plait(ranks, "balance", *path.split(), "-o", "x.npy")
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], message)
                self.assertEqual(self.files(), before)
        result = self.run_plait(0, "balance", "slow.npy", "-o", "x.npy", "--max-iterations", "10")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.stderr, "warning: iteration limit: .* no total support: 1 of the rows")
        for words, message in [
            ((), "none of -o FILE, --matrix FILE is given, expected plait balance IN (-o FILE | --matrix FILE) [OPTIONS]"),
            (("-o", "x.npy", "--matrix", "x.npy"), "x.npy: is the file of -o and the file of --matrix, expected different files"),
            (("-o", "x.npy", "--sum", "0"), "--sum: 0 is not positive"),
            (("-o", "x.npy", "--precision", "bf16"), "'bf16' is unknown; expected auto, f64 or mixed"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "balance", "A.npy", *words)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertIn(message, result.stderr)


class Barycentre(CommandTest):
    def setUp(self):
        super().setUp()
        self.cost = self.save("C.npy", np.subtract.outer(np.linspace(0, 1, 19), np.linspace(0, 1, 12)) ** 2)
        self.masses = self.save("B.npy", np.random.default_rng(2).dirichlet(np.ones(12), 2).T)

    @alike_with_every_mpi
    def test_it_is_that_of_iterative_projections(self):
        kernel = np.exp(-self.cost / 0.05)
        u = np.ones((19, 2))
        for _ in range(3000):
            sums = kernel @ (self.masses / (kernel.T @ u))
            mean = np.exp(np.log(sums) @ [0.7, 0.3])
            u = mean[:, None] / sums
        self.save("w.npy", np.array([0.7, 0.3]))
        text = self.succeed(3, "barycentre", "C.npy", "--histograms", "B.npy", "--weights", "w.npy", "--epsilon", "0.05", "-o", "a.npy", "--tolerance", "1e-11")
        self.assertRegex(text, r"^barycentre of 2 histograms   C is 19 x 12, f64, epsilon 0.05\n  costs     \S+, \S+\n  method    factors\n  status    converged")
        np.testing.assert_allclose(self.load("a.npy")[:, 0], mean, rtol=1e-8)
        self.save("CF.npy", np.asfortranarray(self.cost))
        self.succeed(2, "barycentre", "CF.npy", "--histograms", "B.npy", "--weights", "w.npy", "--epsilon", "0.05", "-o", "a.npy", "--tolerance", "1e-11")
        np.testing.assert_allclose(self.load("a.npy")[:, 0], mean, rtol=1e-8)

    def test_between_points_it_is_that_of_their_costs(self):
        points = ("--points", self.saved("X.npy", np.linspace(0, 1, 19)[:, None]), self.saved("Y.npy", np.linspace(0, 1, 12)[:, None]))
        rest = ("--histograms", "B.npy", "--epsilon", "0.02", "--tolerance", "1e-11")
        stored = json.loads(self.succeed(2, "barycentre", "C.npy", *rest, "--method", "logarithms", "-o", "a.npy", "--json"))
        made = json.loads(self.succeed(3, "barycentre", *points, *rest, "-o", "b.npy", "--report", "R.html", "--json"))
        np.testing.assert_allclose(self.load("b.npy"), self.load("a.npy"), rtol=1e-9)
        np.testing.assert_allclose(made["costs"], stored["costs"], rtol=1e-9)
        self.assertEqual(made["input"], {"points": ["X.npy", "Y.npy"], "metric": "sqeuclidean"})
        self.assertEqual((made["shape"], made["status"]), ([19, 12], "converged"))
        text = self.succeed(0, "barycentre", *points, *rest, "-o", "b.npy", "--metric", "cityblock")
        self.assertRegex(text, r"\n  read      X.npy: 19 x 1 of f64, Y.npy: 12 x 1 of f64 in ")
        self.assertRegex(text, r"^barycentre of 2 histograms   C = cityblock of 19 and 12 points, f64, epsilon 0.02\n")

    def test_a_vector_is_one_histogram(self):
        column = self.masses[:, :1]
        rest = ("--epsilon", "0.05", "--tolerance", "1e-10", "-o", "a.npy")
        self.save("column.npy", column)
        self.succeed(0, "barycentre", "C.npy", "--histograms", "column.npy", *rest)
        expected = self.load("a.npy")
        for ranks, shape in [(2, (12,)), (3, (1, 12))]:
            with self.subTest(shape):
                self.save("h.npy", column.reshape(shape))
                text = self.succeed(ranks, "barycentre", "C.npy", "--histograms", "h.npy", *rest)
                self.assertRegex(text, "^barycentre of 1 histograms ")
                np.testing.assert_allclose(self.load("a.npy"), expected, rtol=1e-12)

    def saved(self, name: str, array: np.ndarray) -> str:
        self.save(name, array)
        return name

    @alike_with_every_mpi
    def test_what_can_not_be_is_said(self):
        self.save("heavy.npy", self.masses * [1, 2])
        self.save("h.npy", np.ones(11) / 11)
        self.save("X.npy", np.ones((19, 1)))
        self.save("Y.npy", np.ones((12, 2)))
        self.save("w.npy", np.array([0.5, 0.6]))
        for words, message in [
            (("C.npy", "--histograms", "C.npy", "--epsilon", "1"), "--histograms: C.npy is 19 x 12, expected 12 rows, one for each column"),
            (("C.npy", "--histograms", "h.npy", "--epsilon", "1"), "--histograms: h.npy is 11 x 1, expected 12 rows"),
            (("--points", "X.npy", "Y.npy", "--histograms", "B.npy", "--epsilon", "1"), "--points: the points of X.npy have 1 coordinates, those of Y.npy have 2"),
            (("C.npy", "--histograms", "heavy.npy", "--epsilon", "1"), r"histogram 1 has the mass \S+ in all, the first one"),
            (("C.npy", "--histograms", "B.npy", "--weights", "w.npy", "--epsilon", "1"), "the weights add up to 1.1, expected 1"),
            (("C.npy", "--histograms", "B.npy", "--epsilon", "1e-6", "--method", "factors"), "numerical limit: epsilon is 1e-06, expected .*; nothing was written"),
        ]:
            with self.subTest(words):
                result = self.run_plait(2, "barycentre", *words, "-o", "a.npy")
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], message)
                self.assertNotIn("a.npy", self.files())
        for words, message in [
            (("--epsilon", "1"), "none of IN, --points X Y, --images A ... is given"),
            (("C.npy", "--points", "X.npy", "X.npy", "--epsilon", "1"), "--points is given, and so is IN (C.npy), expected one of them"),
            (("--points", "X.npy", "X.npy", "--epsilon", "1", "--precision", "mixed"), "--precision is mixed, expected f64 with --points"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "barycentre", *words, "--histograms", "B.npy", "-o", "a.npy")
                self.assertEqual(result.status, 2, result.stderr)
                self.assertIn(message, result.stderr)
