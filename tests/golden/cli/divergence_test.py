"""`plait divergence`, and problems that share a matrix, against NumPy."""

import json
import re

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page


def lse(z: np.ndarray, axis: int) -> np.ndarray:
    largest = z.max(axis, keepdims=True)
    return np.squeeze(largest + np.log(np.exp(z - largest).sum(axis, keepdims=True)), axis)


def least(cost: np.ndarray, r: np.ndarray, c: np.ndarray, epsilon: float, rho: float = np.inf) -> float:
    """The textbook: what transport with KL(P | r c') comes to, balanced or not."""
    share = 1 if np.isinf(rho) else rho / (rho + epsilon)
    g = np.zeros(len(c))
    for _ in range(3000):
        f = -share * epsilon * lse((g[None, :] - cost) / epsilon + np.log(c)[None, :], 1)
        g = -share * epsilon * lse((f[:, None] - cost) / epsilon + np.log(r)[:, None], 0)
    product = np.outer(r, c)
    plan = product * np.exp((f[:, None] + g[None, :] - cost) / epsilon)

    def divergence(p, q):
        return (p * np.log(p / q) - p + q).sum()

    value = (cost * plan).sum() + epsilon * divergence(plan, product)
    if np.isfinite(rho):
        value += rho * (divergence(plan.sum(1), r) + divergence(plan.sum(0), c))
    return value


def squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ((x[:, None] - y[None]) ** 2).sum(2)


class Divergence(CommandTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.x, self.y = self.save("X.npy", random.random((17, 2))), self.save("Y.npy", random.random((11, 2)) + 0.3)
        self.save("C.npy", squares(self.x, self.y))
        self.save("CF.npy", np.asfortranarray(squares(self.x, self.y)))
        self.save("A.npy", squares(self.x, self.x))
        self.save("B.npy", squares(self.y, self.y))
        r, c = random.random(17) + 0.1, random.random(11) + 0.1
        self.r, self.c = self.save("r.npy", r / r.sum()), self.save("c.npy", c / c.sum())

    def report(self, ranks: int, *arguments: str) -> dict:
        return json.loads(self.succeed(ranks, *arguments, "--json"))

    def expected(self, c: np.ndarray, epsilon: float, rho: float = np.inf) -> float:
        def value(a, p, b, q):
            return least(squares(a, b), p, q, epsilon, rho)

        excess = self.r.sum() - c.sum()
        x, y, r = self.x, self.y, self.r
        return value(x, r, y, c) - value(x, r, x, r) / 2 - value(y, c, y, c) / 2 + epsilon / 2 * excess**2

    def test_of_costs_in_either_order_and_of_points(self):
        among = ("--among-rows", "A.npy", "--among-columns", "B.npy")
        words = ("--epsilon", "0.1", "--rows", "r.npy", "--columns", "c.npy", "--tolerance", "1e-12")
        gradients = ("--row-gradient", "f.npy", "--column-gradient", "g.npy")
        seen = []
        for ranks, costs in [(0, ("C.npy", *among)), (3, ("CF.npy", *among)), (2, ("--points", "X.npy", "Y.npy"))]:
            with self.subTest(costs):
                report = self.report(ranks, "divergence", *costs, *words, *gradients)
                self.assertEqual(report["status"], "converged")
                self.assertAlmostEqual(report["value"], self.expected(self.c, 0.1), 11)
                within = report["transports"]["between"] - (report["transports"]["rows"] + report["transports"]["columns"]) / 2
                self.assertAlmostEqual(report["value"], within, 12)
                f, g = self.load("f.npy"), self.load("g.npy")
                self.assertEqual((f.shape, g.shape), ((17, 1), (1, 11)))
                seen.append(np.concatenate([f[:, 0] - f[0, 0], g[0] - g[0, 0]]))
        np.testing.assert_allclose(seen[1:], [seen[0]] * 2, atol=1e-8)

    def test_of_images(self):
        random = np.random.default_rng(4)
        for shape, ranks, options in [((5, 4), 0, ()), ((5, 4), 3, ("--unbalanced", "0.5")), ((2, 3, 3), 2, ("--spacing", "0.5")), ((9,), 2, ("--metric", "euclidean", "--power", "1.5"))]:
            with self.subTest(shape, options=options):
                a, b = (self.save(f"{name}.npy", random.random(shape) + 0.1) for name in "pq")
                is_balanced = "--unbalanced" not in options
                self.r, c = (image.ravel() / (image.sum() if is_balanced else 1) for image in (a, b))
                places = np.argwhere(np.ones(shape)) * (0.5 if "--spacing" in options else 1)
                self.x = self.y = places
                power = 0.75 if "--power" in options else 1
                rho = np.inf if is_balanced else 0.5

                def value(p, q, places=places, power=power, rho=rho):
                    return least(squares(places, places) ** power, p, q, 2, rho)

                expected = value(self.r, c) - value(self.r, self.r) / 2 - value(c, c) / 2 + (self.r.sum() - c.sum()) ** 2
                gradients = ("--row-gradient", "f.npy", "--column-gradient", "g.npy")
                words = ("--images", "p.npy", "q.npy", "--epsilon", "2", "--tolerance", "1e-12", *options, *gradients)
                report = self.report(ranks, "divergence", *words, "--report", "R.html")
                self.assertEqual(report["status"], "converged")
                self.assertAlmostEqual(report["value"], expected, 10)
                self.assertEqual((self.load("f.npy").shape, self.load("g.npy").shape), (shape, shape))
                # Masses that go from one element to another one change the value by the difference of their derivatives.
                step = 1e-5 * (np.eye(1, a.size, 1)[0] - np.eye(1, a.size, 2)[0])
                change = [value(self.r + way * step, c) - value(self.r + way * step, self.r + way * step) / 2 for way in (-1, 1)]
                f = self.load("f.npy").ravel()
                self.assertAlmostEqual(f[1] - f[2], (change[1] - change[0]) / 2e-5, 6)
                titles = Page((self.folder / "R.html").read_text()).texts["h2"]
                self.assertTrue(any(title.startswith("What the divergence changes by with masses of p.npy") for title in titles))
        same = self.report(2, "divergence", "--images", "p.npy", "p.npy", "--epsilon", "2", "--metric", "cityblock")
        self.assertLessEqual(abs(same["value"]), same["rounding"])

    @alike_with_every_mpi
    def test_a_value_that_is_rounding_is_told_to_be(self):
        points = ("divergence", "--points", "X.npy", "Y.npy")
        for more, is_lost in [((), False), (("--precision", "f32"), True)]:
            for ranks in (0, 2):
                words = (*points, "--epsilon", "1e5", "--tolerance", "1e-5", *more)
                report = self.report(ranks, *words)
                # As epsilon grows, plans become products of the masses.
                limit = self.mean_cost("X", "Y") - self.mean_cost("X", "X") / 2 - self.mean_cost("Y", "Y") / 2
                self.assertEqual(abs(report["value"]) < report["rounding"], is_lost)
                self.assertLess(abs(report["value"] - limit), report["rounding"] + 1e-4)
                self.assertEqual("(rounding alone may give " in self.succeed(ranks, *words), is_lost)
        same = self.report(2, "divergence", "--points", "X.npy", "X.npy", "--epsilon", "0.1")
        self.assertLessEqual(abs(same["value"]), same["rounding"])
        self.assertLess(same["rounding"], 1e-12)

    def mean_cost(self, of: str, to: str) -> float:
        return squares(self.load(f"{of}.npy"), self.load(f"{to}.npy")).mean()

    def test_unbalanced_and_on_one_set_of_points(self):
        c = self.save("c.npy", 1.7 * self.c)
        words = ("--epsilon", "0.1", "--rows", "r.npy", "--columns", "c.npy", "--tolerance", "1e-12", "--unbalanced", "0.5")
        report = self.report(2, "divergence", "--points", "X.npy", "Y.npy", *words)
        self.assertAlmostEqual(report["value"], self.expected(c, 0.1, 0.5), 11)
        words = ("--epsilon", "0.1", "--rows", "r.npy", "--columns", "r.npy", "--report", "R.html")
        text = self.succeed(0, "divergence", "A.npy", *words)
        self.assertRegex(text, r"^S\(r, c\) = .*C is 17 x 17, f64, epsilon 0.1\n  value     (0|-?\d(\.\d+)?e-1\d( \(rounding alone may give \S+\))?); duality gap")
        page = Page((self.folder / "R.html").read_text())
        self.assertIn("the next of the three transports", " ".join(page.texts["p"]))
        report = self.report(2, "divergence", "--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--report", "R.html")
        page = Page((self.folder / "R.html").read_text())
        begin = page.rows.index(["transport", "epsilon", "iterations", "method"]) + 1
        told = [[stage["transport"], str(stage["iterations"])] for stage in report["stages"]]
        self.assertEqual([[row[0], row[2]] for row in page.rows[begin : begin + len(told)]], told)
        names = [name for name, _ in told]
        self.assertEqual(list(dict.fromkeys(names)), ["between both", "within the rows", "within the columns"])

    @alike_with_every_mpi
    def test_what_makes_no_sense_is_said(self):
        points = ("--points", "X.npy", "Y.npy", "--epsilon", "1")
        self.save("skew.npy", np.arange(9.0).reshape(3, 3))
        for words, complaint in [
            (("C.npy", "--epsilon", "1"), r"C\.npy is 17 x 11, expected the square costs"),
            (("C.npy", "--epsilon", "1", "--among-rows", "A.npy"), r"--among-rows and --among-columns need each other"),
            (("C.npy", "--epsilon", "1", "--among-rows", "B.npy", "--among-columns", "B.npy"), r"--among-rows: B\.npy is 11 x 11, expected 17 x 17"),
            (("skew.npy", "--epsilon", "1"), r"the costs among the rows: the entry in row 0, column 1 is 1, that in row 1, column 0 is 3"),
            ((*points, "--among-rows", "A.npy", "--among-columns", "B.npy"), r"--among-rows is given, but --points makes all costs"),
            (("--images", "X.npy", "X.npy", "--epsilon", "1", "--among-rows", "A.npy", "--among-columns", "B.npy"), r"--among-rows is given, but --images makes all costs"),
            ((*points, "--unbalanced", "0"), r"--unbalanced: 0 .*expected"),
            ((*points, "--rows", "c.npy"), r"--rows: c\.npy has 11 elements, expected 17"),
            ((*points, "--row-gradient", "X.npy"), r"X\.npy"),
        ]:  # fmt: skip
            with self.subTest(words):
                result = self.run_plait(0, "divergence", *words)
                self.assertNotEqual(result.status, 0)
                self.assertEqual(len(result.errors), 1, result.stderr)
                self.assertRegex(result.errors[0], complaint)

    def test_problems_that_share_a_matrix(self):
        random = np.random.default_rng(5)
        k = self.save("K.npy", random.random((17, 11)) + 0.1)
        self.save("KF.npy", np.asfortranarray(k))
        rows = random.random((17, 3)) + 0.2
        rows = self.save("R.npy", rows / rows.sum(0))
        columns = random.random((11, 3)) + 0.2
        columns = self.save("S.npy", np.asfortranarray(columns / columns.sum(0)))
        words = ("--rows", "R.npy", "--tolerance", "1e-12", "--row-factors", "u.npy", "--column-factors", "v.npy")
        for ranks, path, of_columns in [(0, "K.npy", "S.npy"), (3, "KF.npy", "S.npy"), (2, "K.npy", "c.npy")]:
            with self.subTest(path=path, ranks=ranks):
                report = self.report(ranks, "sinkhorn", path, *words, "--columns", of_columns)
                self.assertEqual((report["status"], len(report["problems"])), ("converged", 3))
                u, v = self.load("u.npy"), self.load("v.npy")
                self.assertEqual((u.shape, v.shape), ((17, 3), (3, 11)))
                for n in range(3):
                    plan = u[:, n : n + 1] * k * v[n : n + 1]
                    wanted = columns[:, n] if of_columns == "S.npy" else self.c
                    np.testing.assert_allclose(plan.sum(1), rows[:, n], rtol=1e-10)
                    np.testing.assert_allclose(plan.sum(0), wanted, rtol=1e-10)
                    self.assertLess(report["problems"][n]["check"]["columns"], 1e-10)
        words = ("--rows", "R.npy", "--columns", "S.npy", "--column-potentials", "g.npy", "--row-potentials", "f.npy")
        for ranks, path, epsilon in [(2, "C.npy", "0.1"), (0, "CF.npy", "0.004")]:
            with self.subTest(path=path):
                report = self.report(ranks, "transport", path, *words, "--epsilon", epsilon, "--tolerance", "1e-6")
                f, g = self.load("f.npy"), self.load("g.npy")
                for n in range(3):
                    cost = squares(self.x, self.y)
                    plan = np.exp((f[:, n : n + 1] + g[n : n + 1] - cost) / float(epsilon))
                    np.testing.assert_allclose(plan.sum(0), columns[:, n], atol=2e-6)
                    self.assertAlmostEqual((plan * cost).sum(), report["problems"][n]["cost"], 8)
        told = self.succeed(0, "transport", "C.npy", "--rows", "R.npy", "--columns", "S.npy", "--epsilon", "0.1", "--row-potentials", "f.npy")
        (costs,) = re.findall(r"(?m)^  costs     (\S+), (\S+), (\S+)$", told)
        report = self.report(0, "transport", "C.npy", "--rows", "R.npy", "--columns", "S.npy", "--epsilon", "0.1", "--row-potentials", "f.npy")
        np.testing.assert_allclose(np.array(costs, float), [problem["cost"] for problem in report["problems"]], rtol=1e-9)
        self.succeed(2, "sinkhorn", "K.npy", "--rows", "R.npy", "--row-factors", "u.npy", "--report", "R.html")
        self.assertIn("converged after", Page((self.folder / "R.html").read_text()).value("problem 2"))
        for job, complaint in [
            (("sinkhorn", "K.npy", "-o", "P.npy"), r"--output is given, but the marginals have 3 columns"),
            (("sinkhorn", "K.npy", "--row-factors", "u.npy", "--method", "in-place"), r"--method in-place is given, but"),
            (("sinkhorn", "K.npy", "--row-factors", "u.npy", "--columns", "R.npy"), r"--columns: R\.npy is 17 x 3, expected a vector of 11"),
            (("transport", "--points", "X.npy", "Y.npy", "--epsilon", "1", "--map", "m.npy"), r"--map is given, but the marginals have 3"),
            (("divergence", "--points", "X.npy", "Y.npy", "--epsilon", "1"), r"a matrix of masses is given, but the marginals have 3"),
        ]:  # fmt: skip
            with self.subTest(job):
                result = self.run_plait(0, *job, "--rows", "R.npy")
                self.assertEqual(result.status, 1)
                self.assertRegex(result.errors[0], complaint)
