"""The jobs of transport against POT, an independent implementation: Debian's python3-pot, where it is there."""

import json
import unittest
import warnings

import numpy as np
from harness import CommandTest, alike_with_every_mpi

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ot
        from scipy.spatial.distance import cdist
except ImportError:
    ot = None


@unittest.skipIf(ot is None, "Debian's python3-pot is not installed")
class Pot(CommandTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.x, self.y = random.random((31, 2)), random.random((24, 2)) + 0.2
        self.cost = self.save("C.npy", ot.dist(self.x, self.y))
        self.a, self.b = random.random(31) + 0.2, random.random(24) + 0.2
        self.a, self.b = self.save("a.npy", self.a / self.a.sum()), self.save("b.npy", self.b / self.b.sum())

    def transport(self, ranks: int, *arguments: str) -> dict:
        words = ("transport", "C.npy", "--rows", "a.npy", "--columns", "b.npy", "-o", "P.npy", "--tolerance", "1e-12")
        return json.loads(self.succeed(ranks, *words, *arguments, "--json"))

    @alike_with_every_mpi
    def test_sinkhorn(self):
        expected = ot.sinkhorn(self.a, self.b, self.cost, 0.1, numItermax=10_000, stopThr=1e-14)
        report = self.transport(2, "--epsilon", "0.1", "--method", "factors")
        np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-8)
        self.assertAlmostEqual(report["cost"], (expected * self.cost).sum(), 10)

    @alike_with_every_mpi
    def test_sinkhorn_log(self):
        expected = ot.sinkhorn(self.a, self.b, self.cost, 0.01, "sinkhorn_log", numItermax=20_000, stopThr=1e-13)
        self.transport(0, "--epsilon", "0.01", "--method", "logarithms")
        np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-5, atol=1e-12)

    @alike_with_every_mpi
    def test_costs_of_any_p_are_those_of_scipy(self):
        for file, points in (("X.npy", self.x), ("Y.npy", self.y)):
            self.save(file, points)
        for metric, p, power in [("minkowski", 1, 1), ("minkowski", 1.5, 1), ("minkowski", 3, 3), ("minkowski", 4, 2), ("minkowski", 2.2, 2.2),
                                 ("chebyshev", None, 2), ("euclidean", None, 3), ("cityblock", None, 0.5), ("cosine", None, 1.5)]:  # fmt: skip
            with self.subTest(metric, p=p, power=power):
                cost = cdist(self.x, self.y, metric, **({"p": p} if p else {})) ** power
                words = ("--points", "X.npy", "Y.npy", "--metric", metric, *(("--p", str(p)) if p else ()), "--power", str(power))
                rest = ("--rows", "a.npy", "--columns", "b.npy", "-o", "P.npy", "--epsilon", "0.1", "--tolerance", "1e-12")
                report = json.loads(self.succeed(2, "transport", *words, *rest, "--json"))
                expected = ot.sinkhorn(self.a, self.b, cost, 0.1, numItermax=10_000, stopThr=1e-14)
                np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-8)
                self.assertAlmostEqual(report["cost"], (expected * cost).sum(), 10)

    @alike_with_every_mpi
    def test_scaling_of_a_matrix(self):
        kernel = self.save("K.npy", np.exp(-self.cost / 0.2))
        words = ("--rows", "a.npy", "--columns", "b.npy", "-o", "P.npy", "--tolerance", "1e-12")
        self.succeed(2, "sinkhorn", "K.npy", *words)
        expected = ot.sinkhorn(self.a, self.b, -np.log(kernel), 1.0, numItermax=10_000, stopThr=1e-14)
        np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-8)

    @alike_with_every_mpi
    def test_unbalanced(self):
        self.b = self.save("b.npy", 1.7 * self.b)
        expected = ot.unbalanced.sinkhorn_unbalanced(self.a, self.b, self.cost, 0.1, 0.5, numItermax=10_000, stopThr=1e-14)
        report = self.transport(3, "--epsilon", "0.1", "--unbalanced", "0.5")
        np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-7)
        self.assertAlmostEqual(report["check"]["mass"], expected.sum(), 8)

    @alike_with_every_mpi
    def test_unbalanced_at_a_large_rho(self):
        self.b = self.save("b.npy", 1.7 * self.b)
        expected = ot.unbalanced.sinkhorn_unbalanced(self.a, self.b, self.cost, 0.1, 20, numItermax=30_000, stopThr=1e-14)
        report = self.transport(2, "--epsilon", "0.1", "--unbalanced", "20")
        self.assertEqual(report["status"], "converged")
        self.assertLess(report["iterations"], 150)  # POT takes some thousands
        np.testing.assert_allclose(self.load("P.npy"), expected, rtol=1e-7)

    @alike_with_every_mpi
    def test_barycentre(self):
        grid = np.linspace(0, 1, 37)
        cost = self.save("C.npy", np.subtract.outer(grid, grid) ** 2)
        heaps = np.stack([np.exp(-((grid - middle) ** 2) / 0.01) + 0.001 for middle in (0.2, 0.5, 0.8)], axis=1)
        heaps = self.save("B.npy", heaps / heaps.sum(0))
        # With weights that differ POT 0.8 begins at factors whose weighted geometric mean is not 1, which stays so.
        expected = ot.bregman.barycenter(heaps, cost, 0.01, numItermax=20_000, stopThr=1e-13)
        self.save("BF.npy", np.asfortranarray(heaps))
        for ranks, histograms in [(2, "B.npy"), (0, "BF.npy")]:
            with self.subTest(histograms):
                words = ("--histograms", histograms, "--epsilon", "0.01", "-o", "m.npy", "--tolerance", "1e-12")
                report = json.loads(self.succeed(ranks, "barycentre", "C.npy", *words, "--json"))
                self.assertEqual((report["status"], len(report["costs"])), ("converged", 3))
                self.assertAlmostEqual(report["check"]["mass"], 1, 8)
                np.testing.assert_allclose(self.load("m.npy")[:, 0], expected, rtol=1e-6)

    @alike_with_every_mpi
    def test_barycentre_at_a_small_epsilon(self):
        grid = np.linspace(0, 1, 37)
        cost = self.save("C.npy", np.subtract.outer(grid, grid) ** 2)
        heaps = np.stack([np.exp(-((grid - middle) ** 2) / 0.01) + 0.01 for middle in (0.3, 0.5, 0.6)], axis=1)
        heaps = self.save("B.npy", heaps / heaps.sum(0))
        # Costs are up to 1000 epsilons, of which no exponential is a number that factors could be made of.
        expected = ot.bregman.barycenter(heaps, cost, 0.001, method="sinkhorn_log", numItermax=20_000, stopThr=1e-11)
        words = ("--histograms", "B.npy", "--epsilon", "0.001", "-o", "m.npy", "--tolerance", "1e-8")
        report = json.loads(self.succeed(2, "barycentre", "C.npy", *words, "--json"))
        self.assertEqual((report["status"], report["stages"][-1]["method"]), ("converged", "logarithms"))
        np.testing.assert_allclose(self.load("m.npy")[:, 0], expected, atol=1e-6)

    @alike_with_every_mpi
    def test_several_pairs_at_a_small_epsilon(self):
        epsilon = 0.003
        rows = self.save("R.npy", np.stack([self.a, self.a[::-1]], axis=1))
        self.save("x.npy", self.x)
        self.save("y.npy", self.y)
        for given in [("C.npy",), ("--points", "x.npy", "y.npy")]:
            with self.subTest(given):
                words = ("--rows", "R.npy", "--columns", "b.npy", "--epsilon", str(epsilon), "--tolerance", "1e-7")
                vectors = ("--row-potentials", "f.npy", "--column-potentials", "g.npy")
                report = json.loads(self.succeed(2, "transport", *given, *words, *vectors, "--json"))
                self.assertEqual([problem["status"] for problem in report["problems"]], ["converged"] * 2)
                self.assertEqual(report["problems"][0]["stages"][-1]["method"], "logarithms")
                f, g = self.load("f.npy"), self.load("g.npy")
                for k in range(2):
                    plan = np.exp((f[:, k : k + 1] + g[k : k + 1] - self.cost) / epsilon)
                    expected = ot.sinkhorn(rows[:, k], self.b, self.cost, epsilon, "sinkhorn_log", numItermax=20_000, stopThr=1e-9)
                    np.testing.assert_allclose(plan, expected, atol=1e-6)
