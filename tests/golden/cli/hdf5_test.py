"""HDF5 files in jobs, against h5py."""

import json
import unittest

import numpy as np
from harness import CommandTest, random_matrix

try:
    import h5py
except ImportError:
    h5py = None


@unittest.skipIf(h5py is None, "there is no h5py")
class Hdf5(CommandTest):
    def setUp(self):
        super().setUp()
        if json.loads(self.succeed(0, "info", "--json"))["hdf5"] is None:
            self.skipTest("plait was built without HDF5")

    def h5(self, name: str, mode: str = "r"):
        file = h5py.File(self.folder / name, mode)
        self.addCleanup(file.close)
        return file

    def test_a_matrix_goes_from_data_set_to_data_set(self):
        b = random_matrix((53, 37), "c128", seed=1)
        with self.h5("B.h5", "w") as file:
            file.create_dataset("x/B", data=b, chunks=(10, 10), compression="gzip")
            file["y"] = np.ones((2, 2))
        report = json.loads(
            self.succeed(
                3, "redistribute", "B.h5:/x/B", "-o", "A.h5:/deep/A", "--op", "conjugate-transpose", "--json",
                "--from", "block-cyclic:4x3@1x3", "--to", "cols@3",
            )  # fmt: skip
        )
        np.testing.assert_array_equal(self.h5("A.h5")["deep/A"][...], b.conj().T)
        self.assertEqual((report["check"], report["input"]["format"], report["output"]["order"]), ("passed", "HDF5", "C"))
        self.assertEqual(self.files(), {"A.h5", "B.h5"})

    def test_products_go_into_files_of_rows_whatever_the_order_of_the_factors(self):
        a = self.save("A.npy", np.asfortranarray(np.arange(12.0).reshape(4, 3)))
        self.succeed(2, "multiply", "A.npy", "A.npy", "--op-b", "transpose", "-o", "C.h5:/C")
        np.testing.assert_array_equal(self.h5("C.h5")["C"][...], a @ a.T)

    def test_what_is_held_by_columns_is_written_by_rows(self):
        b = random_matrix((9, 20), "f32", seed=2)
        np.save(self.folder / "F.npy", np.asfortranarray(b))
        self.succeed(2, "redistribute", "F.npy", "-o", "A.h5", "--quiet")
        np.testing.assert_array_equal(self.h5("A.h5")["matrix"][...], b)
        (self.folder / "S.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 5\n3 1 7\n3 2 -1\n")
        self.succeed(2, "redistribute", "S.mtx", "-o", "S.h5:S", "--quiet")
        np.testing.assert_array_equal(self.h5("S.h5")["S"][...], [[5, 0, 7], [0, 0, -1], [7, -1, 0]])

    def test_a_is_added_to_in_its_own_file(self):
        b, a = self.save("B.npy", random_matrix((12, 8), "i32", seed=3)), random_matrix((12, 8), "i32", seed=4)
        with self.h5("A.h5", "w") as file:
            file["A"] = a
        self.succeed(2, "redistribute", "B.npy", "--into", "A.h5", "--beta", "2", "-o", "A.h5:/A", "--quiet")
        np.testing.assert_array_equal(self.h5("A.h5")["A"][...], b + 2 * a)

    def test_what_is_generated_may_be_hdf5(self):
        self.succeed(3, "generate", "30x20", "-o", "M.h5:/m", "--quiet")
        self.succeed(0, "generate", "30x20", "-o", "M.npy", "--quiet")
        np.testing.assert_array_equal(self.h5("M.h5")["m"][...], self.load("M.npy"))

    def test_a_checkpoint_is_of_one_data_set(self):
        no_support = np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]])
        with self.h5("K.h5", "w") as file:
            file["a"], file["b"] = no_support, 2 * no_support
        rest = ("-o", "P.npy", "--checkpoint", "state", "--checkpoint-every", "12")
        self.assertIn("no support", self.run_plait(0, "sinkhorn", "K.h5:/a", *rest).stderr)
        self.assertIn("the files that are read differ", self.run_plait(2, "sinkhorn", "K.h5:/b", *rest, "--resume").stderr)
        self.assertIn("no support", self.run_plait(2, "sinkhorn", "K.h5:a", *rest, "--resume").stderr)

    def test_errors_are_told_once_and_harm_no_file(self):
        with self.h5("H.h5", "w") as file:
            file["H"], file["S"], file["v"] = np.eye(3), np.eye(3), np.ones(3)
        (self.folder / "damaged.h5").write_bytes((self.folder / "H.h5").read_bytes()[:1000])
        self.save("N.npy", np.eye(3))
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        for ranks, words, status, complaint in [
            (3, "H.h5 -o A.npy", 1, r"H.h5: it has the matrices /H \(3 x 3, f64\), /S \(3 x 3, f64\); expected H.h5:/H"),
            (3, "H.h5:/T -o A.npy", 1, r"H.h5: has no /T; it has the matrices"),
            (0, "H.h5:/v -o A.npy", 1, r"H.h5: /v \(3, f64\) is no matrix"),
            (0, "H.h5: -o A.npy", 1, "H.h5: names no data set after the colon"),
            (2, "damaged.h5:/H -o A.npy", 1, "damaged.h5: is truncated: it has 1000 of [0-9]+ bytes"),
            (2, "N.npy -o H.h5:/H", 1, "H.h5: holds /S, which would be lost"),
            (0, "N.npy -o A.h5:/", 2, "--output: A.h5:/ names no data set after the colon"),
            (0, "N.npy -o missing/A.h5", 1, "missing/A.h5: can't be written into the folder missing"),
            (0, "N.npy -o A.h5 --trace t.json --into H.h5 --beta 1", 1, "H.h5: it has the matrices"),
        ]:
            with self.subTest(words):
                result = self.run_plait(ranks, "redistribute", *words.split())
                self.assertEqual(result.status, status, result.stderr)
                self.assertEqual(len(result.errors), 1, result.stderr)
                self.assertRegex(result.errors[0], complaint)
        result = self.run_plait(0, "generate", "3x3", "-o", "A.h5", "--order", "F")
        self.assertRegex(result.stderr, "--order is F, but -o is an HDF5 file, which holds rows only")
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.files()}, before)
