"""`plait fit` against NumPy and, where it is there, scikit-learn."""

import json
import unittest

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

try:
    from sklearn import datasets
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC
except ImportError:
    datasets = None


def samples(rows: int, columns: int, classes: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of different units, numbers, and classes that overlap."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + random.normal(size=columns)
    outputs = x @ random.normal(size=(columns, classes)) / columns**0.5 + random.gumbel(size=(rows, classes))
    return x * 10.0 ** random.integers(-2, 3, columns), outputs[:, 0], outputs.argmax(axis=1)


def objective(model: str, x: np.ndarray, labels: np.ndarray, weights: np.ndarray, l2: float) -> float:
    z = x @ weights[:, :-1].T + weights[:, -1]
    if model == "linear":
        losses = (z[:, 0] - labels) ** 2 / 2
    else:
        own = np.unique(labels)[None, :] == labels[:, None]
        if z.shape[1] == 1:
            z = np.hstack([np.zeros_like(z), z]) if model == "logistic" else z
            own = own if model == "logistic" else own[:, 1:]
        if model == "logistic":
            losses = np.logaddexp.reduce(z, axis=1) - z[own]
        else:
            losses = (np.maximum(0, 1 - np.where(own, z, -z)) ** 2).sum(axis=1)
    return losses.mean() + l2 / 2 * (weights[:, :-1] ** 2).sum()


def balanced(x: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """No piece gets more than its part: the farthest samples go to the nearest piece with room."""
    squares = ((x[:, None, :] - centres) ** 2).sum(axis=2)
    labels, full = labels.copy(), np.zeros(len(centres), bool)
    while (over := (np.bincount(labels, minlength=len(centres)) > -(-len(x) // len(centres)))).any():
        full |= over
        for j in np.flatnonzero(over):
            its = np.flatnonzero(labels == j)
            for i in its[np.argsort(squares[its, j], kind="stable")][-(-len(x) // len(centres)) :]:
                labels[i] = np.where(full, np.inf, squares[i]).argmin()
    return labels


class Fit(CommandTest):
    def fit(self, ranks: int, *arguments: str, status: str = "converged") -> dict:
        if "--tolerance" not in arguments:
            arguments += ("--tolerance", "1e-8")
        result = self.run_plait(ranks, "fit", *arguments, "--json")
        self.assertEqual(result.status, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["status"], status)
        self.assertEqual("warning" in result.stderr, status != "converged")
        return report

    def fail_with(self, words: str, *arguments: str, status: int = 1) -> None:
        # Words are read alike by any number of ranks: see errors_test.py.
        for ranks in (0,) if status == 2 else (0, 3):
            result = self.run_plait(ranks, "fit", *arguments, "-o", "W.npy")
            self.assertEqual((result.status, result.stdout), (status, ""))
            self.assertIn(words, result.errors[0])
        self.assertNotIn("W.npy", self.files())

    def test_weights_have_the_same_bits_on_any_number_of_ranks_by_all_methods(self):
        x, numbers, classes = samples(301, 5, 3)
        self.save("X.npy", x)
        for model, labels in (("linear", numbers), ("svm", classes)):
            self.save("y.npy", labels.astype(float))
            for method in ("lbfgs", "batch", "minibatch", "sgd"):
                found = []
                for ranks in (0, 2, 5) if method == "lbfgs" else (0, 3):
                    limit = ("--max-iterations", "4", "--held-out", "0.1", "--seed", "7")
                    report = self.fit(ranks, "X.npy", "--labels", "y.npy", "--model", model, "--method", method, *limit, "-o", "W.npy", status="iteration limit")  # fmt: skip
                    found.append((self.load("W.npy").tobytes(), report["objective"]))
                self.assertEqual(found.count(found[0]), len(found), (model, method))

    @alike_with_every_mpi
    def test_the_objective_is_the_one_that_is_told_and_no_weights_near_have_less(self):
        x, numbers, classes = samples(400, 4, 3)
        self.save("X.npy", x)
        random = np.random.default_rng(5)
        for model, labels in (("linear", numbers), ("logistic", classes), ("svm", classes), ("logistic", classes > 0), ("svm", classes > 0)):
            self.save("y.npy", labels.astype(float))
            report = self.fit(2, "X.npy", "--labels", "y.npy", "--model", model, "--l2", "0.01", "-o", "W.npy")
            weights = self.load("W.npy")
            least = objective(model, x, labels.astype(float), weights, 0.01)
            self.assertAlmostEqual(report["objective"] / least, 1, places=12)
            for _ in range(20):
                near = weights * (1 + 1e-3 * random.normal(size=weights.shape))
                self.assertGreater(objective(model, x, labels.astype(float), near, 0.01), least)

    @alike_with_every_mpi
    def test_linear_weights_solve_the_normal_equations(self):
        x, numbers, _ = samples(300, 6, 2)
        for dtype in (np.float64, np.float32):
            self.save("X.npy", np.asfortranarray(x.astype(dtype)))
            self.save("y.npy", numbers)
            for l2, flags in (("0", ()), ("0.5", ()), ("0.5", ("--no-intercept",))):
                self.fit(2, "X.npy", "--labels", "y.npy", "--model", "linear", "--l2", l2, "--tolerance", "1e-12", *flags, "-o", "W.npy")
                right = np.hstack([x.astype(dtype).astype(float), np.ones((300, 0 if flags else 1))])
                ridge = float(l2) * 300 * np.diag([1.0] * 6 + [0.0] * (right.shape[1] - 6))
                expected = np.linalg.solve(right.T @ right + ridge, right.T @ numbers)
                found = self.load("W.npy")[0]
                np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-7, atol=1e-9 * abs(expected).max())
                self.assertEqual(found[6] == 0, bool(flags))

    def test_all_methods_reach_one_point(self):
        x, numbers, classes = samples(200, 4, 3)
        self.save("X.npy", x)
        for model, labels in (("linear", numbers), ("logistic", classes), ("svm", classes)):
            self.save("y.npy", labels)
            found = []
            for method in ("lbfgs", "batch", "minibatch", "sgd"):
                batch = ("--batch", "8") if method == "minibatch" else ()
                self.fit(0, "X.npy", "--labels", "y.npy", "--model", model, "--l2", "0.1", "--method", method, *batch, "-o", "W.npy")
                found.append(self.load("W.npy"))
                np.testing.assert_allclose(found[-1], found[0], rtol=1e-6, atol=1e-6 * abs(found[0]).max())

    def test_ranks_that_do_not_wait_for_each_other_reach_that_point_too(self):
        x, _, classes = samples(300, 4, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        arguments = ("X.npy", "--labels", "y.npy", "--model", "logistic", "--l2", "0.1", "-o", "W.npy")
        expected = self.fit(0, *arguments)["objective"]
        for ranks in (0, 3):
            report = self.fit(ranks, *arguments, "--method", "asgd", "--batch", "8", "--tolerance", "1e-6")
            self.assertAlmostEqual(report["objective"] / expected, 1, places=10)
        keep = ("--method", "asgd", "--checkpoint", "k.json", "--checkpoint-every", "2")
        self.fit(2, *arguments, *keep, "--max-iterations", "5", status="iteration limit")
        resumed = self.fit(3, *arguments, *keep, "--resume", "--tolerance", "1e-6")
        self.assertEqual((resumed["resumed_at"], resumed["objective"] < expected * (1 + 1e-10)), (5, True))
        self.assertIn(" of other ranks taken into account\n", self.succeed(2, "fit", *arguments, "--method", "asgd"))

    def test_it_goes_on_from_a_checkpoint_with_the_same_bits(self):
        x, _, classes = samples(500, 6, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        for method in ("lbfgs", "batch", "minibatch"):
            arguments = ("X.npy", "--labels", "y.npy", "--model", "logistic", "--method", method, "--l2", "0.1", "-o")
            whole = self.fit(1, *arguments, "W.npy")
            self.assertGreater(whole["iterations"], 8)
            keep = ("--checkpoint", "k.json", "--checkpoint-every", "2")
            self.fit(2, *arguments, "V.npy", *keep, "--max-iterations", "7", status="iteration limit")
            resumed = self.fit(3, *arguments, "V.npy", *keep, "--resume")
            self.assertEqual((resumed["resumed_at"], resumed["objective"]), (7, whole["objective"]))
            np.testing.assert_array_equal(self.load("V.npy"), self.load("W.npy"))

    def test_samples_that_are_held_out_are_not_learnt_from_and_tell_how_good_the_model_is(self):
        x, numbers, classes = samples(900, 3, 2)
        self.save("X.npy", x)
        for model, labels in (("linear", numbers), ("logistic", classes)):
            self.save("y.npy", labels)
            arguments = ("--labels", "y.npy", "--model", model, "-o", "W.npy", "--predict", "X.npy", "--predictions", "p.npy")
            report = self.fit(3, "X.npy", *arguments, "--held-out", "0.25", "--seed", "3")
            self.assertAlmostEqual(report["held_out"] / 900, 0.25, delta=0.06)
            said, key = self.load("p.npy"), "r2" if model == "linear" else "accuracy"
            parts = report[key]["training"], report[key]["held_out"]
            if model == "logistic":
                right = (said == labels).sum()
                self.assertAlmostEqual(parts[0] * (900 - report["held_out"]) + parts[1] * report["held_out"], right, places=6)
                self.assertEqual(said.dtype, np.int32)
            again = self.fit(3, "X.npy", *arguments, "--held-out", "25%", "--seed", "3", "--predict-labels", "y.npy")
            self.assertEqual(again["objective"], report["objective"])
            right = 1 - ((said - labels) ** 2).sum() / ((labels - labels.mean()) ** 2).sum() if model == "linear" else (said == labels).mean()
            self.assertAlmostEqual(again[key]["predicted"], right, places=12)
            self.assertNotIn("predicted", report[key])
            (self.folder / "p.npy").unlink()
            scored = self.fit(2, "X.npy", *arguments[:4], "--held-out", "25%", "--seed", "3", "--predict", "X.npy", "--predict-labels", "y.npy")
            self.assertEqual((scored[key], scored["predictions"]), (again[key], None))
            self.assertNotIn("p.npy", self.files())
            all_of_them = self.fit(0, "X.npy", *arguments)
            self.assertEqual(all_of_them["held_out"], 0)
            if model == "linear":
                said = self.load("p.npy")
                r2 = 1 - ((said - labels) ** 2).sum() / ((labels - labels.mean()) ** 2).sum()
                self.assertAlmostEqual(all_of_them["r2"]["training"], r2, places=12)
            self.assertNotEqual(report["objective"], all_of_them["objective"])

    @alike_with_every_mpi
    def test_labels_that_are_all_alike_have_no_score(self):
        self.save("X.npy", np.random.default_rng(1).random((20, 2)))
        self.save("y.npy", np.arange(20.0))
        self.save("same.npy", np.full(20, 0.1))
        job = ("fit", "X.npy", "--model", "linear", "--predict", "X.npy", "--predict-labels", "same.npy", "-o", "W.npy")
        for labels in ("y.npy", "same.npy"):  # of the others what is said is wrong, and right
            told = self.succeed(0, *job, "--labels", labels, "--report", "it.html")
            self.assertRegex(told, "(?m)^  R\\^2 .*, undefined of X.npy$")
            self.assertIn("undefined", (self.folder / "it.html").read_text())
            self.assertNotRegex((self.folder / "it.html").read_text(), r"\b(inf|nan) R²")
            self.assertIsNone(self.fit(2, *job[1:], "--labels", labels)["r2"]["predicted"])

    def test_pieces_have_the_models_of_their_samples_alone_on_any_number_of_ranks(self):
        x, numbers, _ = samples(331, 3, 2, seed=4)
        x = np.round(x / x.std(axis=0), 3)
        x[::5] += 9
        classes = (x[:, 0] + x[:, 1] * (x[:, 2] > 4) > np.median(x[:, 0])) + 5 * (x[:, 2] > np.median(x[:, 2]))
        self.save("X.npy", x)
        self.save("Z.npy", x[::-1] + 0.25)
        self.succeed(0, "kmeans", "X.npy", "-k", "4", "--seed", "3", "-o", "l.npy", "--centres", "M.npy")
        labels = balanced(x, self.load("M.npy"), self.load("l.npy"))
        self.assertNotEqual(labels.tolist(), self.load("l.npy").tolist())
        for model, y in (("linear", numbers), ("svm", classes)):
            self.save("y.npy", y)
            flags = ("--labels", "y.npy", "--model", model, "--l2", "0.01", "--seed", "3")
            found = []
            for ranks in (0, 2, 3, 7):
                report = self.fit(ranks, "X.npy", *flags, "--pieces", "4", "-o", "W.npy", "--centres", "C.npy", "--predict", "Z.npy", "--predictions", "p.npy")
                found.append([self.load(name).tobytes() for name in ("W.npy", "C.npy", "p.npy")] + [report["objective"], report["pieces"]])
            self.assertEqual(found.count(found[0]), len(found))
            self.assertEqual(report["pieces"]["samples"], np.bincount(labels).tolist())
            weights, centres, said = (self.load(name) for name in ("W.npy", "C.npy", "p.npy"))
            nearest = ((self.load("Z.npy")[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
            outputs, objectives = len(weights) // 4, 0
            for p in range(4):
                its = labels == p
                np.testing.assert_allclose(centres[p], x[its].mean(axis=0), rtol=1e-14)
                self.save("P.npy", x[its])
                self.save("q.npy", y[its])
                alone = self.fit(0, "P.npy", "--labels", "q.npy", *flags[2:], "-o", "V.npy", "--predict", "Z.npy", "--predictions", "r.npy")
                if model == "linear" or set(y[its]) == set(y):
                    np.testing.assert_array_equal(weights[p * outputs : (p + 1) * outputs], self.load("V.npy"))
                np.testing.assert_array_equal(said[nearest == p], self.load("r.npy")[nearest == p])
                objectives += alone["objective"] * its.sum() / len(x)
            self.assertAlmostEqual(report["objective"] / objectives, 1, places=12)

    @alike_with_every_mpi
    def test_pieces_of_one_class_say_it_always_and_say_so(self):
        x = np.vstack([np.random.default_rng(2).normal(size=(60, 2)) + 40 * p for p in range(3)])
        self.save("X.npy", x.astype(np.float32))
        near = np.random.default_rng(3).normal(size=(60, 2)) + 40
        self.save("Z.npy", near.astype(np.float32))
        for others, classes in ((4, 2), (6, 3)):
            y = np.repeat([4, 9, others], 60)
            y[::7] = 4
            y[60:120] = 9
            self.save("y.npy", y)
            flags = ("X.npy", "--labels", "y.npy", "--model", "logistic", "--held-out", "0.1", "-o", "W.npy", "--predict", "Z.npy", "--predictions", "p.npy", "--pieces", "3")
            report = self.fit(2, *flags, "--report", "r.html")
            self.assertEqual((len(report["classes"]), set(self.load("p.npy"))), (classes, {9}))
            self.assertIn("with one class, which they say always: ", self.succeed(0, "fit", *flags))
            self.assertTrue(np.isinf(self.load("W.npy")).any())
            self.assertGreater(report["accuracy"]["held_out"], 0.5)

    @alike_with_every_mpi
    def test_pieces_that_cannot_be_are_refused(self):
        x, _, classes = samples(30, 3, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        model = ("X.npy", "--labels", "y.npy", "--model", "svm")
        self.fail_with("--pieces: the number of clusters is 31, expected from 1 to 30, the number of points", *model, "--pieces", "31")
        self.fail_with("--pieces is given, but --method is asgd", *model, "--pieces", "2", "--method", "asgd", status=2)
        self.fail_with("--checkpoint is given, but pieces are fitted without a stop", *model, "--pieces", "2", "--checkpoint", "k.json", status=2)
        self.fail_with("--centres is given, but not --pieces", *model, "--centres", "C.npy", status=2)
        self.save("X.npy", np.ones((30, 3)))
        self.fail_with("--pieces: the number of clusters is 2, expected at most 1, the number of distinct points", *model, "--pieces", "2")

    @alike_with_every_mpi
    def test_text_files_have_the_same_model(self):
        x, _, classes = samples(300, 4, 3)
        x = np.where(np.random.default_rng(3).random(x.shape) < 0.3, 0, x)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        flags = ("--model", "logistic", "-o", "W.npy", "--predictions", "p.npy", "--predict")
        self.fit(0, "X.npy", "--labels", "y.npy", *flags, "X.npy")
        expected, said = self.load("W.npy"), self.load("p.npy")
        (self.folder / "x.csv").write_text("a,b,c,d\n" + "".join(",".join(map(repr, row)) + "\n" for row in x.tolist()))
        (self.folder / "y.csv").write_text("".join(f"{label}\n" for label in classes))
        words = [" ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value) for row in x.tolist()]
        (self.folder / "x.svm").write_text("".join(f"{label} {word}\n" for label, word in zip(classes, words)))
        (self.folder / "few.svm").write_text("0 2:1\n0\n")
        for ranks, files in ((3, ("x.csv", "--labels", "y.csv")), (2, ("x.svm",)), (0, ("X.npy", "--labels", "x.svm"))):
            self.fit(ranks, *files, *flags, files[0])
            np.testing.assert_array_equal(self.load("W.npy"), expected)
            np.testing.assert_array_equal(self.load("p.npy"), said)
        told = self.fit(0, "x.svm", *flags, "few.svm")
        z = np.array([[0, 1, 0, 0], [0, 0, 0, 0]]) @ expected[:, :4].T + expected[:, 4]
        np.testing.assert_array_equal(self.load("p.npy"), z.argmax(axis=1))
        self.assertEqual(told["accuracy"]["predicted"], (z.argmax(axis=1) == 0).mean())
        words = self.succeed(2, "fit", "x.svm", *flags[:2], "--predict", "few.svm", "--start", "W.npy", "--max-iterations", "0", "--report", "r.html")
        self.assertRegex(words, f" of x.svm, {told['accuracy']['predicted']:g} of few.svm\n")
        self.assertIn("What is said of few.svm", (self.folder / "r.html").read_text())
        report = json.loads(self.succeed(0, "kmeans", "x.csv", "-k", "3", "-o", "l.npy", "--json"))
        self.assertEqual(report["objective"], json.loads(self.succeed(0, "kmeans", "X.npy", "-k", "3", "-o", "l.npy", "--json"))["objective"])
        (self.folder / "W.npy").unlink()
        (self.folder / "zero.svm").write_text("0 0:1 3:1\n1 1:2\n")
        words = "zero.svm has columns from 0 to 3, x.svm from 1 to 4, so that one seems to count from 0 and the other from 1; expected both to count alike (if both count from 0, add 0:0 to a row of x.svm)"
        predict = ("--model", "logistic", "--predictions", "q.npy", "--predict")
        self.fail_with(words, "x.svm", *predict, "zero.svm")
        (self.folder / "wide.svm").write_text("0 9:1\n")
        self.fail_with("wide.svm is 1 x 9 with columns counted from 1, expected 1 x 4: the columns of x.svm, which is 300 x 4 with columns counted from 1", "x.svm", *predict, "wide.svm")
        self.fail_with("few.svm is 2 x 2 with columns counted from 1, expected 2 x 4: the columns of X.npy", "X.npy", "--labels", "y.npy", *predict, "few.svm")
        (self.folder / "last.svm").write_text("0 1:1 4:2\n")
        self.fail_with("last.svm has columns from 1 to 4, zero.svm from 0 to 3, ", "zero.svm", *predict, "last.svm")
        (self.folder / "sparse.svm").write_text("0 1:1 3:2\n")
        (self.folder / "dense.csv").write_text("0 1 0 2\n")
        self.fit(2, "zero.svm", *predict, "sparse.svm", "-o", "W.npy")
        said = self.load("q.npy")
        self.fit(0, "zero.svm", *predict, "dense.csv", "-o", "W.npy")
        np.testing.assert_array_equal(self.load("q.npy"), said)
        (self.folder / "W.npy").unlink()
        self.fail_with("x.csv is 300 x 4 below a line without numbers, taken for names of columns, expected 300 x 1: a label for each row of x.csv", "x.csv", "--labels", "x.csv", "--model", "logistic")
        self.fail_with("x.csv has no labels, expected them in a file of --labels", "x.csv", "--model", "logistic")

    def test_saved_weights_predict_without_labels_and_are_begun_with(self):
        x, numbers, classes = samples(200, 4, 3)
        self.save("X.npy", x)
        self.save("Z.npy", x[:50])
        for model, labels in (("linear", numbers), ("logistic", classes), ("svm", classes > 0)):
            self.save("y.npy", labels.astype(float))
            whole = self.fit(2, "X.npy", "--labels", "y.npy", "--model", model, "-o", "W.npy", "--predict", "Z.npy", "--predictions", "p.npy")
            said = self.load("p.npy")
            for ranks in (0, 3):
                told = json.loads(self.succeed(ranks, "fit", "Z.npy", "--model", model, "--start", "W.npy", "--predictions", "q.npy", "--json"))
                self.assertEqual((told["labels"], told["start"], told["predictions"]), (None, "W.npy", "q.npy"))
                if model == "linear":
                    np.testing.assert_allclose(self.load("q.npy"), said, rtol=1e-12, atol=1e-12)
                else:
                    np.testing.assert_array_equal(self.load("q.npy"), said)
            again = self.fit(2, "X.npy", "--labels", "y.npy", "--model", model, "--start", "W.npy", "--predictions", "r.npy")
            self.assertLessEqual(again["iterations"], 1)
            for ranks in (0, 3):
                words = self.succeed(ranks, "fit", "Z.npy", "--model", model, "--start", "W.npy", "--predictions", "q.npy", "--report", "r.html")
                page = Page((self.folder / "r.html").read_text())
                self.assertEqual((page.texts["h2"][0], page.texts["b"]), ("What is said of Z.npy", ["50"]))
                counts = [[float(cell.split(" to ")[0]) for cell in row[:2]] for row in page.rows[1:] if len(row) == 3]
                if model == "linear":
                    expected = np.unique((10 * (said - said.min()) / np.ptp(said)).astype(int).clip(0, 9), return_counts=True)
                    np.testing.assert_allclose([at for at, _ in counts], said.min() + np.ptp(said) / 10 * expected[0], rtol=1e-4, atol=1e-4)
                else:
                    expected = np.unique(said, return_counts=True)
                    self.assertEqual([at for at, _ in counts], expected[0].tolist())
                self.assertEqual([count for _, count in counts], expected[1].tolist())
            self.assertIn("\n  start     W.npy\n" if model == "linear" else "\n  start     W.npy; classes are counted from 0\n", words)
            self.assertEqual(self.load("r.npy")[:50].tolist(), self.load("q.npy").tolist()) if model != "linear" else None
            further = ("fit", "X.npy", "--labels", "y.npy", "--model", model, "--start", "W.npy", "-o", "V.npy")
            counted = rf"\n  start     W.npy, then fitted on {len(x)} samples of X.npy; with --max-iterations 0 it only predicts\n"
            self.assertRegex(self.succeed(0, *further), counted)
            self.assertIn("\n  start     W.npy, as it is\n", self.run_plait(0, *further, "--max-iterations", "0").stdout)
            looked = self.run_plait(2, "fit", "X.npy", "--labels", "y.npy", "--model", model, "--start", "W.npy", "--max-iterations", "0", "-o", "V.npy", "--json")
            self.assertEqual((looked.stderr, json.loads(looked.stdout)["status"]), ("", "finished"))
            key = "r2" if model == "linear" else "accuracy"
            self.assertAlmostEqual(json.loads(looked.stdout)[key]["training"], whole[key]["training"], places=12)
            np.testing.assert_allclose(self.load("V.npy"), self.load("W.npy"), rtol=1e-10)

    @alike_with_every_mpi
    def test_options_that_only_fitting_uses_are_refused_without_labels(self):
        x, numbers, _ = samples(40, 4, 2)
        self.save("X.npy", x)
        self.save("y.npy", numbers)
        self.fit(0, "X.npy", "--labels", "y.npy", "--model", "linear", "-o", "V.npy")
        saved = ("X.npy", "--model", "linear", "--start", "V.npy", "--predictions", "q.npy")
        self.succeed(2, "fit", *saved, "-o", "U.npy", "--report", "r.html", "--progress", "--quiet")
        for options in (("--predict", "X.npy"), ("--held-out", "0.2"), ("--tolerance", "1e-3"), ("--method", "lbfgs"), ("--no-intercept",), ("--seed", "0", "--step", "1", "--method", "sgd")):
            self.fail_with(f"{options[0]} is given, but X.npy has no labels (--labels): nothing is learnt", *saved, *options, status=2)
        without = tuple(each for each in saved if each not in ("--start", "V.npy"))
        self.fail_with("X.npy has no labels, expected them in a file of --labels, or --start", *without, "--tolerance", "1")

    def test_ranks_that_average_end_after_a_hundred_epochs(self):
        x, numbers, _ = samples(40, 4, 2)
        self.save("X.npy", x)
        self.save("y.npy", numbers)
        report = json.loads(self.succeed(2, "fit", "X.npy", "--labels", "y.npy", "--model", "linear", "--method", "parallel-sgd", "-o", "W.npy", "--json"))
        self.assertEqual((report["status"], report["iterations"]), ("finished", 100))

    @alike_with_every_mpi
    def test_weights_that_are_none_are_refused_with_and_without_labels(self):
        x, numbers, classes = samples(30, 3, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes.astype(float))
        weights = np.ones((3, 4))
        for row, column, number in ((2, 1, np.nan), (0, 3, np.inf), (1, 0, -np.inf)):
            self.save("W0.npy", np.where((np.arange(12) == 4 * row + column).reshape(3, 4), number, weights))
            for given in (("--predictions", "p.npy"), ("--labels", "y.npy"), ("--labels", "y.npy", "--max-iterations", "0")):
                self.fail_with(f"--start W0.npy: it has {number} in row {row}, column {column} (counted from 0), expected finite numbers", "X.npy", "--model", "logistic", "--start", "W0.npy", *given)
                self.assertNotIn("p.npy", self.files())
        for given in (("--predictions", "p.npy"), ("--labels", "y.npy")):
            for model, rows, expected in (("svm", 0, "a row or more"), ("linear", 0, "one row, as --model is linear"), ("linear", 3, "one row, as --model is linear")):
                self.save("W0.npy", weights[:rows])
                self.fail_with(f"--start W0.npy: it is {rows} x 4, expected {expected}", "X.npy", "--model", model, "--start", "W0.npy", *given)
        self.save("W0.npy", weights[:2])
        self.fail_with("--start W0.npy: there are 8 weights to begin with, expected 12: 4 of each of 3 outputs", "X.npy", "--labels", "y.npy", "--model", "svm", "--start", "W0.npy")
        self.save("W0.npy", weights * 1e70)
        self.fail_with("--start W0.npy: weights to begin with have ", "X.npy", "--labels", "y.npy", "--model", "svm", "--start", "W0.npy")

    @alike_with_every_mpi
    def test_outputs_beyond_the_range_of_numbers_tell_no_class(self):
        x = samples(30, 3, 3)[0]
        x[4] = [1e200, -1e200, 1e200]  # so that infinite terms of both signs meet
        self.save("X.npy", x)
        for model, rows in (("logistic", 3), ("svm", 1), ("linear", 1)):
            self.save("W0.npy", np.full((rows, 4), 1e150))
            self.fail_with("the model's outputs leave the range of numbers for row 4 of X.npy", "X.npy", "--model", model, "--start", "W0.npy", "--predictions", "p.npy")
            self.assertNotIn("p.npy", self.files())

    @alike_with_every_mpi
    def test_wrong_data_are_named(self):
        x, numbers, classes = samples(30, 3, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        model = ("--labels", "y.npy", "--model", "logistic")
        self.fail_with("--held-out: '100%' leaves no sample to learn from; expected a share below 1", "X.npy", *model, "--held-out", "100%", status=2)
        self.fail_with("--held-out: '1.1' is no share; expected 0 to 1, or 0% to 100%", "X.npy", *model, "--held-out", "1.1", status=2)
        self.fail_with("--predict is given, but neither --predictions nor its labels (--predict-labels)", "X.npy", *model, "--predict", "X.npy", status=2)
        self.fail_with("--predict-labels is given, but not --predict; the labels of IN are those of --labels", "X.npy", *model, "--predict-labels", "y.npy", status=2)
        self.fail_with("--max-iterations is 0, but there is no --start", "X.npy", *model, "--max-iterations", "0", status=2)
        self.fail_with("--exchange gossip is given, but --method is sgd, expected asgd", "X.npy", *model, "--method", "sgd", "--exchange", "gossip", status=2)
        self.fail_with("X.npy has no labels, expected them in a file of --labels, or --start", "X.npy", *model[2:], "--start", "X.npy")
        self.fail_with("--start X.npy: it is 30 x 3, expected 4 columns: a weight for each of X.npy, and the intercept", "X.npy", *model, "--start", "X.npy")
        for method in ("lbfgs", "batch", "sgd", "parallel-sgd"):
            self.fail_with(f"--batch is given, but --method is {method}, expected minibatch or asgd", "X.npy", *model, "--method", method, "--batch", "8", status=2)
        self.save("y.npy", classes[:29])
        self.fail_with("y.npy is 29 x 1, expected 30 x 1: a label for each row of X.npy", "X.npy", *model)
        self.save("y.npy", classes + 0.5 * (np.arange(30) == 17))
        self.fail_with("in row 17 (counted from 0), expected whole numbers", "X.npy", *model)
        self.save("y.npy", np.full(30, 4))
        self.fail_with("--labels y.npy: all labels are 4, expected two classes or more", "X.npy", *model)
        self.save("y.npy", np.where(np.arange(30) == 17, 9, classes))
        for seed in map(str, range(99)):
            result = self.run_plait(0, "fit", "X.npy", *model, "--held-out", "0.5", "--seed", seed, "-o", "W.npy")
            if result.status:
                break
        self.assertIn("class 9 has no sample to learn from", result.errors[0])
        (self.folder / "W.npy").unlink(missing_ok=True)
        self.save("y.npy", np.where(np.arange(30) == 5, np.inf, numbers))
        self.fail_with("--labels y.npy: the labels have inf in row 5", "X.npy", "--labels", "y.npy", "--model", "linear")
        self.save("y.npy", classes)
        x[21, 2] = np.nan
        self.save("N.npy", x)
        self.fail_with("N.npy: the data have nan in row 21, column 2 (counted from 0)", "N.npy", *model)
        self.save("Z.npy", np.zeros((2, 4)))
        self.fail_with("--predict-labels Z.npy is 2 x 4, expected 30 x 1: a label for each row of X.npy", "X.npy", *model, "--predict", "X.npy", "--predictions", "p.npy", "--predict-labels", "Z.npy")
        self.fail_with("Z.npy is 2 x 4, expected 2 x 3: the columns of X.npy", "X.npy", *model, "--predict", "Z.npy", "--predictions", "p.npy")
        self.save("C.npy", np.zeros((30, 2), dtype=complex))
        self.fail_with("C.npy has elements of c128, expected real ones", "C.npy", *model)

    @alike_with_every_mpi
    def test_steps_that_are_too_long_are_told(self):
        x, numbers, _ = samples(30, 3, 3)
        self.save("X.npy", x)
        self.save("y.npy", numbers)
        self.fail_with("the step is 100, with which", "X.npy", "--labels", "y.npy", "--model", "linear", "--method", "batch", "--step", "100")

    @alike_with_every_mpi
    def test_odd_samples_have_models_too(self):
        """One sample; constant, empty and equal columns; more columns than samples; one more rank than samples."""
        self.save("X.npy", np.array([[2.0, 3.0]]))
        self.save("y.npy", np.array([5.0]))
        self.fit(2, "X.npy", "--labels", "y.npy", "--model", "linear", "-o", "W.npy")
        self.assertEqual(self.load("W.npy").tolist(), [[0, 0, 5]])
        random = np.random.default_rng(2)
        wide = random.normal(size=(6, 40))
        wide[:, 3], wide[:, 5], wide[:, 7] = 1e9, 0, wide[:, 6]
        self.save("X.npy", wide)
        self.save("y.npy", np.array([0, 1, 1, 0, 2, 2]))
        for ranks, l2 in ((7, "0.1"), (0, "0")):
            report = self.fit(ranks, "X.npy", "--labels", "y.npy", "--model", "svm", "--l2", l2, "-o", "W.npy")
            self.assertEqual(report["accuracy"]["training"], 1)
        self.assertFalse(self.load("W.npy")[:, [3, 5]].any())

    @alike_with_every_mpi
    def test_the_page_shows_the_objective(self):
        x, _, classes = samples(50, 3, 3)
        self.save("X.npy", x)
        self.save("y.npy", classes)
        text = self.succeed(2, "fit", "X.npy", "--labels", "y.npy", "--model", "svm", "-o", "W.npy", "--report", "r.html")
        for words in ("svm of X.npy: 50 samples of 3 columns, 3 classes\n", "\n  accuracy  ", "W.npy: 96 B in"):
            self.assertIn(words, text)
        self.assertIn("<h2>Objective</h2>", (self.folder / "r.html").read_text())

    @alike_with_every_mpi
    def test_summary_and_page_tell_how_it_ended_and_how_good_the_model_is(self):
        x, numbers, classes = samples(80, 3, 3)
        self.save("X.npy", x)
        for model, labels, quality in (("logistic", classes, "accuracy"), ("linear", numbers, "R²")):
            self.save("y.npy", labels)
            flags = ("X.npy", "--labels", "y.npy", "--model", model, "--l2", "0.25", "--held-out", "30%", "--max-iterations", "2", "-o", "W.npy")
            report = self.fit(0, *flags, "--report", "r.html", status="iteration limit")
            page = (self.folder / "r.html").read_text()
            parts = report["accuracy" if model == "logistic" else "r2"]
            gradient = f"{report['gradient']:.2e}, tolerance 1e-08"
            tiles = (f"{parts['training']:.4g}", f"{quality} of samples to learn from", f"{parts['held_out']:.4g}", f"{quality} of {report['held_out']} samples held out")
            for words in ("iteration limit: the gradient is ", "lambda", "0.25", f"{report['objective']:.10g}", gradient, *tiles):
                self.assertIn(words, page)
            self.assertIn(f"; gradient {gradient}\n", self.run_plait(0, "fit", *flags, "--tolerance", "1e-8").stdout)

    @alike_with_every_mpi
    @unittest.skipIf(datasets is None, "scikit-learn is not installed")
    def test_the_usual_tolerance_predicts_as_well_as_that_of_scikit_learn(self):
        for data in (datasets.load_digits(), datasets.load_breast_cancer(), datasets.load_iris()):
            x, y = data.data, data.target
            test = np.random.default_rng(3).permutation(len(x)) % 4 == 0
            for name, array in (("X", x[~test]), ("y", y[~test]), ("T", x[test])):
                self.save(f"{name}.npy", array)
            z = (x - x[~test].mean(axis=0)) / np.maximum(x[~test].std(axis=0), 1e-9)
            rival = LogisticRegression(C=1e4 / (~test).sum(), max_iter=10000).fit(z[~test], y[~test])
            told = json.loads(self.succeed(2, "fit", "X.npy", "--labels", "y.npy", "--model", "logistic", "--predict", "T.npy", "--predictions", "p.npy", "--json"))
            self.assertEqual(told["status"], "converged")
            self.assertLess(told["iterations"], 4 * rival.n_iter_.max())
            self.assertGreaterEqual((self.load("p.npy") == y[test]).mean(), rival.score(z[test], y[test]) - 0.01)

    @alike_with_every_mpi
    @unittest.skipIf(datasets is None, "scikit-learn is not installed")
    def test_scikit_learn_finds_the_same(self):
        digits, cancer, diabetes = datasets.load_digits(), datasets.load_breast_cancer(), datasets.load_diabetes()
        for data, model, l2 in ((digits, "logistic", 1e-3), (cancer, "logistic", 1e-3), (cancer, "svm", 1e-2), (digits, "svm", 1e-2), (diabetes, "linear", 1e-3)):  # fmt: skip
            x, n = data.data, len(data.data)
            x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)  # without which it does not converge
            self.save("X.npy", x)
            self.save("y.npy", data.target)
            flags = ("--no-intercept",) if model == "svm" else ()  # which it would regularise
            self.fit(2, "X.npy", "--labels", "y.npy", "--model", model, "--l2", str(l2), *flags, "-o", "W.npy")
            weights = self.load("W.npy")
            its = {
                "logistic": lambda: LogisticRegression(C=1 / (n * l2), tol=1e-10, max_iter=10000),
                "svm": lambda: LinearSVC(C=1 / (n * l2), dual=False, fit_intercept=False, tol=1e-12, max_iter=10000),
                "linear": lambda: Ridge(alpha=n * l2, tol=1e-12),
            }[model]().fit(x, data.target)
            expected = np.hstack([np.atleast_2d(its.coef_), np.zeros((len(weights), 1)) + np.reshape(its.intercept_, (-1, 1))])
            np.testing.assert_allclose(weights, expected, atol=1e-3 * abs(expected).max())
            mine, theirs = (objective(model, x, data.target, each, l2) for each in (weights, expected))
            self.assertLessEqual(mine, theirs * (1 + 1e-12))
