"""`plait train` against NumPy and, where it is there, scikit-learn."""

import json
import unittest
import warnings

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

try:
    from sklearn import datasets
    from sklearn.linear_model import SGDClassifier
    from sklearn.neural_network import MLPClassifier
except ImportError:
    datasets = None


def rings(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Classes that no line parts, of columns in different units."""
    x = np.random.default_rng(seed).uniform(-1, 1, (rows, 2))
    return x * [100, 0.01] + [7, 0], np.digitize((x**2).sum(axis=1), (0.3, 0.8))


ACTIVATIONS = {
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "softmax": lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True),
}


class Train(CommandTest):
    def train(self, ranks: int, *arguments: str) -> dict:
        result = self.run_plait(ranks, "train", *arguments, "--json", "--quiet")
        self.assertEqual((result.status, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def fail_with(self, words: str, *arguments: str, status: int = 1) -> None:
        # Words are read alike by any number of ranks: see errors_test.py.
        for ranks in (0,) if status == 2 else (0, 3):
            result = self.run_plait(ranks, "train", *arguments, "--predict", "X.npy", "--predictions", "p.npy")
            self.assertEqual((result.status, result.stdout), (status, ""), arguments)
            self.assertIn(words, result.errors[0])
        self.assertNotIn("p.npy", self.files())

    def test_any_number_of_ranks_finds_the_same_and_the_same_bits_if_wanted(self):
        x, labels = rings(330)
        self.save("X.npy", x)
        self.save("y.npy", labels)
        flags = ("X.npy", "--labels", "y.npy", "--net", "dense 12 tanh, dense 3 softmax", "--held-out", "0.2", "--seed", "3", "--epochs", "4", "--predict", "X.npy", "--predictions", "p.npy")  # fmt: skip
        for reproducible in ((), ("--reproducible",)):
            found = []
            for ranks in (0, 2, 5):
                report = self.train(ranks, *flags, *reproducible)
                self.assertEqual((report["iterations"], report["parameters"]), (4, 12 * 3 + 3 * 13))
                found.append((report["losses"], report["accuracy"], self.load("p.npy").tobytes()))
                np.testing.assert_allclose(report["losses"], found[0][0], rtol=0 if reproducible else 1e-12)
            if reproducible:
                self.assertEqual(found.count(found[0]), len(found))

    def test_it_finds_the_same_however_ranks_share_the_work(self):
        random = np.random.default_rng(2)
        self.save("X.npy", random.normal(size=(90, 60)))
        self.save("y.npy", random.integers(3, size=90))
        flags = ("X.npy", "--labels", "y.npy", "--image", "6x5x2", "--net", "conv 3x3x4 relu, pool 2, dense 7 tanh, dense 3 softmax", "--epochs", "2", "--predict", "X.npy", "--predictions", "p.npy")  # fmt: skip
        expected = self.train(0, *flags)["losses"]
        for ranks, parallel in ((2, "model"), (3, "domain"), (3, "pipeline"), (2, "auto")):
            report = self.train(ranks, *flags, "--parallel", parallel)
            np.testing.assert_allclose(report["losses"], expected, rtol=1e-12)
            times = report["estimates"]
            self.assertEqual(list(times), sorted(times, key=times.get))
            self.assertEqual(set(times), {"data", "model", "domain", "pipeline"})
            self.assertEqual(report["parallel"], next(iter(times)) if parallel == "auto" else parallel)
        bits = [self.train(ranks, *flags, "--parallel", parallel, "--reproducible")["losses"] for ranks, parallel in ((1, "data"), (3, "pipeline"))]
        self.assertEqual(bits[0], bits[1])
        small = [self.train(ranks, *flags, "--batch", "2", *words) for ranks, words in ((0, ()), (3, ("--parallel", "auto")))]
        np.testing.assert_allclose(small[1]["losses"], small[0]["losses"], rtol=1e-10)
        self.assertNotIn("data", small[1]["estimates"])  # which takes a sample for each rank
        text = self.succeed(3, "train", *flags[:3], "--net", "dense 9 relu, dense 3 softmax", "--parallel", "pipeline", *flags[-4:])
        self.assertRegex(text, r"\n  parallel  pipeline, estimated \S+ \S+ a step \(.*\); 1 rank without work\n")

    def test_it_goes_on_from_a_checkpoint_with_the_same_bits(self):
        x, labels = rings(300)
        self.save("X.npy", x.astype(np.float32))
        self.save("y.npy", labels)
        arguments = ("X.npy", "--labels", "y.npy", "--net", "dense 8 relu, dense 3 softmax", "--reproducible", "--predict", "X.npy", "--predictions", "p.npy")  # fmt: skip
        whole = self.train(1, *arguments, "--epochs", "9")
        said = self.load("p.npy")
        keep = ("--checkpoint", "k.json", "--checkpoint-every", "2")
        ended = self.train(2, *arguments, *keep, "--epochs", "5")
        self.assertEqual((ended["status"], ended["reason"]), ("finished", "all 5 epochs are done; --resume with a larger --epochs goes on from k.json"))
        resumed = self.train(3, *arguments, *keep, "--epochs", "9", "--resume", "--parallel", "pipeline")
        self.assertEqual((resumed["resumed_at"], resumed["losses"]), (5, whole["losses"]))
        np.testing.assert_array_equal(self.load("p.npy"), said)

    @alike_with_every_mpi
    def test_what_it_says_is_what_the_file_of_the_network_tells_with_hdf5(self):
        random = np.random.default_rng(4)
        images, labels = random.normal(size=(150, 5 * 6 * 2)), random.integers(4, size=150)
        self.save("X.npy", images)
        self.save("y.npy", labels)
        self.save("t.npy", images[:, 0] * 30 + 500)
        if json.loads(self.succeed(0, "info", "--json"))["hdf5"] is None:
            self.skipTest("there is no HDF5")

        def of(name: str) -> np.ndarray:
            self.succeed(0, "redistribute", f"m.h5:/network/{name}", "-o", "part.npy")
            return self.load("part.npy")

        for network, target in (("conv 3x2x3 relu, pool 2, dense 4 softmax", "y.npy"), ("dense 7 sigmoid, dense 5 tanh, dense 1", "t.npy")):
            flags = ("--image", "5x6x2", "--net", network, "--epochs", "3", "--held-out", "10%")
            report = self.train(2, "X.npy", "--labels", target, *flags, "-o", "m.h5", "--predict", "X.npy", "--predictions", "p.npy")
            means, scales = of("scaling")
            np.testing.assert_allclose(means[:-1], np.tile(images.reshape(-1, 2).mean(axis=0), 30), atol=0.03)  # of each channel
            a = (images - means[:-1]) / scales[:-1]
            for number, layer in enumerate(network.split(", "), 1):
                kind, size, *activation = layer.split()
                if kind == "conv":
                    weights = of(str(number))
                    padded = np.pad(a.reshape(-1, 5, 6, 2), ((0, 0), (1, 1), (0, 1), (0, 0)))
                    patches = [padded[:, i : i + 5, j : j + 6] for i in range(3) for j in range(2)]
                    a = np.concatenate(patches, axis=3) @ weights[:, :-1].T + weights[:, -1]
                elif kind == "pool":
                    a = a[:, :4].reshape(-1, 2, 2, 3, 2, 3).max(axis=(2, 4)).reshape(len(a), -1)
                else:
                    weights = of(str(number))
                    self.assertEqual(len(weights), int(size))
                    a = a @ weights[:, :-1].T + weights[:, -1]
                a = ACTIVATIONS[activation[0] if activation else "identity"](a)
            said = self.load("p.npy")
            if target == "y.npy":
                np.testing.assert_array_equal(said, a.argmax(axis=1))
                right = (said == labels).sum()
                parts = report["accuracy"]
                self.assertAlmostEqual(parts["training"] * (150 - report["held_out"]) + parts["held_out"] * report["held_out"], right, places=6)
            else:
                np.testing.assert_allclose(said, means[-1] + scales[-1] * a[:, 0], rtol=1e-12)
        (self.folder / "p.npy").unlink()
        self.succeed(0, "redistribute", "X.npy", "-o", "n.h5")
        self.fail_with("n.h5: holds /matrix, which would be lost", "X.npy", "--labels", "y.npy", "--net", "dense 4 softmax", "-o", "n.h5")

    def test_a_saved_network_predicts_without_labels_and_is_begun_with(self):
        if json.loads(self.succeed(0, "info", "--json"))["hdf5"] is None:
            self.skipTest("there is no HDF5")
        random = np.random.default_rng(6)
        self.save("X.npy", random.normal(size=(120, 30)))
        self.save("y.npy", random.integers(3, size=120))
        self.save("t.npy", random.normal(size=120))
        for labels, last in (("y.npy", "dense 3 softmax"), ("t.npy", "dense 1")):
            net = ("--net", f"conv 3x3x2 relu, pool 2, {last}", "--image", "5x6")
            data = ("X.npy", "--labels", labels, "--method", "sgd", "--held-out", "0.2")
            first = self.train(2, *data, *net, "--epochs", "2", "-o", "m.h5", "--predict", "X.npy", "--predictions", "p.npy")
            told = json.loads(self.succeed(3, "train", "X.npy", "--start", "m.h5", "--predictions", "q.npy", "--json"))
            self.assertEqual((told["network"], told["labels"], told["start"]), (first["network"], None, "m.h5"))
            np.testing.assert_array_equal(self.load("q.npy"), self.load("p.npy"))
            self.succeed(2, "train", "X.npy", "--start", "m.h5", "--predictions", "q.npy", "--report", "r.html")
            page = Page((self.folder / "r.html").read_text())
            self.assertEqual(page.texts["b"], ["120"])
            self.assertEqual(sum(int(row[1]) for row in page.rows[1:] if len(row) == 3), 120)
            looked = self.train(3, *data, "--start", "m.h5", "--epochs", "0", "-o", "n.h5")
            self.assertEqual((looked["iterations"], looked["accuracy" if last[6] == "3" else "r2"]), (0, first["accuracy" if last[6] == "3" else "r2"]))
            more = self.train(2, *data, "--start", "m.h5", "--epochs", "3", "-o", "n.h5")
            self.assertLess(more["losses"][-1], first["losses"][0])
            self.assertLess(abs(more["losses"][0] - first["losses"][-1]), 0.5 * first["losses"][-1])
        (self.folder / "p.npy").unlink()
        self.fail_with("--net: it is 'dense 1', expected the layers of m.h5, which are 'conv 3x3x2 relu, pool 2x2, dense 1'", *data, "--net", "dense 1", "--start", "m.h5", status=2)
        for more in ((), net[:2]):
            self.fail_with("--image: it is 6x5x1, expected 5x6x1, as of m.h5", *data, *more, "--image", "6x5", "--start", "m.h5", status=2)
        self.fail_with("--epochs is 0, but there is no --start", *data, *net, "--epochs", "0", status=2)
        self.fail_with("--net is required, unless there is a --start", *data, status=2)
        for option in (("--epochs", "5"), ("--l2", ".1"), ("--held-out", "0.1"), ("--resume", "--checkpoint", "k.json")):
            result = self.run_plait(2, "train", "X.npy", "--start", "m.h5", "--image", "5x6", *option, "--predictions", "q.npy")
            self.assertEqual(result.status, 2)
            words = f"{'--checkpoint' if len(option) > 2 else option[0]} is given, but X.npy has no labels (--labels): nothing is learnt, and --predictions tells of X.npy"
            self.assertEqual(result.errors, [f"plait: error: {words}"])
        self.save("few.npy", np.zeros((9, 4)))
        self.save("l.npy", np.zeros(9))
        for labels in ((), ("--labels", "l.npy")):
            few = self.run_plait(2, "train", "few.npy", *labels, "--start", "m.h5", "--predictions", "p.npy")
            self.assertIn("--start m.h5: 5x6x1 has 30 numbers, expected 4, as few.npy has so many columns", few.stderr)
        self.succeed(0, "redistribute", "X.npy", "-o", "other.h5")
        self.fail_with("--start other.h5: has no /network", *data, "--start", "other.h5")
        self.fail_with("--start few.npy: is no HDF5 file", *data, "--start", "few.npy")
        self.fail_with("--start is X.npy, which is IN, expected a network", *data, "--start", "X.npy", status=2)
        self.fail_with("--start: m.h5:/network/1 names a data set, expected a file", *data, "--start", "m.h5:/network/1", status=2)
        stored = (self.folder / "m.h5").read_bytes()
        self.succeed(0, "redistribute", "m.h5:/network/1", "-o", "first.npy")
        weight = self.load("first.npy")[1, 3]
        for number in (np.nan, -np.inf):
            (self.folder / "m.h5").write_bytes(stored.replace(weight.tobytes(), np.float64(number).tobytes()))
            words = f"--start m.h5: /network/1 has {number} in row 1, column 3 (counted from 0), expected finite numbers"
            self.fail_with(words, *data, "--start", "m.h5")
            without_labels = self.run_plait(2, "train", "X.npy", "--start", "m.h5", "--predictions", "p.npy")
            self.assertEqual(without_labels.status, 1)
            self.assertIn(words, without_labels.stderr)
            self.assertNotIn("p.npy", self.files())

    @alike_with_every_mpi
    def test_wrong_data_and_networks_are_named(self):
        x, labels = rings(30)
        self.save("X.npy", x)
        self.save("y.npy", labels)
        data = ("X.npy", "--labels", "y.npy", "--net")
        self.fail_with("--net: layer 2, 'dense x': 'x' is no size, expected whole numbers from 1 to 16777216", *data, "dense 3, dense x", status=2)
        self.fail_with("--net: layer 1, 'conv 3x3x4': it looks at 3x3 places of an image of 1x1x2", *data, "conv 3x3x4, dense 3 softmax", status=2)
        self.fail_with("--image: 3x3x1 has 9 numbers, expected 2, as X.npy has so many columns", *data, "dense 3 softmax", "--image", "3x3")
        self.fail_with("--image: '3' is no size of an image, expected one such as 28x28 or 32x32x3", *data, "dense 3 softmax", "--image", "3", status=2)
        self.fail_with("--parallel: domain parallel training cuts images by rows, but the first layer is dense", *data, "dense 3 softmax", "--parallel", "domain", status=2)
        self.fail_with("--reproducible is given, but --parallel is model, expected data, pipeline or auto", *data, "dense 3 softmax", "--reproducible", "--parallel", "model", status=2)
        self.fail_with("--labels y.npy: the labels have 2 in row ", *data, "dense 2 softmax")
        self.fail_with("the number of units of the last layer is 2, expected 1, which tells a number, or a softmax", *data, "dense 2")
        self.fail_with("the loss is no finite number in step ", *data, "dense 3 relu, dense 3 relu, dense 1", "--step", "1e60", "--method", "sgd")
        self.fail_with("--output: m.npy would be a file of another kind, expected a name that ends in .h5 or .hdf5", *data, "dense 3 softmax", "-o", "m.npy", status=2)
        x[7, 1] = np.nan
        self.save("nan.npy", x)
        wrong = self.run_plait(2, "train", *data, "dense 3 softmax", "--epochs", "1", "--predict", "nan.npy", "--predictions", "p.npy")
        self.assertIn("nan.npy has nan in row 7, column 1 (counted from 0), expected finite numbers", wrong.stderr)
        few = self.run_plait(3, "train", *data, "dense 3 softmax", "--batch", "2", "--predict", "X.npy", "--predictions", "p.npy")
        self.assertIn("the number of samples of a batch is 2, expected at least one for each of the 3 ranks", few.stderr)
        self.save("y.npy", labels * 1e300)
        self.fail_with("the labels have 2e+300 in row 0 (counted from 0), expected whole numbers", *data, "dense 3 softmax")
        self.save("y.npy", labels - 1)
        self.fail_with("--labels y.npy: the labels have -1 in row ", *data, "dense 3 softmax")
        self.fail_with("(counted from 0), expected classes from 0 to 2, one for each unit of the last layer", *data, "dense 3 softmax")

    @alike_with_every_mpi
    def test_summary_and_page_tell_the_network_and_how_good_it_is(self):
        x, labels = rings(60)
        self.save("X.npy", x)
        self.save("y.npy", labels)
        text = self.succeed(2, "train", "X.npy", "--labels", "y.npy", "--net", "dense 6 relu,dense 3 softmax", "--predict", "X.npy", "--predictions", "p.npy", "--report", "r.html")
        for words in (
            "network for X.npy: 60 samples of 2 columns\n  network   dense 6 relu, dense 3 softmax; 39 parameters\n",
            "\n  method    adam, step 0.001, batches of 60 samples, lambda 0.0001\n",
            "\n  status    finished: all 10 epochs are done\n",
            "\n  accuracy  ",
        ):
            self.assertIn(words, text)
        page = (self.folder / "r.html").read_text()
        self.assertIn("The mean loss of the samples in each epoch, without", page)
        self.assertIn("dense 6 relu, dense 3 softmax", page)

    @alike_with_every_mpi
    @unittest.skipIf(datasets is None, "scikit-learn is not installed")
    def test_networks_are_as_good_as_those_of_scikit_learn(self):
        warnings.filterwarnings("ignore")  # of epochs that are over before it converged
        for data, shape, units, epochs in ((datasets.load_digits(), "8x8", 100, 40), (datasets.load_breast_cancer(), "1x1x30", 20, 30), (datasets.load_iris(), "1x1x4", 20, 150)):
            x, y = data.data, data.target
            files = ("X.npy", "--labels", "y.npy", "--image", shape, "--batch", "32", "--predict", "T.npy", "--predictions", "p.npy")
            last = f"dense {len(set(y))} softmax"
            rivals = {
                f"dense {units} relu, {last}": MLPClassifier((units,), batch_size=32, max_iter=epochs, random_state=0),
                last: SGDClassifier(loss="log_loss", random_state=0),
            }
            mine, theirs = dict.fromkeys(rivals, 0), dict.fromkeys(rivals, 0)
            part_of = np.random.default_rng(0).permutation(len(x)) % 4
            for part in range(4):
                test = part_of == part
                for name, array in (("X", x[~test]), ("y", y[~test]), ("T", x[test])):
                    self.save(f"{name}.npy", array)
                axis = None if shape == "8x8" else 0
                z = (x - x[~test].mean(axis=axis)) / x[~test].std(axis=axis)
                for network, rival in rivals.items():
                    step = "0.01" if network == last else "0.001"
                    self.train(2 if part == 0 and units == 20 else 0, *files, "--net", network, "--epochs", str(epochs), "--step", step)
                    mine[network] += (self.load("p.npy") == y[test]).sum() / len(x)
                    theirs[network] += (rival.fit(z[~test], y[~test]).predict(z[test]) == y[test]).sum() / len(x)
            for network in rivals:
                self.assertGreaterEqual(mine[network], theirs[network] - 0.01, f"{network}, {data.DESCR[:40]}")
            if shape == "8x8":
                self.assertGreaterEqual(max(mine.values()), 0.97)
                self.train(0, *files, "--net", f"conv 3x3x8 relu, pool 2, {last}", "--epochs", "20", "--step", "0.003")
                self.assertGreaterEqual((self.load("p.npy") == y[test]).mean(), 0.97)
