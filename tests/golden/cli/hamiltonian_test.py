"""`plait generate hamiltonian`: its levels by NumPy's eigensolver against what is known of the models."""

import json

import numpy as np
from harness import CommandTest, alike_with_every_mpi

# Of -H for C60, with their degeneracies: Haddon, Brus, Raghavachari, Chem. Phys. Lett. 125 (1986) 459.
C60 = [(3, 1), (2.756598, 3), (2.302776, 5), (1.820249, 3), (1.561553, 4), (1, 9), (0.618034, 5), (-0.138564, 3),
       (-0.381966, 3), (-1.302776, 5), (-1.438283, 3), (-1.618034, 5), (-2, 4), (-2.561553, 4), (-2.618034, 3)]  # fmt: skip


class Hamiltonian(CommandTest):
    def made(self, ranks: int, kind: str, *options: str) -> tuple[np.ndarray, dict]:
        words = ["generate", "hamiltonian", "--kind", kind, "-o", "H.npy", "--json", *options]
        report = json.loads(self.succeed(ranks, *words))
        h = self.load("H.npy")
        np.testing.assert_array_equal(h, h.T)
        self.assertEqual(report["shape"], list(h.shape))
        return h, report["hamiltonian"]

    def expect_gap(self, levels: np.ndarray, told: dict) -> None:
        pairs = told["electrons"] // 2
        self.assertAlmostEqual(levels[pairs] - levels[pairs - 1], told["gap"], delta=1e-9)

    @alike_with_every_mpi
    def test_c60_has_the_levels_of_the_literature(self):
        h, told = self.made(2, "c60")
        levels = np.linalg.eigvalsh(h)
        expected = np.concatenate([np.full(times, -level) for level, times in C60])
        np.testing.assert_allclose(levels, expected, atol=1e-6)
        self.assertEqual(told["electrons"], 60)
        self.expect_gap(levels, told)

    @alike_with_every_mpi
    def test_a_fullerene_has_three_bonds_an_atom_and_its_faces(self):
        for size in (40, 50, 60, 70, 240):
            with self.subTest(size):
                h, told = self.made(3 if size == 50 else 0, "fullerene", "--size", str(size))
                np.testing.assert_array_equal(np.unique(h), [-1, 0])
                np.testing.assert_array_equal(h.sum(axis=0), -3)
                # No triangles and squares, and ten closed walks of five steps for each pentagon.
                power = [np.trace(np.linalg.matrix_power(-h, k)) for k in (3, 4, 5)]
                self.assertEqual(power, [0, size * 15, 12 * 10])
                self.assertEqual(told["gap"] is None, size != 60)

    @alike_with_every_mpi
    def test_polyacetylene_has_the_gap_of_the_formula(self):
        for ranks, size, gap in [(0, 4, 1.5), (3, 64, None), (0, 62, 0.9), (0, 400, 0), (0, 100, 4), (0, 10, None)]:
            with self.subTest(size=size, gap=gap):
                h, told = self.made(ranks, "polyacetylene", "--size", str(size), *(["--gap", str(gap)] if gap is not None else []))
                if gap is not None or size == 64:
                    self.assertEqual(told["gap"], 0.56 if gap is None else gap)
                strong, weak = -h[0, 1], -h[1, 2]
                k = 2 * np.pi * np.arange(size // 2) / (size // 2)
                band = np.sqrt(np.maximum(0, strong**2 + weak**2 + 2 * strong * weak * np.cos(k)))
                levels = np.linalg.eigvalsh(h)
                np.testing.assert_allclose(levels, np.sort(np.concatenate([-band, band])), atol=1e-7)
                self.assertAlmostEqual(strong + weak, 2, delta=1e-12)
                self.expect_gap(levels, told)

    @alike_with_every_mpi
    def test_graphene_has_the_gap_that_is_asked_for(self):
        for ranks, size, gap in [(0, 8, None), (2, 392, None), (3, 2 * 6 * 9, 0.3), (0, 2 * 9 * 9, 0), (0, 2 * 5 * 7, 1.5)]:
            with self.subTest(size=size, gap=gap):
                h, told = self.made(ranks, "graphene", "--size", str(size), *(["--gap", str(gap)] if gap is not None else []))
                if gap is not None:
                    self.assertEqual(told["gap"], gap)
                np.testing.assert_array_equal((h == -1).sum(axis=0), 3)
                mass = np.diag(h)
                np.testing.assert_array_equal(mass, np.tile([mass[0], -mass[0]], size // 2))
                self.assertEqual(np.count_nonzero(h[::2, ::2]) + np.count_nonzero(h[1::2, 1::2]), np.count_nonzero(mass))
                self.expect_gap(np.linalg.eigvalsh(h), told)

    @alike_with_every_mpi
    def test_a_prescribed_spectrum_is_that_of_the_matrix(self):
        for ranks, size, gap, filling in [(0, 3, 0.5, 0.4), (3, 101, 0.02, 0.2), (2, 200, None, None), (0, 50, 1, 0.001)]:
            with self.subTest(size=size):
                options = [] if gap is None else ["--gap", str(gap), "--filling", str(filling)]
                h, told = self.made(ranks, "prescribed", "--size", str(size), "--seed", "5", *options)
                gap, filling = gap or 0.1, filling or 0.5
                occupied = max(1, round(size * filling))
                step = (1 - gap) / (size - 2)
                expected = step * np.arange(size) + np.where(np.arange(size) < occupied, 0, gap - step)
                levels = np.linalg.eigvalsh(h)
                np.testing.assert_allclose(levels, expected, atol=1e-12)
                self.assertEqual(told["electrons"], 2 * occupied)
                self.expect_gap(levels, told)
                self.assertGreater(np.count_nonzero(h), 0.99 * size * size)

    def test_any_number_of_ranks_order_and_type_makes_the_same(self):
        for kind, size in [("fullerene", 70), ("graphene", 60), ("prescribed", 61)]:
            with self.subTest(kind):
                alone = self.made(0, kind, "--size", str(size))[0]
                np.testing.assert_array_equal(self.made(4, kind, "--size", str(size), "--order", "F")[0], alone)
                complex_one = self.made(3, kind, "--size", str(size), "--dtype", "c64")[0]
                np.testing.assert_array_equal(complex_one, alone.astype("f4").astype("c8"))

    @alike_with_every_mpi
    def test_the_summary_tells_electrons_and_gap(self):
        text = self.succeed(0, "generate", "hamiltonian", "--kind", "c60", "-o", "H.npy")
        self.assertRegex(text, r"^H.npy: 60 x 60, f64, C order: 28.8 kB in .*\n  C60, Hückel\n")
        self.assertIn("electrons  60, two in each of the levels below the gap: half filling\n", text)
        self.assertIn("gap        0.756598254\n", text)

    @alike_with_every_mpi
    def test_what_a_kind_can_not_have_is_refused(self):
        for words, complaint in [
            ("--kind c60 --size 61", "--size is 61, but c60 has 60 sites; --kind fullerene has others"),
            ("--kind fullerene --size 64", "--size is 64, but .*; the nearest numbers are 60 and 70"),
            ("--kind fullerene --size -4", "--size: '-4' is no count; expected a whole number, 1 at least"),
            ("--kind polyacetylene --size 401", "the nearest numbers are 400 and 402"),
            ("--kind graphene --size 26", "the nearest numbers are 24 and 28"),
            ("--kind graphene", "--size is missing"),
            ("--kind graphene --size 4000000001", r"--size: 4000000001 x 4000000001 .*"),
            ("--size 60", "--kind is missing, expected c60, fullerene, polyacetylene, graphene or prescribed"),
            ("--kind c61", "--kind: 'c61' is unknown; expected c60, "),
            ("--kind c60 --gap 1", "--gap is given, but --kind is c60; expected it with polyacetylene, "),
            ("--kind c60 --seed 1", "--seed is given, but --kind is c60; "),
            ("--kind graphene --size 8 --filling 0.2", "--filling is given, but --kind is graphene"),
            ("--kind graphene --size 8 --gap 0.1", r"--gap: graphene of 2 x 2 cells has none of 0.1, expected 2 to 1e\+30"),
            ("--kind graphene --size 8 --gap 1e308", r"--gap: graphene of 2 x 2 cells has none of 1e\+308, expected 2 to 1e\+30"),
            ("--kind polyacetylene --size 8 --gap 4.5", "--gap: a ring of 8 sites .* has none of 4.5, expected 0 to 4"),
            ("--kind prescribed --size 8 --gap 0", "--gap is 0, expected more than 0"),
            ("--kind prescribed --size 8 --filling 1", "--filling is 1, expected"),
            ("--kind prescribed --size 8 --gap nan", "--gap: 'nan' is no number"),
            ("--kind c60 --dtype i32", "--dtype: a Hamiltonian can't be i32, expected f32, f64, c64 or c128"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "generate", "hamiltonian", *words.split(), "-o", "H.npy")
                self.assertEqual((result.status, len(result.errors)), (2, 1), result.stderr)
                self.assertRegex(result.errors[0], complaint)
        result = self.run_plait(0, "generate", "8x8", "--kind", "c60", "-o", "H.npy")
        self.assertRegex(result.stderr, "--kind is given, but SHAPE is not hamiltonian")
        self.assertEqual(self.files(), set())
