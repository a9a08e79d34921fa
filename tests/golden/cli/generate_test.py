"""`plait generate` against the same random numbers in NumPy, for any number of ranks."""

import json

import numpy as np
from harness import DTYPES, CommandTest, alike_with_every_mpi


def random_bits(seed: int, counter: np.ndarray) -> np.ndarray:
    """64 bits for each counter: two rounds of the finaliser of SplitMix64."""

    def mixed(z: np.ndarray) -> np.ndarray:
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        return mixed(mixed(np.array([seed], "u8") + golden) + (counter + np.uint64(1)) * golden)


def expected(shape: tuple[int, int], dtype: str, seed: int) -> np.ndarray:
    kind = np.dtype(DTYPES[dtype])
    counter = np.arange(shape[0] * shape[1], dtype="u8").reshape(shape)
    uniform = {
        4: lambda c: (random_bits(seed, c) >> np.uint64(40)).astype("f4") * np.float32(2**-24),
        8: lambda c: (random_bits(seed, c) >> np.uint64(11)).astype("f8") * 2**-53,
    }
    if kind.kind == "f":
        return uniform[kind.itemsize](counter)
    if kind.kind == "c":
        real, imaginary = (uniform[kind.itemsize // 2](counter * np.uint64(2) + np.uint64(part)) for part in (0, 1))
        return (real + 1j * imaginary).astype(kind)
    return random_bits(seed, counter).astype(kind)


class Generate(CommandTest):
    def expect_generated(self, ranks: int, shape: tuple[int, int], dtype: str, seed: int, order: str) -> None:
        arguments = ["--dtype", dtype, "--seed", str(seed), "--order", order, "--quiet"]
        self.assertEqual(self.succeed(ranks, "generate", f"{shape[0]}x{shape[1]}", "-o", "M.npy", *arguments), "")
        matrix = self.load("M.npy")
        self.assertEqual(matrix.dtype, np.dtype(DTYPES[dtype]))
        self.assertTrue(matrix.flags.f_contiguous if order == "F" else matrix.flags.c_contiguous)
        np.testing.assert_array_equal(matrix, expected(shape, dtype, seed))

    @alike_with_every_mpi
    def test_every_type_has_its_numbers(self):
        for dtype in DTYPES:
            with self.subTest(dtype):
                self.expect_generated(0, (5, 7), dtype, 2**64 - 1, "C")

    def test_any_number_of_ranks_makes_the_same_matrix_in_either_order(self):
        for ranks, dtype, order in [(1, "f64", "F"), (2, "i16", "C"), (3, "f64", "C"), (3, "f64", "F"), (4, "c64", "F")]:
            with self.subTest(ranks=ranks, dtype=dtype, order=order):
                self.expect_generated(ranks, (103, 57), dtype, 7, order)

    @alike_with_every_mpi
    def test_a_matrix_may_be_smaller_than_the_number_of_ranks(self):
        for shape in [(2, 3), (0, 4), (2**58, 0), (0, 2**58)]:
            with self.subTest(shape):
                self.expect_generated(4, shape, "f32", 1, "C")

    @alike_with_every_mpi
    def test_the_summary_names_what_was_made(self):
        summary = self.succeed(0, "generate", "30x20", "-o", "M.npy", "--dtype", "float32", "--seed", "5")
        self.assertRegex(summary, r"^M.npy: 30 x 20, f32, C order, seed 5: 2.40 kB in ")
        report = json.loads(self.succeed(0, "generate", "30x20", "-o", "M.npy", "--json"))
        self.assertGreater(report.pop("seconds"), 0)
        self.assertEqual(report.pop("version").count("."), 2)
        self.assertIn(self.family, report.pop("mpi"))
        self.assertEqual(
            report,
            {"command": "generate", "ranks": 1, "nodes": 1, "output": {"path": "M.npy"}, "shape": [30, 20], "dtype": "f64", "order": "C",
             "seed": 0, "bytes": 4800},
        )  # fmt: skip
