"""`plait kmeans` against NumPy and, where it is there, scikit-learn."""

import json
import math
import re
import unittest
import warnings

import numpy as np
from harness import CommandTest, alike_with_every_mpi

try:
    from sklearn.cluster import KMeans as Referee
except ImportError:
    Referee = None


def blobs(points: int, dimension: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=(6, dimension))[random.integers(6, size=points)] * 3 + random.normal(size=(points, dimension))


class KMeans(CommandTest):
    def find(self, ranks: int, *arguments: str) -> dict:
        return json.loads(self.succeed(ranks, "kmeans", *arguments, "--json"))

    def fail_with(self, words: str, *arguments: str) -> None:
        for ranks in (0, 3):
            result = self.run_plait(ranks, "kmeans", *arguments)
            self.assertEqual((result.status, result.stdout), (1, ""))
            self.assertEqual(len(result.errors), 1, result.stderr)
            self.assertIn(words, result.errors[0])

    def test_labels_and_centres_have_the_same_bits_on_any_number_of_ranks(self):
        points = self.save("X.npy", blobs(3001, 5))
        found = []
        for ranks in (0, 1, 2, 5):
            report = self.find(ranks, "X.npy", "-k", "40", "-o", "labels.npy", "--centres", "C.npy")
            self.assertEqual(report["status"], "converged")
            found.append((self.load("labels.npy").tobytes(), self.load("C.npy").tobytes(), report["objective"]))
        self.assertEqual(found.count(found[0]), len(found))
        labels, centres = self.load("labels.npy"), self.load("C.npy")
        self.assertEqual((labels.shape, labels.dtype, centres.shape), ((3001,), np.int32, (40, 5)))
        squared = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(labels, squared.argmin(axis=1))
        for j, centre in enumerate(centres):  # sums are exact
            own = points[labels == j]
            self.assertEqual(report["sizes"][j], len(own))
            self.assertEqual(list(centre), [math.fsum(column) / len(own) for column in own.T])
        self.assertAlmostEqual(report["objective"] / squared.min(axis=1).sum(), 1, places=13)
        self.assertEqual(report["check"], {"points": 2000})

    def test_minibatches_come_near_in_few_epochs_and_labels_belong_to_their_centres(self):
        points = self.save("X.npy", blobs(4000, 4))
        exact = self.find(0, "X.npy", "-k", "6", "-o", "labels.npy")["objective"]
        found = {}
        for method, ranks in (("minibatch", 0), ("minibatch", 3), ("sgd", 0), ("sgd", 2), ("asgd", 0), ("asgd", 3)):
            batch = () if method == "sgd" else ("--batch", "100")
            report = self.find(ranks, "X.npy", "-k", "6", "--method", method, *batch, "--max-iterations", "4", "-o", "labels.npy", "--centres", "C.npy")
            self.assertEqual((report["method"], report["iterations"], report["status"]), (method, 4, "finished"))
            labels, centres = self.load("labels.npy"), self.load("C.npy")
            squared = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
            np.testing.assert_array_equal(labels, squared.argmin(axis=1))
            self.assertAlmostEqual(report["objective"] / squared.min(axis=1).sum(), 1, places=12)
            self.assertLess(report["objective"], 1.3 * exact)
            if method != "asgd":
                self.assertEqual(found.setdefault(method, centres.tobytes()), centres.tobytes())
        keep = ("X.npy", "-k", "6", "--method", "minibatch", "--batch", "64", "--checkpoint", "k.json", "--checkpoint-every", "1", "--centres")
        self.find(2, *keep, "D.npy", "--max-iterations", "3")
        self.find(3, *keep, "D.npy", "--max-iterations", "5", "--resume")
        self.find(0, *keep[:7], "--centres", "C.npy", "--max-iterations", "5")
        np.testing.assert_array_equal(self.load("C.npy"), self.load("D.npy"))

    @alike_with_every_mpi
    def test_all_real_types_and_both_orders_are_points(self):
        whole = np.round(blobs(200, 3) * 8)
        self.save("X.npy", whole)
        expected = self.find(0, "X.npy", "-k", "5", "-o", "l.npy")["objective"]
        labels = self.load("l.npy")
        for dtype in ("i1", "i8", "f4"):
            self.save("Y.npy", np.asfortranarray(whole.astype(dtype)))
            objective = self.find(2, "Y.npy", "-k", "5", "-o", "l.npy")["objective"]
            self.assertAlmostEqual(objective / expected, 1, places=6 if dtype == "f4" else 15)
            np.testing.assert_array_equal(self.load("l.npy"), labels)

    def test_it_begins_and_goes_on_as_it_is_told(self):
        points = self.save("X.npy", blobs(500, 4))
        self.save("S.npy", points[[3, 77, 400]])
        one = self.find(2, "X.npy", "-k", "3", "--start", "S.npy", "--centres", "C.npy", "--max-iterations", "1")
        self.assertEqual((one["iterations"], one["status"]), (1, "iteration limit"))
        labels = ((points[:, None] - points[None, [3, 77, 400]]) ** 2).sum(axis=2).argmin(axis=1)
        expected = [[math.fsum(c) / len(own) for c in own.T] for own in (points[labels == j] for j in range(3))]
        self.assertEqual(self.load("C.npy").tolist(), expected)
        seeds = {self.find(0, "X.npy", "-k", "9", "--start", "random", "--seed", seed, "-o", "l.npy")["objective"] for seed in "123"}
        self.assertEqual(len(seeds), 3)
        self.assertLess(self.find(0, "X.npy", "-k", "9", "--tolerance", "0.1", "-o", "l.npy")["iterations"],
                        self.find(0, "X.npy", "-k", "9", "-o", "l.npy")["iterations"])  # fmt: skip

    def test_it_goes_on_from_a_checkpoint_with_the_same_bits(self):
        self.save("X.npy", blobs(2000, 3))
        arguments = ("X.npy", "-k", "12", "--start", "random", "--centres")
        whole = self.find(1, *arguments, "C.npy")
        self.assertGreater(whole["iterations"], 5)
        keep = ("--checkpoint", "k.json", "--checkpoint-every", "2")
        self.find(2, *arguments, "D.npy", *keep, "--max-iterations", "5")
        resumed = self.find(3, *arguments, "D.npy", *keep, "--resume")
        self.assertEqual(resumed["resumed_at"], 5)
        self.assertEqual((resumed["status"], resumed["reason"]), ("converged", "no centre moves any more"))
        self.assertEqual(resumed["objective"], whole["objective"])
        np.testing.assert_array_equal(self.load("D.npy"), self.load("C.npy"))
        self.assertNotIn("k.json", self.files())
        self.find(2, *arguments, "D.npy", *keep, "--max-iterations", "5")
        self.assertRegex(self.succeed(3, "kmeans", *arguments, "D.npy", *keep, "--resume"), r"\n  resumed +after iteration 5\n")

    @alike_with_every_mpi
    def test_the_summary_tells_what_each_file_got_and_counts_in_words(self):
        self.save("X.npy", np.array([[1.0, 2.0]]))
        text = self.succeed(1, "kmeans", "X.npy", "-k", "1", "-o", "l.npy", "--centres", "C.npy")
        for words in ("1 cluster of X.npy: 1 point of 2 coordinates\n", "none of 1 point has", "1 to 1 point\n", "l.npy: 4 B in", "C.npy: 16 B in"):
            self.assertIn(words, text)
        self.assertRegex(text, r"\n  iterated .* 100 % of distances computed\n")
        self.assertNotIn("resumed", text)
        self.assertEqual(self.find(1, "X.npy", "-k", "1", "-o", "l.npy", "--centres", "C.npy")["write"]["bytes"], 20)

    @alike_with_every_mpi
    def test_wrong_data_are_named(self):
        points = self.save("X.npy", blobs(30, 3))
        self.fail_with("-k: the number of clusters is 31, expected from 1 to 30, the number of points", "X.npy", "-k", "31", "-o", "l.npy")
        points[17, 2] = np.nan
        self.save("N.npy", points)
        self.fail_with("N.npy: the data have nan in row 17, column 2 (counted from 0)", "N.npy", "-k", "3", "-o", "l.npy")
        self.save("D.npy", np.repeat([[1.0, 2.0], [3.0, 4.0]], 5, axis=0))
        for start in ("++", "random"):
            self.fail_with("-k: the number of clusters is 3, expected at most 2, the number of distinct points", "D.npy", "-k", "3", "--start", start, "-o", "l.npy")
        self.save("S.npy", np.zeros((4, 2)))
        self.fail_with("S.npy is 4 x 2, expected 3 x 3", "X.npy", "-k", "3", "--start", "S.npy", "-o", "l.npy")
        self.save("C.npy", np.zeros((4, 2), dtype=complex))
        self.fail_with("C.npy has elements of c128, expected real ones", "C.npy", "-k", "3", "-o", "l.npy")
        self.save("E.npy", np.zeros((0, 3)))
        self.fail_with("0 x 3, expected points with coordinates", "E.npy", "-k", "1", "-o", "l.npy")
        self.assertFalse({"l.npy"} & self.files())

    @alike_with_every_mpi
    def test_a_batch_is_refused_by_methods_without_batches(self):
        for method in ("exact", "sgd"):
            result = self.run_plait(2, "kmeans", "X.npy", "-k", "2", "--method", method, "--batch", "100", "-o", "l.npy")
            self.assertEqual(result.status, 2)
            self.assertIn(f"--batch is given, but --method is {method}, expected minibatch or asgd", result.stderr)

    @alike_with_every_mpi
    def test_the_page_shows_points_and_the_objective(self):
        self.save("X.npy", blobs(500, 4))
        self.succeed(2, "kmeans", "X.npy", "-k", "4", "-o", "l.npy", "--report", "r.html")
        page = (self.folder / "r.html").read_text()
        for words in ("<h2>Clusters</h2>", "500 of 500 points", "<h2>Objective</h2>"):
            self.assertIn(words, page)

    def page(self, points: np.ndarray, clusters: int) -> str:
        self.save("P.npy", points)
        self.succeed(1, "kmeans", "P.npy", "-k", str(clusters), "-o", "l.npy", "--report", "p.html")
        return (self.folder / "p.html").read_text()

    @alike_with_every_mpi
    def test_the_page_draws_points_of_one_coordinate_on_a_line(self):
        page = self.page(np.arange(20.0) ** 2, 4)
        self.assertIn(">coordinate 0</text>", page)
        self.assertNotIn("coordinate 1", page)
        clusters = page[page.index("<h2>Clusters</h2>") : page.index("<h2>Objective</h2>")]
        self.assertEqual(len(set(re.findall(r'<circle cx="[^"]*" cy="([^"]*)"', clusters))), 1)

    @alike_with_every_mpi
    def test_the_page_draws_both_axes_of_a_plane_to_one_scale(self):
        page = self.page(np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 5.0], [100.0, 5.0]]), 4)
        places = re.findall(r'<circle cx="([^"]*)" cy="([^"]*)" r="4"', page[: page.index("<h2>Objective</h2>")])
        (left, low), (right, high) = np.array(places, dtype=float).min(axis=0), np.array(places, dtype=float).max(axis=0)
        self.assertAlmostEqual((high - low) / (right - left), 0.05, delta=0.001)

    @alike_with_every_mpi
    def test_the_page_has_short_numbers_where_all_points_are_equal_and_no_decades_for_a_flat_objective(self):
        page = self.page(np.full((9, 2), 3.0), 1)
        ticks = re.findall(r'text-anchor="end">([^<]*)</text>', page)
        self.assertGreater(len(ticks), 5)
        self.assertLess(max(map(len, ticks)), 6)
        flat = self.page(blobs(500, 4), 4)
        self.assertNotIn("1e", "".join(re.findall(r'text-anchor="end">([^<]*)</text>', flat)))
        self.assertNotIn("logarithmic", flat)

    @alike_with_every_mpi
    @unittest.skipIf(Referee is None, "scikit-learn is not installed")
    def test_scikit_learn_finds_the_same(self):
        points = self.save("X.npy", blobs(4000, 6))
        self.save("S.npy", points[:20])
        report = self.find(2, "X.npy", "-k", "20", "--start", "S.npy", "-o", "l.npy", "--centres", "C.npy")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            its = Referee(20, init=points[:20], n_init=1, tol=0, max_iter=300, algorithm="lloyd").fit(points)
        np.testing.assert_array_equal(self.load("l.npy"), its.labels_)
        np.testing.assert_allclose(self.load("C.npy"), its.cluster_centers_, rtol=1e-12, atol=1e-12)
        self.assertAlmostEqual(report["objective"] / its.inertia_, 1, places=11)

    @alike_with_every_mpi
    @unittest.skipIf(Referee is None, "scikit-learn is not installed")
    def test_drawn_centres_are_as_good_as_those_of_scikit_learn(self):
        """By the sum of squares after one iteration, over 20 seeds."""
        random = np.random.default_rng(3)
        points = self.save("X.npy", random.uniform(0, 60, size=(40, 3))[random.integers(40, size=2000)] + random.normal(size=(2000, 3)))
        mine, theirs = [], []
        for seed in range(20):
            mine.append(self.find(0, "X.npy", "-k", "40", "--seed", str(seed), "--max-iterations", "1", "-o", "l.npy")["objective"])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs.append(Referee(40, n_init=1, max_iter=1, tol=0, random_state=seed, algorithm="lloyd").fit(points).inertia_)
        self.assertLess(np.mean(mine), 1.1 * np.mean(theirs))
