"""`plait sinkhorn` and `plait transport` against NumPy: plans, factors and potentials, and every way they can fail."""

import itertools
import json
import os
import re

import numpy as np
from harness import CommandTest, alike_with_every_mpi


def marginals(rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    r, c = random.random(rows) + 0.2, random.random(columns) + 0.2
    return r / r.sum(), c / c.sum()


def scaled(k: np.ndarray, r: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rows and columns in turns, until nothing changes any more."""
    plan = k.astype("f8")
    for _ in range(500):
        plan *= (c / plan.sum(0))[None, :]
        plan *= (r / plan.sum(1))[:, None]
    return plan


class Sinkhorn(CommandTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.k = self.save("K.npy", random.random((37, 23)) + 0.1)
        self.r, self.c = marginals(37, 23, seed=2)
        self.save("r.npy", self.r)
        self.save("c.npy", self.c.reshape(1, -1))  # a row is a vector, too
        self.plan = scaled(self.k, self.r, self.c)

    def report(self, ranks: int, *arguments: str) -> dict:
        return json.loads(self.succeed(ranks, *arguments, "--json"))

    def test_plans_of_both_forms_and_orders(self):
        self.save("KF.npy", np.asfortranarray(self.k))
        given = ("--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy", "--tolerance", "1e-13")
        vectors = ("--row-factors", "u.npy", "--column-factors", "v.npy")
        for ranks, path, form in [(0, "K.npy", "scaling"), (3, "KF.npy", "scaling"), (2, "K.npy", "in-place")]:
            with self.subTest(path=path, form=form):
                report = self.report(ranks, "sinkhorn", path, *given, *vectors, "--method", form)
                self.assertEqual((report["status"], report["method"], report["ranks"]), ("converged", form, max(ranks, 1)))
                self.assertLessEqual(report["error"], 1e-13)
                self.assertEqual(report["error"], report["errors"][-1])
                self.assertLess(max(report["check"]["rows"], report["check"]["columns"]), 1e-12)
                plan, u, v = self.load("P.npy"), self.load("u.npy"), self.load("v.npy")
                self.assertEqual((plan.dtype, u.shape, v.shape), (np.float64, (37, 1), (1, 23)))
                np.testing.assert_allclose(plan, self.plan, rtol=1e-10)
                np.testing.assert_allclose(u * self.k * v, plan, rtol=1e-12)
                self.assertEqual(plan.flags.f_contiguous, path == "KF.npy")

    def test_the_algorithms_of_the_literature(self):
        self.save("K32.npy", self.k.astype("f4"))
        given = ("--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy")
        for ranks, number, options in [
            (0, 1, ()),
            (3, 2, ("--exchange", "mpi")),
            (3, 3, ("--exchange", "coffee", "--pipelined", "--deal-rows")),
            (2, 3, ("--exchange", "two-level", "--pipelined")),
        ]:
            with self.subTest(number=number, options=options):
                form = f"algorithm-{number}"
                report = self.report(ranks, "sinkhorn", "K.npy", *given, "--method", form, *options, "--tolerance", "1e-13")
                self.assertEqual((report["status"], report["method"]), ("converged", form))
                self.assertEqual(report["exchange"], options[1] if options else "auto")
                np.testing.assert_allclose(self.load("P.npy"), self.plan, rtol=1e-10)
        report = self.report(0, "sinkhorn", "K32.npy", *given, "--method", "algorithm-3")
        self.assertEqual(report["precision"], "f32")

    @alike_with_every_mpi
    def test_factors_beyond_the_range_of_a_method_in_place_are_no_result(self):
        random = np.random.default_rng(3)
        k = random.integers(0, 3, (16, 64)).astype("u1")
        k[0] = np.arange(64) < 3  # to have half of all
        r = 10.0 ** -random.uniform(0, 10, 16)
        r[0] = r.sum()
        self.save("K.npy", k)
        self.save("r.npy", r)
        words = ("K.npy", "--rows", "r.npy", "-o", "P.npy", "--row-factors", "u.npy", "--column-factors", "v.npy")
        before = self.files()
        for form, precision in (("in-place", "bf16"), ("in-place", "f32"), ("algorithm-1", "f32"), ("algorithm-3", "f32")):
            for ranks in (0, 2):
                result = self.run_plait(ranks, "sinkhorn", *words, "--method", form, "--precision", precision)
                self.assertEqual(result.status, 1, (form, precision))
                self.assertRegex(result.errors[0], "(infeasible marginals: .* must sum up|numerical limit: factors or sums left the range of float).*; nothing was written")
                self.assertEqual(self.files(), before)

    def test_blocks_of_a_grid(self):
        self.save("KF.npy", np.asfortranarray(self.k))
        given = ("--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy", "--tolerance", "1e-13")
        vectors = ("--row-factors", "u.npy", "--column-factors", "v.npy")
        for ranks, path, grid in [(4, "K.npy", "2x2"), (3, "KF.npy", "1x3"), (2, "K.npy", "auto")]:
            with self.subTest(path=path, grid=grid):
                report = self.report(ranks, "sinkhorn", path, *given, *vectors, "--grid", grid)
                shape = report["grid"]
                self.assertEqual(shape["rows"] * shape["columns"], ranks)
                if grid != "auto":
                    self.assertEqual(f"{shape['rows']}x{shape['columns']}", grid)
                plan, u, v = self.load("P.npy"), self.load("u.npy"), self.load("v.npy")
                self.assertEqual((report["status"], u.shape, v.shape), ("converged", (37, 1), (1, 23)))
                np.testing.assert_allclose(plan, self.plan, rtol=1e-10)
                np.testing.assert_allclose(u * self.k * v, plan, rtol=1e-12)
        result = self.run_plait(2, "sinkhorn", "K.npy", "-o", "P.npy", "--grid", "2x2")
        self.assertEqual(result.status, 1)
        self.assertIn("a grid of 2 x 2 ranks, expected rows x columns = 2", result.stderr)

    @alike_with_every_mpi
    def test_precisions_and_whole_numbers(self):
        self.save("K32.npy", self.k.astype("f4"))
        self.save("counts.npy", np.arange(1, 13, dtype="i4").reshape(4, 3))
        given = ("--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy")
        for precision, error in [("mixed", 1e-6), ("f32", 1e-4), ("bf16", 2e-2)]:
            with self.subTest(precision):
                report = self.report(0, "sinkhorn", "K32.npy", *given, "--precision", precision)
                self.assertEqual((report["status"], report["precision"]), ("converged", precision))
                self.assertEqual(self.load("P.npy").dtype, np.float32)
                np.testing.assert_allclose(self.load("P.npy"), self.plan, rtol=error)
        text = self.succeed(0, "sinkhorn", "counts.npy", "-o", "P.npy")
        self.assertRegex(text, r"K is 4 x 3, f64, scaling\n  status    converged: ")
        np.testing.assert_allclose(self.load("P.npy").sum(1), np.ones(4))
        np.testing.assert_allclose(self.load("P.npy").sum(0), np.full(3, 4 / 3))

    @alike_with_every_mpi
    def test_a_limit_is_a_warning_and_a_start_makes_it_shorter(self):
        result = self.run_plait(0, "sinkhorn", "K.npy", "--column-factors", "v.npy", "--max-iterations", "2", "--tolerance", "1e-12")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.stderr, r"^plait: warning: iteration limit: the error is \S+ after 2 iterations")
        cold = self.report(0, "sinkhorn", "K.npy", "--column-factors", "v.npy", "--tolerance", "1e-12")
        warm = self.report(0, "sinkhorn", "K.npy", "-o", "P.npy", "--start", "v.npy", "--tolerance", "1e-11")
        self.assertEqual(warm["iterations"], 1)
        self.assertGreater(cold["iterations"], 3)

    @alike_with_every_mpi
    def test_rows_sum_up_to_1_by_default_in_either_order(self):
        self.save("KF.npy", np.asfortranarray(self.k))
        for path in ("K.npy", "KF.npy"):
            self.report(2, "sinkhorn", path, "-o", "P.npy")
            np.testing.assert_allclose(self.load("P.npy").sum(axis=1), np.ones(len(self.k)), rtol=1e-8)
            self.assertEqual(self.load("P.npy").flags.f_contiguous, path == "KF.npy")
            cold = self.report(0, "sinkhorn", path, "--column-factors", "v.npy", "--tolerance", "1e-12")
            warm = self.report(0, "sinkhorn", path, "-o", "P.npy", "--start", "v.npy", "--tolerance", "1e-11")
            self.assertLess(warm["iterations"], cold["iterations"])

    @alike_with_every_mpi
    def test_what_can_not_be_is_said(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        self.save("negative.npy", np.array([[1.0, 2], [3, -4]]))
        self.save("empty_row.npy", np.array([[1.0, 2], [0, 0]]))
        self.save("complex.npy", np.ones((2, 2), "c16"))
        self.save("K4.npy", np.ones((4, 4)))
        self.save("short.npy", np.ones(3))
        self.save("large.npy", np.full(4, 2.0))
        self.save("no_mass.npy", np.zeros(4))
        self.save("wide.npy", np.arange(0.1, 1.3, 0.1).reshape(4, 3))
        cases = [
            (2, ("sinkhorn", "no_support.npy"), "no support: 2 of the rows must sum up to 2, .* 1 of the columns.*; nothing was written"),
            (2, ("sinkhorn", "negative.npy"), "the entry in row 1, column 1 is -4, expected a finite number >= 0"),
            (0, ("sinkhorn", "empty_row.npy"), "row 1 has only zeros, but is to sum up to 1"),
            (0, ("sinkhorn", "complex.npy"), "complex.npy has elements of c128, expected real ones"),
            (2, ("sinkhorn", "K4.npy", "--rows", "short.npy"), "--rows: short.npy has 3 elements, expected 4"),
            (0, ("sinkhorn", "K4.npy", "--rows", "large.npy", "--columns", "short.npy"), "--columns: short.npy has 3 elements"),
            (2, ("sinkhorn", "K4.npy", "--rows", "no_mass.npy"), "the marginals of all rows and columns are 0, expected some mass"),
            (0, ("sinkhorn", "K.npy", "--columns", "K.npy"), "--columns: K.npy is 37 x 23, expected a vector of 23 elements, or a matrix"),
            (0, ("sinkhorn", "K.npy", "--rows", "none.npy"), "none.npy: can't be opened"),
            (0, ("transport", "negative.npy", "--epsilon", "1", "--rows", "large.npy"), "--rows: large.npy has 4 elements"),
            (0, ("transport", "wide.npy", "--epsilon", "1e-5", "--first-epsilon", "1e-5", "--method", "factors"),
             "numerical limit: exponentials of the costs left the range of numbers.*; nothing was written"),
        ]
        before = self.files()
        for ranks, words, message in cases:
            with self.subTest(words):
                result = self.run_plait(ranks, *words, "-o", "P.npy")
                self.assertEqual(result.status, 1, result.stderr)
                self.assertEqual(len(result.errors), 1)
                self.assertRegex(result.errors[0], message)
                self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_the_status_of_a_problem_without_a_plan_is_in_the_json_of_its_error(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        self.save("none.npy", np.array([[1.0, 2], [np.inf, 1]]))
        self.save("r2.npy", np.array([1.0, 3]))
        self.save("c2.npy", np.array([3.0, 1]))
        self.save("r3.npy", np.array([1.0, 1, 2]))
        self.save("pairs.npy", np.array([[3.0, 1.0], [1.0, 3.0]]))
        given = ("--rows", "r2.npy", "--epsilon", "1")
        for ranks, words, status in [
            (2, ("sinkhorn", "no_support.npy", "-o", "P.npy"), "no support"),
            (0, ("balance", "B.npy", "-o", "P.npy"), "no support"),
            (2, ("transport", "none.npy", *given, "--columns", "c2.npy", "-o", "P.npy"), "infeasible marginals"),
            (0, ("transport", "none.npy", *given, "--columns", "pairs.npy"), "infeasible marginals"),
            (0, ("transport", "C.npy", "--epsilon", "1e-20"), "numerical limit"),
        ]:
            with self.subTest(words):
                self.save("B.npy", np.array([[1.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
                self.save("C.npy", np.random.default_rng(14).random((6, 4)))
                outputs = () if words[0] != "transport" or "-o" in words else ("--row-potentials", "f.npy")
                result = self.run_plait(ranks, *words, *outputs, "--json")
                self.assertEqual(result.status, 1)
                told = json.loads(result.stdout)
                self.assertEqual((told["command"], told["status"], told["exit_status"]), (words[0], status, 1))
                self.assertIn(f"{status}: ", told["error"])
        result = self.run_plait(0, "sinkhorn", "absent.npy", "-o", "P.npy", "--json")
        self.assertNotIn("status", json.loads(result.stdout))

    @alike_with_every_mpi
    def test_wrong_options_are_refused(self):
        cases = [
            (("sinkhorn", "K.npy"), "none of -o FILE, --row-factors FILE, --column-factors FILE is given"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--method", "fused"), "--method: 'fused' is unknown; expected scaling, in-place, algorithm-1, algorithm-2 or algorithm-3"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--grid", "0x2"), "--grid: '0x2' is no grid; expected one such as 2x2, or auto"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--grid", "auto", "--method", "in-place"), "--grid is given, but --method in-place"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--exchange", "ring"), "--exchange is given, but --method scaling chooses"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--method", "in-place", "--pipelined"), "--pipelined is given, but --method in-place"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--method", "algorithm-3", "--exchange", "mpi", "--pipelined"),
             "--pipelined is given, but --exchange mpi returns everything"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--method", "algorithm-1", "--precision", "bf16"), "--precision bf16 is given"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--tolerance", "-1"), "--tolerance: -1 is negative"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--max-iterations", "0"), "--max-iterations: '0' is no count"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--method", "in-place", "--start", "v.npy"), "--start is given, but --method in-place"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--row-factors", "P.npy"), "P.npy: is the file of -o and the file of --row-factors, expected different files"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--acceleration", "much"), "--acceleration: 'much' is unknown; expected auto or none"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--checkpoint-every", "5"), "--checkpoint-every is given, but --checkpoint is missing"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--checkpoint-every", "5"), "--checkpoint-every is given, but --checkpoint"),
            (("purify", "K.npy", "-o", "P.npy", "--electrons", "2", "--checkpoint-every", "5"), "--checkpoint-every is given, but --checkpoint"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--unbalanced", "0"), "--unbalanced: 0 is not positive"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--unbalanced", "inf,inf"), "--unbalanced: inf,inf is balanced transport"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--unbalanced", "inf"), "--unbalanced: inf is balanced transport"),
            (("transport", "K.npy", "-o", "P.npy"), "--epsilon NUMBER is missing"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "0"), "--epsilon: 0 is not positive; expected a number > 0"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--precision", "bf16"), "'bf16' is unknown; expected auto, f64, f32 or mixed"),
            (("transport", "K.npy", "-o", "P.npy", "--epsilon", "1", "--first-epsilon", "0.5"), "--first-epsilon is 0.5, expected 1 at least"),
        ]
        for words, message in cases:
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertIn(message, result.stderr)

    def test_unbalanced_transport(self):
        cost = self.save("C.npy", np.subtract.outer(np.linspace(0, 1, 37), np.linspace(0, 1, 23)) ** 2)
        self.save("CF.npy", np.asfortranarray(cost))
        more = self.save("more.npy", 1.5 * self.c)
        kernel, epsilon = np.exp(-cost / 0.05), 0.05
        for ranks, path, domain, rho in [(0, "C.npy", "auto", (0.5, 0.5)), (3, "CF.npy", "logarithms", (0.2, np.inf)), (2, "C.npy", "factors", (1.0, 0.3))]:
            with self.subTest(rho):
                of_rows, of_columns = (1 if np.isinf(value) else value / (value + epsilon) for value in rho)
                u, v = np.ones(37), np.ones(23)
                for _ in range(2000):
                    u = (self.r / (kernel @ v)) ** of_rows
                    v = (more / (kernel.T @ u)) ** of_columns
                expected = u[:, None] * kernel * v
                words = ("--epsilon", "0.05", "--unbalanced", "0.5" if rho[0] == rho[1] else f"{rho[0]},{rho[1]}", "--tolerance", "1e-12")
                report = self.report(ranks, "transport", path, *words, "--method", domain, "--rows", "r.npy", "--columns", "more.npy", "-o", "P.npy")
                np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-8)
                self.assertEqual(report["rho"], {"rows": rho[0], "columns": None if np.isinf(rho[1]) else rho[1]})
                self.assertAlmostEqual(report["check"]["mass"], expected.sum(), 9)
                self.assertLess(max(report["check"]["rows"], report["check"]["columns"]), 1e-10)
                p = expected.sum(1)
                self.assertAlmostEqual(report["marginal_kl"]["rows"], (p * np.log(p / self.r) - p + self.r).sum(), 8)
                self.assertLess(abs(report["duality_gap"]), 1e-10)
        text = self.succeed(0, "transport", "C.npy", "--epsilon", "0.05", "--unbalanced", "1", "-o", "P.npy", "--acceleration", "none")
        self.assertRegex(text, r"(?m)^  mass +\S+ moved; rows: rho 1, KL \S+; columns: rho 1, KL \S+$")

    def test_transport(self):
        cost = self.save("C.npy", np.subtract.outer(np.linspace(0, 1, 37), np.linspace(0, 1, 23)) ** 2)
        given = ("--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy", "--tolerance", "1e-12")
        vectors = ("--row-potentials", "f.npy", "--column-potentials", "g.npy")
        expected = scaled(np.exp(-cost / 0.05), self.r, self.c)
        for ranks, domain in [(0, "auto"), (3, "logarithms"), (2, "factors")]:
            with self.subTest(domain):
                report = self.report(ranks, "transport", "C.npy", "--epsilon", "0.05", "--method", domain, *given, *vectors)
                self.assertEqual(report["status"], "converged")
                plan, f, g = self.load("P.npy"), self.load("f.npy"), self.load("g.npy")
                np.testing.assert_allclose(plan, expected, rtol=1e-8)
                np.testing.assert_allclose(np.exp((f + g - cost) / 0.05), plan, rtol=1e-12)
                self.assertAlmostEqual(report["cost"], (cost * expected).sum(), 10)
                self.assertLess(abs(report["duality_gap"]), 1e-10)
        report = self.report(0, "transport", "C.npy", "--epsilon", "0.001", "-o", "P.npy", "--tolerance", "1e-6")
        self.assertGreater(len(report["stages"]), 2)
        self.assertEqual(report["stages"][-1]["method"], "logarithms")
        self.assertAlmostEqual(report["check"]["mass"], 1, 6)
        np.testing.assert_allclose(self.load("P.npy").sum(1), np.full(37, 1 / 37), rtol=1e-3)
        text = self.succeed(0, "transport", "C.npy", "--epsilon", "0.05", "-o", "P.npy")
        self.assertRegex(text, r"(?m)^  cost      \S+; with entropy \S+, duality gap \S+$")

    def test_transport_between_points(self):
        random = np.random.default_rng(5)
        x, y = self.save("X.npy", random.random((37, 3))), random.random((23, 3)).astype("f4")
        self.save("Y.npy", np.asfortranarray(y))  # points in any order and type
        given = ("--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--rows", "r.npy", "--columns", "c.npy", "--tolerance", "1e-12")
        wanted = ("-o", "P.npy", "--map", "M.npy", "--column-potentials", "g.npy")
        differences = np.abs(x[:, None, :] - y[None].astype("f8"))
        metrics = [
            (3, "sqeuclidean", (), (differences**2).sum(2)),
            (0, "euclidean", (), np.sqrt((differences**2).sum(2))),
            (2, "euclidean", ("--power", "1.5"), (differences**2).sum(2) ** 0.75),
            (2, "cityblock", (), differences.sum(2)),
            (0, "chebyshev", ("--power", "2"), differences.max(2) ** 2),
            (0, "minkowski", ("--p", "3"), (differences**3).sum(2) ** (1 / 3)),
            (2, "minkowski", ("--p", "2.5", "--power", "2.5"), (differences**2.5).sum(2)),
            (2, "cosine", (), 1 - (x @ y.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y.astype("f8"), axis=1))),
        ]
        for ranks, metric, power, cost in metrics:
            with self.subTest(metric, power=power):
                report = self.report(ranks, "transport", *given, *wanted, "--metric", metric, *power)
                self.assertEqual((report["status"], report["input"]["metric"], report["shape"]), ("converged", metric, [37, 23]))
                self.assertEqual(report["input"].get("power", 1), float(power[-1]) if "--power" in power else 1)
                expected = scaled(np.exp(-cost / 0.1), self.r, self.c)
                np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-7)
                np.testing.assert_allclose(self.load("M.npy"), expected @ y / self.r[:, None], rtol=1e-7)
                self.assertAlmostEqual(report["cost"], (cost * expected).sum(), 9)
        on_a_line = self.save("Y.npy", random.random(23))
        self.save("X.npy", x[:, 0])
        for ranks in (0, 3):
            self.succeed(ranks, "transport", *given, *wanted)
            expected = scaled(np.exp(-np.subtract.outer(x[:, 0], on_a_line) ** 2 / 0.1), self.r, self.c)
            np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-7)
            np.testing.assert_allclose(self.load("M.npy"), (expected @ on_a_line / self.r)[:, None], rtol=1e-7)
        self.save("X.npy", x)
        self.save("Y.npy", y)
        text = self.succeed(0, "transport", "--points", "X.npy", "Y.npy", "--epsilon", "1", "--precision", "f32", "--map", "M.npy")
        self.assertIn("C = sqeuclidean of 37 and 23 points, f32", text)
        self.assertEqual(self.load("M.npy").dtype, np.float32)

    @alike_with_every_mpi
    def test_points_far_from_the_origin_keep_their_differences_in_single_precision(self):
        random = np.random.default_rng(9)
        far = np.array([1e6, -3e7, 2e5])
        x, y = random.random((37, 3)), random.random((23, 3))
        self.save("X.npy", x + far)
        self.save("Y.npy", y + far)
        x, y = self.load("X.npy") - far, self.load("Y.npy") - far
        expected = scaled(np.exp(-((x[:, None] - y) ** 2).sum(2) / 0.1), self.r, self.c)
        words = ("transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--rows", "r.npy", "--columns", "c.npy", "--precision", "f32")
        for ranks in (0, 3):
            self.succeed(ranks, *words, "-o", "P.npy", "--map", "M.npy")
            np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-4)
            moved = expected @ y / self.r[:, None] + far
            np.testing.assert_allclose(self.load("M.npy"), moved, rtol=2e-7)
        self.save("Y.npy", np.full((23, 3), 1e6))
        self.save("X.npy", np.where(np.arange(37)[:, None] == 20, np.inf, x))
        self.assertIn("X.npy: point 20 of X has inf as coordinate 0", self.run_plait(2, *words, "-o", "P.npy").stderr)

    @alike_with_every_mpi
    def test_what_points_cost_is_told_without_any_output(self):
        x = self.save("X.npy", np.random.default_rng(3).random((20, 2)))
        self.save("Y.npy", x + 0.5)
        given = ("transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.1")
        before = self.files()
        report = json.loads(self.succeed(2, *given, "--json"))
        self.assertEqual(self.files(), before)
        self.assertGreater(report["cost"], 0.4)
        self.assertIn("cost      ", self.succeed(0, *given))
        self.assertIn("expected different files", self.run_plait(0, *given, "-o", "P.npy", "--row-potentials", "P.npy").stderr)

    def test_images_are_transported_by_their_axes(self):
        random = np.random.default_rng(8)
        for ranks, shape, options, spacing in [
            (0, (7, 5), (), (1, 1)),
            (3, (7, 5), ("--metric", "cityblock"), (1, 1)),
            (2, (3, 4, 2), ("--spacing", "0.5,1,2"), (0.5, 1, 2)),
            (5, (2, 11), ("--spacing", "0.5", "--precision", "f32"), (0.5, 0.5)),
            (0, (13,), (), (1,)),
            (2, (4, 5), ("--metric", "minkowski", "--p", "1.5", "--power", "1.5"), (1, 1)),
            (0, (11,), ("--metric", "euclidean", "--power", "0.5"), (1,)),
        ]:
            with self.subTest(shape):
                a = self.save("A.npy", random.integers(0, 256, shape).astype("u1"))
                b = self.save("B.npy", np.asfortranarray(random.random(shape)) if len(shape) < 3 else random.random(shape))
                places = np.stack([axis.ravel() * step for axis, step in zip(np.indices(shape), spacing, strict=True)], axis=1)
                ways = np.abs(places[:, None] - places)
                cost = (ways ** (1 if "cityblock" in options else float(options[-1]) if "--power" in options else 2)).sum(2)
                r, c = a.ravel() / a.sum(), b.ravel() / b.sum()
                single = "f32" in options
                given = ("transport", "--images", "A.npy", "B.npy", "--epsilon", "1", "--tolerance", "1e-5" if single else "1e-11", *options)
                wanted = ("-o", "P.npy", "--map", "M.npy", "--row-potentials", "f.npy", "--column-potentials", "g.npy")
                report = self.report(ranks, *given, *wanted)
                expected = scaled(np.exp(-cost), r, c)
                near = {"rtol": 1e-3, "atol": 1e-6} if single else {"rtol": 1e-5, "atol": 1e-13}
                np.testing.assert_allclose(self.load("P.npy"), expected, **near)
                np.testing.assert_allclose(self.load("M.npy")[r > 0], (expected @ places)[r > 0] / r[r > 0, None], **near)
                self.assertAlmostEqual(report["cost"], (cost * expected).sum(), 4 if single else 6)
                self.assertEqual((self.load("f.npy").shape, self.load("g.npy").shape), (shape, shape))
                again = self.report(ranks, *given, "--start", "g.npy")
                self.assertLess(again["check"]["columns"], 1e-4 if single else 1e-10)

    def test_images_have_a_barycentre_that_is_one(self):
        random = np.random.default_rng(9)
        images = [self.save(f"{k}.npy", random.random((6, 4)) + 0.1) for k in range(3)]
        places = np.argwhere(np.ones((6, 4)))
        self.save("C.npy", ((places[:, None] - places) ** 2).sum(2).astype("f8"))
        self.save("H.npy", np.stack([image.ravel() / image.sum() for image in images], axis=1))
        rest = ("--epsilon", "2", "--tolerance", "1e-11")
        self.succeed(0, "barycentre", "C.npy", "--histograms", "H.npy", "-o", "m.npy", *rest)
        for ranks in (0, 4):
            self.succeed(ranks, "barycentre", "--images", "0.npy", "1.npy", "2.npy", "-o", "n.npy", *rest)
            np.testing.assert_allclose(self.load("n.npy"), self.load("m.npy").reshape(6, 4), rtol=1e-8)

    def expect_refused(self, cases) -> None:
        """Transports that end with a status and a message, and leave all files as they are."""
        before = self.files()
        for status, words, message in cases:
            with self.subTest(words):
                result = self.run_plait(0, "transport", *words)
                self.assertEqual(result.status, status, result.stderr)
                self.assertIn(message, result.stderr)
                self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_wrong_images_are_refused(self):
        self.save("A.npy", np.ones((4, 3)))
        self.save("B.npy", np.ones((3, 4)))
        self.save("D.npy", -np.ones((4, 3)))
        self.save("F.npy", np.asfortranarray(np.ones((4, 3, 2))))
        self.save("C.npy", np.ones((5, 6, 3)))
        images, rest = ("--images", "A.npy", "A.npy"), ("--epsilon", "1", "--map", "M.npy")
        cases = [
            (2, ("K.npy", *images, *rest), "--images is given, and so is IN (K.npy)"),
            (2, (*images, *rest, "--points", "A.npy", "A.npy"), "expected one of them"),
            (2, (*images, *rest, "--rows", "r.npy"), "--rows is given, but masses are those of --images"),
            (1, (*images, *rest, "--metric", "euclidean"), "--metric is euclidean, expected a sum over axes with --images of 2 dimensions"),
            (1, (*images, *rest, "--metric", "cityblock", "--power", "2"), "--metric is cityblock to the power 2, expected a sum over axes"),
            (1, (*images, *rest, "--metric", "minkowski", "--p", "3"), "--metric is minkowski 3, expected a sum over axes"),
            (1, (*images, *rest, "--metric", "cosine"), "--metric is cosine, expected a sum over axes"),
            (2, (*images, *rest, "--power", "-1"), "--power"),
            (2, ("K.npy", *rest[:2], "--power", "3"), "--power is given, but --points or --images is missing: IN has the costs"),
            (2, (*images, *rest, "--method", "factors"), "expected logarithms or auto with --images"),
            (2, ("K.npy", *rest[:2], "--spacing", "2"), "--spacing is given, but --images is missing"),
            (2, (*images, *rest, "--spacing", "0"), "--spacing"),
            (2, (*images, "--epsilon", "1", "--map", "A.npy"), "A.npy: is a file of --images and the file of --map"),
            (1, (*images, *rest, "--spacing", "1,2,3"), "--spacing: 3 numbers are given, expected 1 or 2, as A.npy is 4 x 3"),
            (1, ("--images", "A.npy", "B.npy", *rest), "A.npy is 4 x 3, B.npy is 3 x 4, expected the same extents"),
            (1, ("--images", "F.npy", "F.npy", *rest), "F.npy is in Fortran order, expected C order"),
            (1, ("--images", "A.npy", "D.npy", *rest), "D.npy"),
            (1, ("--images", "C.npy", "C.npy", *rest), "C.npy is 5 x 6 x 3, 3 channels of an image or a volume; expected an array for each channel"),
        ]
        self.expect_refused(cases)
        self.succeed(0, "transport", "--images", "C.npy", "C.npy", *rest, "--spacing", "1,1,1")

    @alike_with_every_mpi
    def test_wrong_points_are_refused(self):
        self.save("X.npy", np.ones((4, 3)))
        self.save("flat.npy", np.ones((4, 2)))
        self.save("far.npy", np.full((4, 3), 1e300))
        self.save("nan.npy", np.array([[1.0, 2, 3], [1, np.nan, 3]]))
        points, rest = ("--points", "X.npy", "X.npy"), ("--epsilon", "1", "--map", "M.npy")
        cases = [
            (2, ("K.npy", *points, *rest), "--points is given, and so is IN (K.npy)"),
            (2, (*rest,), "none of IN, --points X Y, --images A B is given"),
            (2, ("K.npy", *rest), "--map is given, but --points or --images is missing"),
            (2, ("K.npy", "--epsilon", "1", "-o", "P.npy", "--metric", "cityblock"), "--metric is given, but --points or --images is missing"),
            (2, ("K.npy", "--epsilon", "1", "-o", "P.npy", "--p", "3"), "--p is given, but --points or --images is missing"),
            (2, (*points, *rest, "--metric", "hamming"), "--metric: 'hamming' is unknown; expected sqeuclidean, euclidean, cityblock, chebyshev, minkowski or cosine"),
            (2, (*points, *rest, "--metric", "minkowski"), "--metric minkowski and --p need each other"),
            (2, (*points, *rest, "--method", "factors"), "--method is factors, which are stored"),
            (2, (*points, "--epsilon", "1", "--map", "X.npy"), "X.npy: is a file of --points and the file of --map"),
            (1, ("--points", "X.npy", "flat.npy", *rest), "X.npy have 3 coordinates, those of flat.npy have 2"),
            (1, ("--points", "X.npy", "nan.npy", *rest), "point 1 of Y has nan as coordinate 1"),
            (1, ("--points", "far.npy", "X.npy", *rest), "far.npy and X.npy: costs between the points may be as large as inf"),
        ]
        self.expect_refused(cases)

    @alike_with_every_mpi
    def test_no_file_of_a_job_replaces_another_one(self):
        self.save("K.npy", np.full((3, 3), 2.0))
        self.save("r.npy", np.ones(3))
        self.save("Q.a.npy", np.ones((3, 3)))
        cases = [
            (("sinkhorn", "K.npy", "-o", "W.npy", "--row-factors", "./W.npy"), "-o and the file of --row-factors"),
            (("sinkhorn", "K.npy", "-o", "Q.a.npy", "--checkpoint", "Q"), "-o and a state of --checkpoint"),
            (("sinkhorn", "Q.a.npy", "-o", "P.npy", "--checkpoint", "Q"), "IN and a state of --checkpoint"),
            (("transport", "--points", "K.npy", "K.npy", "--epsilon", "1", "--map", "Q.a.npy", "--checkpoint", "Q"), "the file of --map and a state of --checkpoint"),
            (("sinkhorn", "K.npy", "-o", "P.npy", "--column-factors", "K.npy"), "IN and the file of --column-factors"),
            (("sinkhorn", "K.npy", "-o", "r.npy", "--rows", "r.npy", "--columns", "r.npy"), "--rows and the file of -o"),
            (("transport", "K.npy", "--epsilon", "1", "-o", "P.npy", "--row-potentials", "K.npy"), "IN and the file of --row-potentials"),
            (("balance", "K.npy", "-o", "K.npy"), "IN and the file of -o"),
            (("balance", "K.npy", "-o", "W.npy", "--matrix", "./W.npy"), "-o and the file of --matrix"),
            (("divergence", "K.npy", "--epsilon", "1", "--row-gradient", "K.npy"), "IN and the file of --row-gradient"),
            (("barycentre", "K.npy", "--histograms", "K.npy", "--epsilon", "1", "-o", "K.npy"), "the file of -o"),
        ]
        before = self.files()
        for words, roles in cases:
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertIn(f"{roles}, expected different files", result.stderr)
                self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_a_checkpoint_may_have_any_name(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        job = ("sinkhorn", "no_support.npy", "-o", "P.npy", "--acceleration", "none", "--checkpoint", os.fsdecode(b"state\xff"), "--checkpoint-every", "12")
        for more in ((), ("--resume",)):
            self.assertIn("no support", self.run_plait(0, *job, *more).stderr)
        self.assertTrue({os.fsdecode(b"state\xff" + end) for end in (b"", b".a.npy", b".b.npy")} <= self.files())

    @alike_with_every_mpi
    def test_vectors_that_make_no_plan_are_no_success(self):
        random = np.random.default_rng(11)
        self.save("X.npy", random.random((5, 3)))
        self.save("Y.npy", 1 + random.random((5, 3)))
        result = self.run_plait(0, "transport", "--points", "X.npy", "Y.npy", "--precision", "f32", "--epsilon", "1e-5", "-o", "P.npy")
        self.assertEqual(result.status, 0)
        self.assertIn("numerical limit: the iterations reached an error of", result.stderr)

    @alike_with_every_mpi
    def test_the_check_of_a_file_in_fortran_order_tells_rows_from_columns(self):
        self.save("F.npy", np.asfortranarray(np.random.default_rng(12).random((6, 6))))
        report = self.report(0, "sinkhorn", "F.npy", "-o", "P.npy")
        plan = self.load("P.npy")
        for axis, which in ((1, "rows"), (0, "columns")):
            off = np.abs(plan.sum(axis) - 1).sum() / 6
            self.assertAlmostEqual(report["check"][which], off, delta=1e-14)

    @alike_with_every_mpi
    def test_messages_name_the_rows_and_columns_of_the_file_in_either_order(self):
        random = np.random.default_rng(13)
        dead, negative, narrow, uneven = (random.random((4, 3)) + 0.1 for _ in range(4))
        dead[:, 2] = 0
        negative[3, 1] = -3
        narrow[:2] = narrow[2, 1:] = narrow[3, 1:] = 0
        narrow[0, 1] = narrow[1, 2] = 1
        cost = np.where(dead > 0, dead, np.inf)
        for name, matrix in [("dead", dead), ("negative", negative), ("narrow", narrow), ("uneven", uneven), ("cost", cost)]:
            self.save(f"{name}.npy", matrix)
            self.save(f"{name}F.npy", np.asfortranarray(matrix))
        lines = "".join(f"{value!r}\n" for value in negative.T.ravel().tolist())
        (self.folder / "negative.mtx").write_text(f"%%MatrixMarket matrix array real general\n4 3\n{lines}")
        self.save("r4.npy", np.array([1.0, 2, -1, 1]))
        self.save("c3.npy", np.array([1.0, 2, 3]))
        self.save("four.npy", np.ones(4))
        cases = [
            (("sinkhorn", "dead"), "column 2 has only zeros, but is to sum up to 1.33"),
            (("transport", "cost", "--epsilon", "1"), r"column 2 has only costs of \+infinity"),
            (("sinkhorn", "negative"), "the entry in row 3, column 1 is -3, expected"),
            (("sinkhorn", "negative", "--grid", "1x1"), "the entry in row 3, column 1 is -3, expected"),
            (("sinkhorn", "uneven", "--grid", "3x2"), "a grid of 3 x 2 ranks, expected rows x columns = 1"),
            (("sinkhorn", "uneven", "--rows", "r4.npy"), "the marginal of row 2 is -1"),
            (("sinkhorn", "uneven", "--rows", "four.npy", "--columns", "c3.npy"),
             "the marginals of all rows sum up to 4, those of all columns to 6|of all columns sum up to 6, those of all rows to 4"),
        ]
        for words, message in cases:
            for order in ("", "F") if words[1] == "negative" else ("F",):
                with self.subTest(words=words, order=order):
                    result = self.run_plait(0, words[0], f"{words[1]}{order}.npy", *words[2:], "-o", "P.npy")
                    self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                    self.assertRegex(result.errors[0], message)
        self.assertIn("the entry in row 3, column 1 is -3", self.run_plait(2, "sinkhorn", "negative.mtx", "-o", "P.npy").stderr)
        # Two rows live in one column; of the transpose that is what columns do, whichever side the proof is told from.
        result = self.run_plait(0, "sinkhorn", "narrowF.npy", "-o", "P.npy")
        told = re.search(r"(\d) of the (rows|columns) must sum up to .* lie in (\d) of the (rows|columns), whose sum is only", result.stderr)
        self.assertIsNotNone(told, result.stderr)
        count, side, room, other = told.groups()
        of_rows = narrow if side == "rows" else narrow.T
        self.assertNotEqual(side, other)
        held = [set(np.flatnonzero(line)) for line in of_rows]
        self.assertTrue(any(len(set().union(*chosen)) == int(room) for chosen in itertools.combinations(held, int(count))))

    @alike_with_every_mpi
    def test_errors_name_the_file_that_has_what_is_wrong(self):
        def broken(name: str, array: np.ndarray, at: tuple, entry: float) -> str:
            array[at] = entry
            self.save(name, array)
            return name

        self.save("K.npy", np.ones((7, 5)))
        self.save("A.npy", np.ones((7, 7)) - np.eye(7))
        self.save("B.npy", np.ones((5, 5)) - np.eye(5))
        self.save("r.npy", np.full(7, 5.0))
        self.save("c.npy", np.full(5, 7.0))
        self.save("X.npy", np.ones((7, 2)))
        self.save("Y.npy", np.ones((5, 2)))
        entry = broken("entry.npy", np.ones((7, 5)), (6, 2), -1)
        self.save("entryF.npy", np.asfortranarray(self.load("entry.npy")))
        row = broken("row.npy", np.ones((7, 5)), (6,), 0)
        rows = broken("rows.npy", np.ones(7), (6,), np.nan)
        columns = broken("columns.npy", np.ones(5), (4,), -2)
        several = broken("several.npy", np.ones((7, 3)), (6, 1), -2)
        start = broken("start.npy", np.ones(5), (2,), np.nan)
        forbidden = broken("forbidden.npy", np.ones((7, 5)), (6,), np.inf)
        nothing = broken("nothing.npy", np.ones((7, 5)), (6, 2), np.nan)
        a_side = broken("a_side.npy", np.ones((7, 7)), (6, 6), np.nan)
        skew = broken("skew.npy", np.ones((5, 5)), (4, 3), 3)
        x, y = broken("x.npy", np.ones((7, 2)), (6, 1), np.inf), broken("y.npy", np.ones((5, 2)), (4, 1), np.nan)
        histograms = broken("histograms.npy", np.ones((5, 2)), (3, 1), -1)
        marginals, epsilon, out = ("--rows", "r.npy", "--columns", "c.npy"), ("--epsilon", "1"), ("-o", "P.npy")
        divergence = ("divergence", "K.npy", *epsilon)
        cases = [
            (("sinkhorn", entry, *marginals, *out), entry, "the entry in row 6, column 2 is -1,"),
            (("sinkhorn", "entryF.npy", *marginals, *out), "entryF.npy", "the entry in row 6, column 2 is -1,"),
            (("sinkhorn", row, *marginals, *out), row, "row 6 has only zeros,"),
            (("sinkhorn", "K.npy", "--rows", rows, "--columns", "c.npy", *out), rows, "the marginal of row 6 is nan,"),
            (("sinkhorn", "K.npy", "--rows", "r.npy", "--columns", columns, *out), columns, "the marginal of column 4 is -2,"),
            (("sinkhorn", "K.npy", "--rows", several, "--row-factors", "u.npy"), several, "marginals 1: the marginal of row 6 is -2,"),
            (("sinkhorn", "K.npy", *marginals, "--start", start, *out), start, "the start has the factor nan for column 2,"),
            (("balance", skew, *out), skew, "the entry in row 3, column 4 is 1, that in row 4, column 3 is 3,"),
            (("balance", "K.npy", *out), "K.npy", "the matrix is 7 x 5,"),
            (("transport", forbidden, *marginals, *epsilon, *out), forbidden, r"row 6 has only costs of \+infinity,"),
            (("transport", "--points", x, "Y.npy", *epsilon, *out), x, "point 6 of X has inf as coordinate 1,"),
            (("transport", "--points", "X.npy", y, *epsilon, *out), y, "point 4 of Y has nan as coordinate 1,"),
            (("divergence", nothing, *epsilon, "--among-rows", "A.npy", "--among-columns", "B.npy"), nothing, "the entry in row 6, column 2 is nan,"),
            ((*divergence, "--among-rows", a_side, "--among-columns", "B.npy"), a_side, "the costs among the rows: the entry in row 6, column 6 is nan,"),
            ((*divergence, "--among-rows", "A.npy", "--among-columns", skew), skew, "the costs among the columns: the entry in row 3, column 4 is 1,"),
            (("divergence", "--points", "X.npy", y, *epsilon), y, "point 4 of Y has nan as coordinate 1,"),
            (("barycentre", "K.npy", "--histograms", histograms, *epsilon, *out), histograms, "the mass 3 of histogram 1 is -1,"),
            (("barycentre", "K.npy", "--histograms", "c.npy", "--weights", columns, *epsilon, *out), columns, "5 weights are given,"),
        ]  # fmt: skip
        for number, (words, path, complaint) in enumerate(cases):
            with self.subTest(words):
                result = self.run_plait(3 if number % 6 == 0 else 0, *words)
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], f"^plait: error: (rank \\d: )?(--[a-z-]+ )?{path}: {complaint}")
        wide = broken("wide.npy", np.ones((7, 7)), (6, 6), 1e99)
        result = self.run_plait(3, *divergence, "--among-rows", wide, "--among-columns", "B.npy", "--precision", "f32")
        self.assertRegex(result.errors[0], rf"^plait: error: (rank \d: )?{wide}: the entry in row 6, column 6 is 1e\+99, beyond")

    @alike_with_every_mpi
    def test_epsilons_that_the_precision_does_not_tell_apart(self):
        self.save("C.npy", np.random.default_rng(14).random((6, 4)))
        before = self.files()
        for epsilon in ("1e-20", "1e-300"):
            for precision in ("f64", "f32"):
                with self.subTest(epsilon=epsilon, precision=precision):
                    result = self.run_plait(0, "transport", "C.npy", "--epsilon", epsilon, "--precision", precision, "-o", "P.npy")
                    self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                    self.assertRegex(result.errors[0], "numerical limit: .*; a larger epsilon is needed; nothing was written")
                    self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_potentials_beyond_the_range_of_numbers(self):
        self.save("C.npy", np.random.default_rng(14).random((6, 4)))
        self.save("X.npy", np.random.default_rng(15).random((6, 2)))
        self.save("b.npy", np.full(4, 0.25))
        before = self.files()
        cases = [
            (2, ("transport", "C.npy", "--epsilon", "1e308")),
            (0, ("transport", "C.npy", "--epsilon", "1e37", "--precision", "f32", "--method", "logarithms")),
            (0, ("transport", "--points", "X.npy", "X.npy", "--epsilon", "1e308")),
            (0, ("barycentre", "C.npy", "--histograms", "b.npy", "--epsilon", "1e308")),
        ]
        for ranks, words in cases:
            with self.subTest(words):
                result = self.run_plait(ranks, *words, "-o", "P.npy")
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], "numerical limit: .*; smaller numbers are needed; nothing was written")
                self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_a_price_of_missed_masses_that_rounds_to_none_or_to_any(self):
        self.save("C.npy", np.random.default_rng(14).random((6, 4)))
        self.save("a.npy", np.full(6, 0.5))
        self.save("c4.npy", np.full(4, 0.25))
        words = ("transport", "C.npy", "--rows", "a.npy", "--columns", "c4.npy", "-o", "P.npy")
        before = self.files()
        for ranks, rho, epsilon, message in [
            (2, "1e17", "0.1", "error: (rank .: )?--unbalanced: rho of the rows is 1e.17 and epsilon is 0.1: .* rounds to 1, expected a smaller rho, or infinity for"),
            (0, "inf,1e300", "0.1", "error: --unbalanced: rho of the columns is 1e.300 and epsilon is 0.1: .* rounds to 1, expected a smaller rho"),
            (0, "1e-315", "0.1", "error: --unbalanced: rho of the rows is 1e-315 and epsilon is 0.1: .* rounding alone, expected a larger rho"),
            (2, "1,1e-20", "1", "--unbalanced: rho of the columns is 1e-20 and epsilon is 1: .*, expected a larger rho, 3e-08 of epsilon"),
        ]:
            for domain, its_ranks in (("factors", ranks), ("logarithms", 0)):
                with self.subTest(rho=rho, domain=domain):
                    result = self.run_plait(its_ranks, *words, "--epsilon", epsilon, "--unbalanced", rho, "--method", domain)
                    self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                    self.assertRegex(result.errors[0], message)
                    self.assertEqual(self.files(), before)

    @alike_with_every_mpi
    def test_the_least_price_of_missed_masses_beside_epsilon(self):
        self.save("C.npy", np.random.default_rng(14).random((60, 40)))
        report = self.report(2, "transport", "C.npy", "--epsilon", "0.1", "--unbalanced", "3e-9", "-o", "P.npy")
        self.assertEqual(report["status"], "converged")

    @alike_with_every_mpi
    def test_one_side_without_mass(self):
        self.save("C.npy", np.random.default_rng(15).random((4, 3)))
        self.save("none.npy", np.zeros(4))
        self.save("c.npy", np.full(3, 0.5))
        words = ("--epsilon", "0.1", "--rows", "none.npy", "--columns", "c.npy", "-o", "P.npy")
        report = self.report(2, "transport", "C.npy", *words, "--unbalanced", "0.5", "--column-potentials", "g.npy")
        self.assertEqual((report["status"], report["cost"], report["check"]["columns"]), ("converged", 0, 0))
        self.assertAlmostEqual(report["dual"], 0.75, 14)  # rho times all that the columns miss
        self.assertAlmostEqual(report["duality_gap"], 0, 14)
        np.testing.assert_array_equal(self.load("g.npy"), np.full((1, 3), -np.inf))
        self.assertRegex(self.run_plait(0, "transport", "C.npy", *words, "--unbalanced", "0.5,inf").stderr, "infeasible marginals: 3 columns")

    @alike_with_every_mpi
    def test_entries_that_a_narrower_type_does_not_hold_are_told(self):
        large, small, row = np.ones((4, 4)), np.ones((4, 4)), np.ones((4, 4))
        large[2, 3], small[1, 2], row[1, :] = 1e60, 1e-60, 1e-50
        for name, matrix in [("large", large), ("small", small), ("row", row)]:
            self.save(f"{name}.npy", matrix)
            self.save(f"{name}F.npy", np.asfortranarray(matrix))
            self.coordinate_file(f"{name}.mtx", matrix)
        for suffix, precision, stored, ranks in ((".npy", "f32", "f32", 2), ("F.npy", "bf16", "bf16", 0), (".mtx", "mixed", "f32", 0)):
            with self.subTest(suffix=suffix, precision=precision):
                words = ("--precision", precision, "-o", "P.npy", "--quiet")
                result = self.run_plait(ranks, "sinkhorn", f"large{suffix}", *words)
                self.assertEqual(result.status, 1)
                self.assertIn(f"large{suffix}: the entry in row 2, column 3 is 1e+60, beyond the range of {stored}", result.errors[0])
                result = self.run_plait(ranks, "sinkhorn", f"row{suffix}", *words)
                self.assertEqual(result.status, 1)
                self.assertRegex(result.errors[0], rf"row 1 has only zeros.*; 4 entries of row\S+ became 0 when stored in {stored}, the first 1e-50 in row 1, column 0; --precision f64")
                result = self.run_plait(ranks, "sinkhorn", f"small{suffix}", *words)
                self.assertEqual(result.status, 0)
                self.assertIn(f"warning: 1 entry of small{suffix} became 0 when stored in {stored}, the first 1e-60 in row 1, column 2", result.stderr)
        self.succeed(0, "sinkhorn", "row.npy", "-o", "P.npy")
        self.save("start.npy", np.array([1, 1e60, 1, 1]))
        result = self.run_plait(0, "sinkhorn", "small.npy", "--precision", "f32", "--start", "start.npy", "-o", "P.npy")
        self.assertIn("--start: element 1 of start.npy is 1e+60, beyond the range of f32", result.stderr)

    @alike_with_every_mpi
    def test_costs_that_a_narrower_type_does_not_hold_are_told(self):
        cost, pairs = np.ones((3, 3)), np.full((3, 2), 1 / 3)
        cost[1, 1] = cost[2, 2] = 1e-60
        self.save("C.npy", cost)
        self.save("square.npy", np.ones((3, 3)))
        self.save("pairs.npy", pairs)
        self.coordinate_file("C.mtx", cost)
        lost = "warning: 2 entries of {} became 0 when stored in f32, the first 1e-60 in row 1, column 1"
        among = ("--among-rows", "C.npy", "--among-columns", "square.npy")
        for ranks, name, words in [
            (2, "C.npy", ("transport", "C.npy", "-o", "P.npy")),
            (0, "C.mtx", ("transport", "C.mtx", "-o", "P.npy")),
            (0, "C.npy", ("transport", "C.npy", "--rows", "pairs.npy", "--row-potentials", "f.npy")),
            (0, "C.npy", ("barycentre", "C.npy", "--histograms", "pairs.npy", "-o", "P.npy")),
            (2, "C.npy", ("divergence", "C.npy")),
            (0, "C.npy", ("divergence", "square.npy", *among)),
        ]:
            with self.subTest(words):
                result = self.run_plait(ranks, *words, "--epsilon", "1", "--precision", "mixed", "--quiet")
                self.assertEqual(result.status, 0, result.stderr)
                self.assertEqual(result.stderr.count("warning"), 1, result.stderr)
                self.assertIn(lost.format(name), result.stderr)

    @alike_with_every_mpi
    def test_a_complex_file_is_told_to_be_one_whatever_the_plan_is_to_be(self):
        (self.folder / "Z.mtx").write_text("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 0\n2 2 1 0\n")
        for words in (("sinkhorn", "Z.mtx", "-o", "S.mtx"), ("balance", "Z.mtx", "-o", "x.npy", "--matrix", "S.mtx"), ("sinkhorn", "Z.mtx", "-o", "P.npy")):
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.assertEqual((result.status, len(result.errors)), (1, 1))
                self.assertIn("Z.mtx has elements of c128, expected real ones", result.errors[0])

    def coordinate_file(self, name: str, matrix: np.ndarray) -> None:
        entries = [f"{i + 1} {j + 1} {float(matrix[i, j])!r}" for i, j in zip(*np.nonzero(matrix), strict=True)]
        text = f"%%MatrixMarket matrix coordinate real general\n{matrix.shape[0]} {matrix.shape[1]} {len(entries)}\n"
        (self.folder / name).write_text(text + "".join(f"{entry}\n" for entry in entries))

    def test_sparse_files_stay_sparse(self):
        random = np.random.default_rng(8)
        matrix = random.random((30, 30)) * (random.random((30, 30)) < 0.4) + np.diag(random.random(30) + 0.1)
        self.coordinate_file("K.mtx", matrix)
        expected = scaled(matrix, np.ones(30), np.ones(30))
        for ranks in (0, 3):
            report = self.report(ranks, "sinkhorn", "K.mtx", "-o", "P.mtx", "--column-factors", "v.npy")
            self.assertEqual(report["entries"], np.count_nonzero(matrix))
            lines = (self.folder / "P.mtx").read_text().splitlines()
            self.assertEqual(lines[1], f"30 30 {report['entries']}")
            plan = np.zeros((30, 30))
            for line in lines[2:]:
                i, j, value = line.split()
                plan[int(i) - 1, int(j) - 1] = float(value)
            np.testing.assert_allclose(plan.sum(1), np.ones(30), rtol=1e-8)
        self.succeed(ranks, "sinkhorn", "K.mtx", "-o", "P.npy", "--quiet")
        np.testing.assert_array_equal(self.load("P.npy"), plan)
        np.testing.assert_allclose(plan, expected, atol=1e-7)
        self.coordinate_file("triangle.mtx", np.triu(np.ones((3, 3))))
        result = self.run_plait(2, "sinkhorn", "triangle.mtx", "-o", "P.npy", "--max-iterations", "9", "--quiet")
        self.assertIn("no total support", result.stderr)
        self.assertIn("the entry in row 0, column 1 and 2 others are in no such matrix", result.stderr)
        result = self.run_plait(0, "sinkhorn", "K.npy", "-o", "P.mtx")
        self.assertIn("P.mtx would be a sparse plan, but K.npy is dealt with as a dense matrix", result.stderr)
        # As a dense matrix, which such a file has by columns; the plan keeps that order, and a start is of the columns.
        self.succeed(0, "sinkhorn", "K.mtx", "-o", "P.npy", "--start", "v.npy", "--grid", "1x1", "--quiet")
        np.testing.assert_allclose(self.load("P.npy"), expected, atol=1e-7)

    def test_jobs_that_are_killed_at_any_moment_go_on_with_the_same_bits(self):
        random = np.random.default_rng(6)
        cost = self.save("C.npy", random.random((200, 200)))
        self.save("slow.npy", np.exp(-500 * cost))
        self.save("X.npy", random.random((200, 2)))
        jobs = [
            ("sinkhorn", "slow.npy", "--tolerance", "1e-14", "--max-iterations", "800"),
            ("transport", "C.npy", "--epsilon", "0.002", "--tolerance", "1e-14", "--max-iterations", "500"),
            ("transport", "--points", "X.npy", "X.npy", "--epsilon", "0.0005", "--tolerance", "1e-14", "--max-iterations", "500"),
        ]
        for ranks, job in zip((2, 0, 2), jobs, strict=True):
            with self.subTest(job):
                status = json.loads(self.run_plait(ranks, *job, "-o", "expected.npy", "--json").stdout)["status"]
                kept = ("--checkpoint", "state.json", "--checkpoint-every", "10", "--resume")
                kills = self.finish_despite_kills(ranks, "state.json", *job, *kept, "-o", "P.npy")
                np.testing.assert_array_equal(self.load("P.npy"), self.load("expected.npy"), f"after {kills} kills")
                self.assertEqual(self.take_checkpoint("state.json"), status != "converged")

    @alike_with_every_mpi
    def test_the_text_of_a_checkpoint_does_not_grow_with_the_iterations(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        sizes = []
        for every in ("12", "60"):  # of 64
            result = self.run_plait(0, "sinkhorn", "no_support.npy", "-o", "P.npy", "--acceleration", "none", "--checkpoint", f"{every}.json", "--checkpoint-every", every)
            self.assertIn("no support", result.stderr)
            sizes.append((self.folder / f"{every}.json").stat().st_size)
        self.assertEqual(*sizes)

    @alike_with_every_mpi
    def test_a_checkpoint_that_is_not_as_it_was_written_is_an_error(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        job = ("sinkhorn", "no_support.npy", "-o", "P.npy", "--acceleration", "none", "--checkpoint", "state.json")
        self.assertIn("no support", self.run_plait(0, *job, "--checkpoint-every", "50").stderr)
        self.assertIn("no support", self.run_plait(2, *job, "--resume").stderr)
        self.assertIn("its precision was", self.run_plait(0, *job, "--resume", "--precision", "f32").stderr)
        self.assertIn("--checkpoint is missing", self.run_plait(0, "sinkhorn", "K.npy", "-o", "P.npy", "--resume").stderr)
        random = np.random.default_rng(9)
        for name in ("state.json", "state.json.a.npy"):
            whole = (self.folder / name).read_bytes()
            for at in [0, len(whole) - 1, *random.integers(len(whole), size=2)]:
                broken = bytearray(whole)
                broken[at] ^= 1 << int(random.integers(7))
                (self.folder / name).write_bytes(broken)
                result = self.run_plait(0, *job, "--resume")
                self.assertEqual(result.status, 1)
                self.assertRegex(result.errors[0], r"state\.json.*(checksum|is no checkpoint of plait sinkhorn)", f"{name}: byte {at}")
            (self.folder / name).write_bytes(whole)
