"""`plait purify` against NumPy's eigensolver: files, overlaps, reports, errors, and jobs that are killed and go on."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

WATER = Path(__file__).parents[3] / "examples/water"


def c60() -> np.ndarray:
    """Hückel's Hamiltonian: the vertices of the truncated icosahedron, -1 for its edges, which have length 2."""
    phi = (1 + 5**0.5) / 2
    signs = [np.array(s) for s in np.ndindex(2, 2, 2)]
    bases = [(0, 1, 3 * phi), (1, 2 + phi, 2 * phi), (phi, 2, 2 * phi + 1)]
    vertices = [np.roll(base * (1 - 2 * s), turn) for base in bases for s in signs for turn in range(3)]
    vertices = np.unique(np.round(np.array(vertices) + 0.0, 9), axis=0)
    distances = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    h = -1.0 * (abs(distances - 2) < 1e-6)
    assert h.shape == (60, 60) and (h.sum(axis=0) == -3).all()
    return h


def prescribed(values, seed: int, kind=float) -> np.ndarray:
    random = np.random.default_rng(seed)
    n = len(values)
    vectors = random.normal(size=(n, n)) + (1j * random.normal(size=(n, n)) if kind is complex else 0)
    q, _ = np.linalg.qr(vectors)
    h = q @ np.diag(values) @ q.conj().T
    return (h + h.conj().T) / 2


def density(h: np.ndarray, occupied: int, s: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D, DHD and the eigenvalues, by S^(-1/2) of the eigenstates of S."""
    values, vectors = np.linalg.eigh(np.eye(len(h)) if s is None else s)
    z = vectors @ np.diag(values**-0.5) @ vectors.conj().T
    energies, states = np.linalg.eigh(z @ h @ z)
    c = z @ states[:, :occupied]
    return c @ c.conj().T, c @ np.diag(energies[:occupied]) @ c.conj().T, energies


class Purify(CommandTest):
    def assert_density(self, name: str, expected: np.ndarray, tolerance: float = 1e-9) -> None:
        np.testing.assert_allclose(self.load(name), expected, atol=tolerance, rtol=0)

    def test_c60_by_every_method(self):
        h = self.save("H.npy", c60())
        d, _, energies = density(h, 30)
        mu = (energies[29] + energies[30]) / 2
        runs = [("auto", 0), ("canonical", 4), ("tc2", 2), ("trs4", 3), ("hpcp", 1), ("mcweeny", 1)]
        for method, ranks in runs:
            with self.subTest(method=method, ranks=ranks):
                options = ["--chemical-potential", str(mu)] if method == "mcweeny" else []
                report = json.loads(self.succeed(
                    ranks, "purify", "H.npy", "--electrons", "60", "--method", method, *options, "-o", "D.npy", "--json",
                ))  # fmt: skip
                self.assert_density("D.npy", d)
                self.assertEqual(report["method"], "tc2" if method == "auto" else method)
                self.assertEqual((report["check"], report["occupied"], report["states"]), ("passed", 30, 60))
                self.assertAlmostEqual(report["energy"], 2 * energies[:30].sum(), places=9)
                self.assertAlmostEqual(report["highest_occupied"], energies[29], places=5)
                self.assertAlmostEqual(report["lowest_empty"], energies[30], places=5)
                low, high = report["chemical_potential"]
                self.assertLess(energies[29] - 1e-6, low)
                self.assertLess(low, high)
                self.assertLess(high, energies[30] + 1e-6)

    @alike_with_every_mpi
    def test_a_small_gap_costs_no_more_digits_than_rounding_takes(self):
        values = np.concatenate([np.linspace(-1, -1e-7, 30), np.linspace(1e-7, 1, 10)])
        h = self.save("H.npy", prescribed(values, 6))
        for method, ranks in (("tc2", 0), ("trs4", 2), ("canonical", 0)):
            with self.subTest(method=method, ranks=ranks):
                job = ["purify", "H.npy", "--electrons", "30", "--per-state", "1", "--method", method]
                self.succeed(ranks, *job, "-o", "D.npy")
                self.assert_density("D.npy", density(h, 30)[0], 2e-8)

    @alike_with_every_mpi
    def test_two_levels_that_are_almost_one_are_told_apart_far_from_all_others(self):
        for gap, seed in ((1e-9, 4), (1e-10, 0), (1e-10, 1), (3e-11, 2), (1e-11, 0), (1e-11, 1)):
            self.save("H.npy", prescribed(np.concatenate([[0, gap], np.ones(14)]), seed))
            for method in (["tc2"], ["canonical"], ["tc2", "--precision", "mixed"]):
                with self.subTest(gap=gap, seed=seed, method=method):
                    report = json.loads(self.succeed(0, "purify", "H.npy", "--electrons", "2", "--method", *method, "--json"))
                    self.assertAlmostEqual(report["gap"], gap, delta=1e-14)
                    self.assertEqual(report["check"], "passed")

    @alike_with_every_mpi
    def test_a_spectrum_that_is_narrow_for_its_energies_is_right_to_their_rounding(self):
        h = prescribed(5 + 1e-9 * np.concatenate([np.linspace(-1, -0.3, 6), np.linspace(0.3, 1, 6)]), 6)
        self.save("H.npy", h)
        expected = density(h, 6)[0]
        for method in ("tc2", "canonical", "eigen"):
            with self.subTest(method):
                self.succeed(0, "purify", "H.npy", "--electrons", "12", "--method", method, "-o", "D.npy")
                np.testing.assert_allclose(self.load("D.npy"), expected, atol=1e-4)

    @alike_with_every_mpi
    def test_the_gap_is_right_or_bounded_in_wide_spectra(self):
        wide = np.concatenate([np.linspace(-750, -0.25, 150), np.linspace(0.25, 750, 150)])
        far = np.concatenate([[-1e5], np.linspace(-1, -0.1, 149), np.linspace(0.1, 1, 150)])
        ill = prescribed(np.geomspace(1e-6, 1, 300), 4)
        cases = [(prescribed(wide, 1), None), (prescribed(far, 2), None), (prescribed(np.linspace(-2, 2, 300), 3), ill)]
        for i, (h, s) in enumerate(cases):
            with self.subTest(i):
                self.save("H.npy", h)
                if s is not None:
                    self.save("S.npy", s)
                energies = density(h, 150, s)[2]
                gap = energies[150] - energies[149]
                job = ["purify", "H.npy", "--electrons", "300", *([] if s is None else ["--overlap", "S.npy"])]
                rounding = 1e-13 * (energies[-1] - energies[0]) * (1 if s is None else 1e3)  # that of S^(-1/2)
                for method in ("canonical", "tc2", "eigen"):
                    report = json.loads(self.succeed(2, *job, "--method", method, "--json"))
                    self.assertAlmostEqual(report["gap"], gap, delta=1e-6 * gap + rounding)
                    self.assertAlmostEqual(report["highest_occupied"], energies[149], delta=1e-6 * gap + rounding)
                    low, high = report["gap_bounds"]
                    self.assertLessEqual(low, gap + rounding)
                    self.assertGreaterEqual(high, gap - rounding)
                    mu_low, mu_high = report["chemical_potential"]
                    self.assertLessEqual(mu_high - mu_low, high + rounding)
                if i == 0:
                    text = self.succeed(0, *job, "--method", "canonical")
                    told = re.search(r"(?m)^  gap +(\S+): highest occupied ", text)[1]
                    self.assertAlmostEqual(float(told), gap, delta=2e-6 * gap)
        # Next to the highest occupied state, so that the lowest empty one never stands out.
        band = 1 + 5000 * np.linspace(0, 1, 400) ** 2
        self.save("H.npy", prescribed(np.concatenate([np.linspace(-1, 0, 20), band]), 3))
        job = ["purify", "H.npy", "--electrons", "40", "--chemical-potential", "1e-5"]
        report = json.loads(self.succeed(0, *job, "--json"))
        self.assertEqual([report[key] for key in ("gap", "highest_occupied", "lowest_empty")], 3 * [None])
        low, high = report["gap_bounds"]
        self.assertLessEqual(low, 1)
        self.assertLessEqual(1 - 1e-9, high)
        mu = report["chemical_potential"]
        self.assertLessEqual(mu[1] - mu[0], high)
        self.assertRegex(self.succeed(0, *job), r"(?m)^  gap       \S+ to \S+: .*; bounds only, Lanczos did not resolve")

    @alike_with_every_mpi
    def test_one_triangle_is_enough_if_that_is_said(self):
        for kind in (float, complex):
            h = prescribed(np.linspace(-1, 1, 25), 1, kind)
            s = prescribed(np.linspace(0.5, 2, 25), 2, kind)
            expected = density(h, 5, s)[0]
            for name, part in (("lower", np.tril), ("upper", np.triu)):
                with self.subTest(kind=kind, triangle=name):
                    self.save("H.npy", part(h))
                    self.save("S.npy", part(s))
                    job = ["purify", "H.npy", "--overlap", "S.npy", "--electrons", "10", "-o", "D.npy"]
                    refused = self.run_plait(0, *job)
                    self.assertIn(f"H.npy: is not {'symmetric' if kind is float else 'Hermitian'}", refused.errors[0])
                    self.assertIn(f"; --symmetric {name} takes them for both triangles", refused.errors[0])
                    self.succeed(3 if name == "lower" else 0, *job, "--symmetric", name)
                    self.assert_density("D.npy", expected, 1e-8)
                    other = {"lower": "upper", "upper": "lower"}[name]
                    empty = f"H.npy: all elements of the {other} triangle are 0, but not those of the {name} one; expected --symmetric {name}"
                    self.assertIn(empty, self.run_plait(2 if kind is float else 0, *job, "--symmetric", other).errors[0])
            self.save("H.npy", np.tril(h) + np.triu(np.full((25, 25), np.nan), 1))
            self.save("S.npy", np.tril(s))
            self.succeed(2, *job, "--symmetric", "lower")
            self.assert_density("D.npy", expected, 1e-8)
        self.assertIn("'left' is unknown; expected lower or upper", self.run_plait(0, *job, "--symmetric", "left").errors[0])

    @alike_with_every_mpi
    def test_other_files_and_types(self):
        h = prescribed(np.linspace(-1, 1, 24), 1)
        for kind, stored in (("f4", h.astype("f4")), ("F", np.asfortranarray(h)), (">", h.astype(">f8"))):
            with self.subTest(kind):
                self.save("H.npy", stored)
                self.succeed(2, "purify", "H.npy", "--electrons", "5", "--per-state", "1", "-o", "D.npy")
                self.assert_density("D.npy", density(h, 5)[0], 1e-5 if kind == "f4" else 1e-9)
        complex_h = self.save("H.npy", prescribed(np.linspace(-1, 1, 15), 2, complex))
        self.succeed(2, "purify", "H.npy", "--electrons", "8", "-o", "D.npy")
        self.assert_density("D.npy", density(complex_h, 4)[0])
        edges = [f"{i + 1} {j + 1}" for i, j in np.argwhere(np.tril(c60()))]
        lines = ["%%MatrixMarket matrix coordinate pattern symmetric", f"60 60 {len(edges)}", *edges]
        (self.folder / "H.mtx").write_text("\n".join(lines) + "\n")
        self.succeed(0, "purify", "H.mtx", "--electrons", "60", "-o", "D.npy")
        self.assert_density("D.npy", density(-c60(), 30)[0])

    def test_an_overlap_and_the_energy_weighted_density(self):
        h = self.save("H.npy", prescribed(np.concatenate([np.linspace(-2, -1, 6), np.linspace(0, 3, 24)]), 3))
        s = self.save("S.npy", prescribed(np.linspace(0.1, 2, 30), 4))
        d, w, energies = density(h, 6, s)
        values, vectors = np.linalg.eigh(s)
        self.save("Z.npy", vectors @ np.diag(values**-0.5) @ vectors.T)
        job = ["purify", "H.npy", "--electrons", "12", "--overlap", "S.npy", "-o", "D.npy", "--json"]
        for ranks, options in ((2, []), (1, ["--inverse-root", "Z.npy"])):
            with self.subTest(options):
                report = json.loads(self.succeed(ranks, *job, "--energy-weighted", "W.npy", *options))
                self.assert_density("D.npy", d, 1e-8)
                self.assert_density("W.npy", w, 1e-8)
                self.assertAlmostEqual(report["energy"], 2 * energies[:6].sum(), places=7)
                self.assertEqual(report["inverse_root"]["given"], bool(options))
        self.save("Z.npy", np.eye(30))
        self.assertIn("||I - Z S Z||", self.run_plait(0, *job, "--inverse-root", "Z.npy").errors[0])

    def test_a_former_density_saves_iterations(self):
        random = np.random.default_rng(3)
        values = np.concatenate([np.linspace(0, 0.5, 30), np.linspace(0.51, 1, 40)])
        h = prescribed(values, 5)
        near = random.normal(size=h.shape)
        near = h + 1e-5 * (near + near.T)
        b = random.normal(size=h.shape)
        s = b @ b.T / 70 + np.eye(70)
        for overlap, ranks in ((None, 2), (s, 3)):
            self.save("S.npy", s)
            options = [] if overlap is None else ["--overlap", "S.npy"]
            self.save("H.npy", h)
            self.save("D0.npy", density(near, 30, overlap)[0])
            job = ["purify", "H.npy", "--electrons", "60", *options, "-o", "D.npy", "--json"]
            plain = json.loads(self.succeed(ranks, *job, "--method", "tc2"))
            report = json.loads(self.succeed(ranks, *job, "--start", "D0.npy"))
            d, _, energies = density(h, 30, overlap)
            self.assert_density("D.npy", d)
            self.assertEqual((report["method"], report["start"]), ("tc2", "D0.npy"))
            self.assertLess(report["iterations"], 0.9 * plain["iterations"])
            low, high = report["frontier_within"]
            self.assertTrue(low < energies[29] < energies[30] < high < low + 2 * (energies[30] - energies[29]))
            self.assertAlmostEqual(report["highest_occupied"], energies[29], delta=1e-6)
            self.assertIsNone(plain["frontier_within"])
            again = json.loads(self.succeed(ranks, *job, "--start", "D.npy"))  # replaced by what comes of it
            self.assert_density("D.npy", d)
            self.assertLess(again["iterations"], 0.9 * plain["iterations"])
        # Of quite another Hamiltonian, it tells of no gap; what is no density matrix is refused.
        self.save("D0.npy", density(-h, 30)[0])
        report = json.loads(self.succeed(2, *job[:4], "-o", "D.npy", "--json", "--start", "D0.npy"))
        self.assert_density("D.npy", density(h, 30)[0])
        low, high = report["frontier_within"] or report["spectrum"]
        self.assertTrue(low <= 0 and high >= 1)
        for options, error in (
            (["--start", "H.npy"], "--start H.npy: has the trace"),
            (["--start", "D0.npy", "--method", "trs4"], "--start is given, but --method is trs4; expected tc2 or auto"),
            (["--start", "D0.npy", "--chemical-potential", "0.5"], "--chemical-potential takes mcweeny"),
            (["--start", "D0.npy", "--method", "eigen"], "--start is given, but --method is eigen"),
        ):
            with self.subTest(options=options):
                self.assertIn(error, self.run_plait(0, *job[:4], *options).errors[0])

    @alike_with_every_mpi
    def test_a_former_density_that_mixes_the_states_at_a_tiny_gap_is_of_use(self):
        for gap, kind, ranks in ((1e-6, float, 0), (1e-8, float, 2), (1e-8, complex, 3), (1e-9, float, 0)):
            values = np.concatenate([np.linspace(-1, -gap / 2, 30), np.linspace(gap / 2, 1, 30)])
            h = prescribed(values, 1, kind)
            roots = prescribed(np.geomspace(1, 10, 60) ** 0.5, 2, kind)
            self.save("H.npy", roots @ h @ roots)
            self.save("S.npy", roots @ roots)
            inverse = np.linalg.inv(roots)
            states = np.linalg.eigh(h)[1]
            expected = inverse @ states[:, :30] @ states[:, :30].conj().T @ inverse
            job = ["purify", "H.npy", "--overlap", "S.npy", "--electrons", "60", "--method", "tc2", "-o", "D.npy", "--json"]
            plain = json.loads(self.succeed(ranks, *job))
            for turned in (0, np.pi / 4, np.pi / 2):
                with self.subTest(gap=gap, kind=kind, turned=turned):
                    occupied = np.c_[states[:, :29], np.cos(turned) * states[:, 29] + np.sin(turned) * states[:, 30]]
                    self.save("D0.npy", inverse @ occupied @ occupied.conj().T @ inverse)
                    report = json.loads(self.succeed(ranks, *job, "--start", "D0.npy"))
                    self.assert_density("D.npy", expected, 1e-14 / gap)
                    self.assertLess(report["commutator_error"], 1e-11)
                    self.assertLess(report["iterations"], 0.95 * plain["iterations"])

    @alike_with_every_mpi
    def test_an_overlap_that_is_nearly_singular(self):
        h = self.save("H.npy", prescribed(np.linspace(-2, 2, 12), 3))
        s = self.save("S.npy", prescribed(np.geomspace(1e-8, 1, 12), 4))
        d, _, _ = density(h, 4, s)
        self.succeed(2, "purify", "H.npy", "--electrons", "8", "--overlap", "S.npy", "-o", "D.npy")
        self.assert_density("D.npy", d, 1e-6 * np.linalg.norm(d))

    def test_a_water_cluster_as_cp2k_computes_it(self):
        known = json.loads((WATER / "energies.json").read_text())
        report = json.loads(self.succeed(
            2, "purify", str(WATER / "hamiltonian.npy"), "--overlap", str(WATER / "overlap.npy"),
            "--electrons", str(known["electrons"]), "-o", "D.npy", "--json",
        ))  # fmt: skip
        # Its energies are of the step before its matrices, and its cycle ends when nothing changes by more than 1e-8.
        self.assertAlmostEqual(report["energy"], known["band_energy"], delta=1e-6)
        self.assertAlmostEqual(report["gap"], known["gap"], delta=1e-6)
        self.assert_density("D.npy", np.load(WATER / "density.npy") / 2, 1e-6)

    def test_eigenstates_give_the_density_on_any_ranks(self):
        for kind in (float, complex):
            h = self.save("H.npy", prescribed(np.linspace(-1, 1, 45), 1, kind))
            s = self.save("S.npy", prescribed(np.linspace(0.1, 2, 45), 2, kind))
            for overlap in (None, s):
                d, w, energies = density(h, 9, overlap)
                job = ["purify", "H.npy", "--electrons", "18", "--method", "eigen", "-o", "D.npy"]
                job += [] if overlap is None else ["--overlap", "S.npy"]
                for ranks in (0, 3):
                    with self.subTest(kind=kind, overlap=overlap is not None, ranks=ranks):
                        more = ["--energy-weighted", "W.npy", "--eigenvalues", "E.npy", "--json"]
                        report = json.loads(self.succeed(ranks, *job, *more))
                        self.assert_density("D.npy", d)
                        self.assert_density("W.npy", w)
                        np.testing.assert_allclose(self.load("E.npy").ravel(), energies, atol=1e-10)
                        self.assertAlmostEqual(report["energy"], 2 * energies[:9].sum(), places=9)
                        self.assertAlmostEqual(report["gap"], energies[9] - energies[8], places=9)
                        self.assertEqual((report["method"], report["iterations"]), ("eigen", 0))
        text = self.succeed(2, *job, "--report", "R.html")
        self.assertIn("method eigen", text)
        page = (self.folder / "R.html").read_text()
        for words in ("Occupations", ">µ</text>", "Dotted: the middle of the gap"):
            self.assertIn(words, page)
        self.succeed(1, *job, "--report", "R.html")
        self.assertNotIn("hidden under computation", (self.folder / "R.html").read_text())

    @alike_with_every_mpi
    def test_smearing_occupies_metals_as_a_direct_sum_does(self):
        energies, vectors = np.linalg.eigh(c60())
        self.save("H.npy", c60())
        erfc = np.vectorize(math.erfc)
        x = np.linspace(-40, 40, 80001)
        kinds = {
            "fermi-dirac": lambda x: 0.5 - 0.5 * np.tanh(x / 2),
            "gaussian": lambda x: erfc(x) / 2,
            "methfessel-paxton": lambda x: erfc(x) / 2 - x * np.exp(-(x**2)) / (2 * math.sqrt(math.pi)),
        }
        for n, (name, f) in enumerate(kinds.items()):
            # The entropy is the integral of x df from where all is full.
            middle = (x[1:] + x[:-1]) / 2
            integral = np.concatenate([[0], np.cumsum(middle * np.diff(f(x)))])
            for case, (electrons, width) in enumerate(((62, 0.05), (30.5, 0.2), (93, 1e-6))):
                ranks = 2 + n % 2 if case == n else 0
                with self.subTest(kind=name, electrons=electrons, width=width):
                    report = json.loads(self.succeed(
                        ranks, "purify", "H.npy", "--electrons", str(electrons), "--smearing", name,
                        "--width", str(width), "-o", "D.npy", "--json",
                    ))  # fmt: skip
                    (mu,) = set(report["chemical_potential"])
                    at = (energies - mu) / width
                    occupations = f(np.clip(at, -200, 200)) if width > 1e-5 else None
                    if occupations is None:  # which rounding of the levels decides: a level is shared alike
                        level = energies[(electrons - 1) // 2]
                        inside = abs(energies - level) < 1e-6
                        full = energies < level - 1e-6
                        occupations = full + inside * (electrons / 2 - full.sum()) / inside.sum()
                    self.assertAlmostEqual(2 * occupations.sum(), electrons, places=7)
                    self.assert_density("D.npy", (vectors * occupations) @ vectors.T, 1e-7)
                    self.assertAlmostEqual(report["energy"], 2 * occupations @ energies, places=7)
                    if width > 1e-5:
                        self.assertAlmostEqual(report["entropy"], 2 * np.interp(at, x, integral).sum(), delta=1e-4)
                    self.assertAlmostEqual(report["free_energy"], report["energy"] - width * report["entropy"])
        for electrons in "0", "120":  # which any chemical potential outside of the spectrum gives
            report = json.loads(self.succeed(
                0, "purify", "H.npy", "--electrons", electrons, "--smearing", "gaussian", "--width", "0.1", "--json"
            ))  # fmt: skip
            self.assertIsNone(report["chemical_potential"])
        self.succeed(
            0, "purify", "H.npy", "--electrons", "61", "--smearing", "gaussian", "--width", "0.1", "--report", "R.html"
        )
        page = (self.folder / "R.html").read_text()
        self.assertIn("61 electrons in 60 states", page)
        self.assertIn("gaussian of width 0.1", page)
        job = ["purify", "H.npy", "--electrons", "62"]
        text = self.succeed(2, *job, "--smearing", "fermi-dirac", "--temperature", "1000", "--energy-unit", "eV")
        self.assertRegex(text, r"(?m)^  mu        \S+, fermi-dirac of width 0\.0861733$")
        self.assertRegex(text, r"(?m)^  entropy   \S+ k\n  free      \S+ = energy - width \* entropy / k$")
        self.assertIn("no gap for 31 occupied states of 60", self.run_plait(2, *job, "--method", "eigen").errors[0])

    @alike_with_every_mpi
    def test_states_of_one_energy_have_no_gap(self):
        self.save("H.npy", 2 * np.eye(6))
        self.save("rotated.npy", prescribed(np.full(6, 2.0), 1))
        self.save("S.npy", overlap := prescribed(np.linspace(0.7, 3, 6), 2))
        self.save("twice.npy", 2 * overlap)
        every = "no gap: all 6 states have the energy 2 to rounding, and 3 of them were to be occupied"
        two = "no gap for 3 occupied states of 6: states 3 and 4 have the energies 2 and 2; a smearing occupies both in part"
        for words, complaint in [
            ("H.npy", every),
            ("H.npy --method mcweeny --chemical-potential 2", every),
            ("rotated.npy", every),
            ("rotated.npy --method mcweeny --chemical-potential 2", every),
            ("rotated.npy --precision mixed", every),
            ("twice.npy --overlap S.npy --method tc2", every),
            ("rotated.npy --method eigen", two),
            ("twice.npy --overlap S.npy --method eigen", two),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "purify", *words.split(), "--electrons", "6", "-o", "D.npy")
                self.assertEqual(result.errors, ["plait: error: " + complaint])
                self.assertFalse((self.folder / "D.npy").exists())

    def test_auto_takes_what_is_cheaper_on_the_machine_and_tells_what_others_take(self):
        self.succeed(0, "generate", "hamiltonian", "--kind", "prescribed", "--size", "500", "-o", "H.npy")
        self.succeed(0, "machine", "--quick", "-o", "m.json", "--quiet")
        machine = json.loads((self.folder / "m.json").read_text())
        # Slow messages are worst for ScaLAPACK, slow products for iterations.
        for ranks, slow, method in (
            (9, {"node": {**machine["node"], "latency_seconds": 1}, "cores_per_node": 9}, "canonical"), (2, {"product_flops_per_second": 1e6}, "eigen"),
        ):  # fmt: skip
            (self.folder / "slow.json").write_text(json.dumps({**machine, **slow}))
            report = json.loads(self.succeed(ranks, "purify", "H.npy", "--electrons", "500", "--machine", "slow.json", "--json"))
            seconds = report["estimated_seconds"]
            self.assertEqual((report["method"], list(seconds)[0], set(seconds)), (method, method, {"eigen", "canonical", "tc2"}))
            self.assertEqual(list(seconds.values()), sorted(seconds.values()))
            self.assertEqual(report["machine"], machine["description"])
        job = ["purify", "H.npy", "--electrons", "500", "--json"]
        results = []
        for ranks, options, method in (
            (2, [], "eigen"), (4, [], "eigen"), (9, [], "eigen"), (0, ["--bounds", "lanczos"], "tc2"),
            (0, ["--method", "tc2"], "tc2"),
        ):  # fmt: skip
            with self.subTest(ranks=ranks, options=options):
                report = json.loads(self.succeed(ranks, *job, *options))
                if ranks < 9 or len(os.sched_getaffinity(0)) < 9:  # nine ranks with a core each may iterate
                    self.assertEqual(report["method"], method)
                results.append(report["energy"])
                self.assertEqual("estimated_seconds" in report, "--method" not in options)
        self.succeed(0, *job[:-1], "-o", "D0.npy")
        for method, options, line in (
            ("eigen", [], "not looked at, as eigenstates are estimated to take less time"), ("tc2", ["--method", "tc2"], "the states at the gap are within"),
        ):  # fmt: skip
            text = self.succeed(0, *job[:-1], "--start", "D0.npy", *options)
            self.assertIn(f"method {method}\n", text)
            self.assertRegex(text, f"(?m)^  start     D0.npy: {line}")
        np.testing.assert_allclose(results, results[0], rtol=1e-10)

    def test_auto_is_right_from_where_it_takes_eigenstates_on(self):
        h = self.save("H.npy", prescribed(np.linspace(-1, 1, 120), 8))
        d, _, energies = density(h, 40)
        for ranks in (0, 2, 3, 9):
            with self.subTest(ranks=ranks):
                report = json.loads(self.succeed(ranks, "purify", "H.npy", "--electrons", "80", "-o", "D.npy", "--json"))
                self.assertEqual(set(report["estimated_seconds"]), {"eigen", "canonical", "tc2"})
                self.assertAlmostEqual(report["energy"], 2 * energies[:40].sum(), places=9)
                self.assert_density("D.npy", d)

    def test_auto_leaves_an_iteration_that_takes_longer_than_the_machine_tells(self):
        n, occupied = 800, 300
        h = self.save("H.npy", prescribed(np.linspace(-1, 1, n), 8))
        s = self.save("S.npy", prescribed(np.linspace(0.8, 1.2, n), 9))
        self.succeed(0, "machine", "--quick", "-o", "m.json", "--quiet")
        machine = json.loads((self.folder / "m.json").read_text())
        fast = {"product_flops_per_second": 1e18, "read_bytes_per_second": 1e18}
        (self.folder / "m.json").write_text(json.dumps({**machine, **fast}))
        job = ["purify", "H.npy", "--electrons", str(2 * occupied), "-o", "D.npy", "--machine", "m.json"]
        for ranks, overlap in ((0, None), (2, None), (0, s)):
            with self.subTest(ranks=ranks, overlap=overlap is not None):
                options = [] if overlap is None else ["--overlap", "S.npy", "--energy-weighted", "W.npy"]
                report = json.loads(self.succeed(ranks, *job, *options, "--json"))
                d, w, energies = density(h, occupied, overlap)
                self.assert_density("D.npy", d)
                if overlap is not None:
                    self.assert_density("W.npy", w)
                self.assertAlmostEqual(report["energy"], 2 * energies[:occupied].sum(), places=8)
                self.assertEqual((report["method"], next(iter(report["estimated_seconds"]))), ("eigen", "tc2"))
                self.assertGreaterEqual(report["left_after"], 3)
                self.assertGreater(report["seconds_left"], report["estimated_seconds"]["eigen"])
        self.assertRegex(self.succeed(0, *job), r"; after \d+ steps of tc2, by their time and the gap \S+ \S+ more: took eigen;")
        self.save("D0.npy", density(h, occupied)[0])
        text = self.succeed(2, *job, "--start", "D0.npy")
        self.assertRegex(text, r"(?m)^  start     D0.npy: the states at the gap are within \S+ to \S+; tc2 left after \d+ steps for eigenstates$")

    def test_early_steps_in_single_precision_leave_the_energy_as_it_is(self):
        self.save("H.npy", c60())
        job = ["purify", "H.npy", "--electrons", "60", "-o", "D.npy"]
        for ranks in (0, 3):
            with self.subTest(ranks=ranks):
                expected = json.loads(self.succeed(ranks, *job, "--method", "tc2", "--json"))
                d = self.load("D.npy")
                found = json.loads(self.succeed(ranks, *job, "--precision", "mixed", "--json"))
                self.assertEqual((expected["precision"], found["precision"], found["method"]), ("double", "mixed", "tc2"))
                self.assertGreater(2 * found["single_multiplications"], found["multiplications"])
                np.testing.assert_allclose(found["energy"], expected["energy"], rtol=1e-9)
                np.testing.assert_allclose(self.load("D.npy"), d, atol=1e-5)
                self.assertLess(found["density_error"], 1e-4)
                self.assertLess(found["idempotency_error"], 1e-10)
                np.testing.assert_allclose(found["gap"], expected["gap"], rtol=1e-4)
                np.testing.assert_allclose(found["highest_occupied"], expected["highest_occupied"], atol=1e-4 * expected["gap"])
        text = self.succeed(0, *job, "--precision", "mixed", "--report", "R.html")
        self.assertIn(f"  mixed     {Page((self.folder / 'R.html').read_text()).value('mixed precision')}\n", text)
        self.assertRegex(text, r"(?m)^  mixed     \d+ products in single precision; D is off by some")

    @alike_with_every_mpi
    def test_what_is_wrong_with_eigenstates_is_said(self):
        self.save("H.npy", c60())
        self.save("S.npy", np.diag([-1.0] + 59 * [1.0]))
        cases = [
            (["--method", "eigen", "--overlap", "S.npy"], "--overlap S.npy: is not positive definite"),
            (["--method", "eigen", "--chemical-potential", "0"], "it is found from the number of electrons"),
            (["--method", "eigen", "--checkpoint", "C.json"], "there are no iterations to go on from"),
            (["--method", "eigen", "--bounds", "gershgorin"], "--bounds is given, but --method is eigen, and there are no iterations"),
            (["--eigenvalues", "E.npy", "--max-iterations", "9"], "--max-iterations is given, but --eigenvalues takes eigenstates"),
            (["--method", "eigen", "--inverse-root", "H.npy", "--overlap", "S.npy"], "they take Cholesky's factor of S"),
            (["--method", "tc2", "--eigenvalues", "E.npy"], "--eigenvalues takes eigenstates, but --method is tc2"),
            (["--smearing", "gaussian"], "--smearing is gaussian, but --width (or --temperature) is missing"),
            (["--width", "0.1"], "--width is given, but --smearing is missing"),
            (["--smearing", "gaussian", "--width", "0"], "--width: is 0, expected a positive number"),
            (["--smearing", "gaussian", "--temperature", "9", "--energy-unit", "eV"], "--smearing is gaussian, which has none"),
            (["--smearing", "fermi-dirac", "--temperature", "9"], "--energy-unit is missing"),
            (["--eigenvalues", "H.npy"], "H.npy: is IN and the file of --eigenvalues"),
        ]  # fmt: skip
        for i, (words, complaint) in enumerate(cases):
            with self.subTest(words):
                result = self.run_plait(2 if i == 0 else 0, "purify", "H.npy", "--electrons", "60", *words)
                self.assertNotEqual(result.status, 0)
                self.assertEqual(len(result.errors), 1, result.stderr)
                self.assertIn(complaint, result.errors[0])

    @alike_with_every_mpi
    def test_the_summary_and_the_report(self):
        self.save("H.npy", c60())
        text = self.succeed(2, "purify", "H.npy", "--electrons", "60", "--report", "R.html", "--trace", "T.json")
        for word in ("||X - X²||", "energy", "gap", "check     passed", "GFlop/s", "overlap", "× the lower bound"):
            self.assertIn(word, text)
        page = (self.folder / "R.html").read_text()
        for word in ("Convergence", "Bounds of energies", "Occupations", "The density matrix", "Timeline", "<svg"):
            self.assertIn(word, page)
        self.assertNotRegex(page, r"\bnan\b")
        self.assertEqual(self.files(), {"H.npy", "R.html", "T.json"})
        self.save("diagonal.npy", np.diag([-1, -0.9, 0.5, 0.7]))  # whose projector is reached beyond rounding
        self.succeed(0, "purify", "diagonal.npy", "--electrons", "4", "--method", "tc2", "--report", "R.html")
        decades = [int(decade) for decade in re.findall(r">1e-(\d+)<", (self.folder / "R.html").read_text())]
        self.assertLess(max(decades), 26)

    @alike_with_every_mpi
    def test_what_is_wrong_is_said(self):
        h = c60()
        self.save("H.npy", h)
        bent = h.copy()
        bent[3, 7] = 0.25
        self.save("bent.npy", bent)
        holed = h.copy()
        holed[5, 2] = holed[2, 5] = np.nan
        self.save("holed.npy", holed)
        self.save("spiral.npy", np.diag([1.0, 2.0, 3.0 + 1j]))
        self.save("long.npy", np.ones((3, 4)))
        self.save("S.npy", np.diag([-1.0] + 59 * [1.0]))
        self.save("huge.npy", np.diag([1e150, 2e150]))
        cases = [
            (["H.npy"], "--electrons NUMBER is missing, expected plait purify IN --electrons NUMBER [OPTIONS]"),
            (["H.npy", "--electrons", "61"], "has two in each state; --per-state 1 if only one is in each, --smearing if"),
            (["H.npy", "--electrons", "122"], "--electrons: is 122, expected 0 to 120"),
            (["H.npy", "--electrons", "-2"], "--electrons: -2 is negative; expected a number >= 0"),
            (["H.npy", "--electrons", "20.5"], "--electrons is 20.5, expected a whole number, or --smearing"),
            (["bent.npy", "--electrons", "60"], "bent.npy: is not symmetric: element (3, 7), counted from 0, is 0.25"),
            (["holed.npy", "--electrons", "60"], "holed.npy: element (2, 5), counted from 0, is nan"),
            (["spiral.npy", "--electrons", "2"], "element (2, 2), counted from 0, is 3+1i, expected a real number"),
            (["H.npy", "--electrons", "121", "--smearing", "gaussian", "--width", "1"], "--electrons: is 121, expected 0 to 120"),
            (["long.npy", "--electrons", "2"], "long.npy is 3 x 4, expected 3 x 3"),
            (["H.npy", "--electrons", "62"], "no gap for 31 occupied states of 60"),
            (["H.npy", "--electrons", "60", "--overlap", "S.npy"], "--overlap S.npy: is not positive definite"),
            (["H.npy", "--electrons", "60", "--method", "mcweeny"], "--chemical-potential is missing"),
            (["H.npy", "--electrons", "60", "--method", "mcweeny", "--chemical-potential", "-1.5"],
             "--chemical-potential: -1.5 has"),
            (["H.npy", "--electrons", "60", "--chemical-potential", "9"],
             "plait: error: --chemical-potential: is 9, expected one within the spectrum"),
            (["huge.npy", "--electrons", "2"], "huge.npy: its energies are 2e+150 at most"),
            (["H.npy", "--electrons", "60", "--method", "best"], "'best' is unknown; expected auto, canonical, mcweeny, tc2, trs4, hpcp or eigen"),
            (["H.npy", "--electrons", "60", "--resume"], "--checkpoint is missing"),
            (["H.npy", "--electrons", "60", "--checkpoint", "./H.npy"], "./H.npy: is IN and the file of --checkpoint"),
            (["H.npy", "--electrons", "60", "--checkpoint", "D.npy"], "D.npy: is the file of -o and the file of --checkpoint"),
            (["H.npy", "--electrons", "60", "--energy-weighted", "D.npy"], "is the file of -o and the file of --energy-weighted"),
        ]  # fmt: skip
        for i, (words, complaint) in enumerate(cases):
            with self.subTest(words):
                result = self.run_plait(2 if i in (4, 5) or "is 9" in complaint else 0, "purify", *words, "-o", "D.npy")
                self.assertNotEqual(result.status, 0)
                self.assertEqual(len(result.errors), 1, result.stderr)
                self.assertIn(complaint, result.errors[0])
        self.assertFalse((self.folder / "D.npy").exists())
        self.assertEqual(self.run_plait(2, "purify", "H.npy", "--electrons", "61").status, 2)
        result = self.run_plait(0, "purify", "H.npy", "--electrons", "60", "-o", "./H.npy")
        self.assertIn("./H.npy: is IN and the file of -o, expected different files", result.errors[0])
        np.testing.assert_array_equal(self.load("H.npy"), h)

    def test_a_job_that_is_killed_at_any_moment_goes_on_with_the_same_bits(self):
        # A small gap, so that there are many steps.
        values = np.concatenate([np.linspace(0, 0.3, 60), np.linspace(0.3 + 1e-6, 1, 240)])
        self.save("H.npy", prescribed(values, 5))
        job = ["purify", "H.npy", "--electrons", "120", "--method", "tc2", "--quiet"]
        checkpoint = ["--checkpoint", "C.json", "--checkpoint-every", "1", "--resume"]
        self.succeed(2, *job, "-o", "expected.npy")
        kills = self.finish_despite_kills(2, "C.json", *job, *checkpoint, "-o", "D.npy")
        np.testing.assert_array_equal(self.load("D.npy"), self.load("expected.npy"), f"after {kills} kills")
        self.assertFalse({"C.json", "C.json.a.npy", "C.json.b.npy"} & self.files())

    def test_a_checkpoint_of_another_job_is_refused_and_a_stopped_one_is_used(self):
        self.save("H.npy", c60())
        job = ["purify", "H.npy", "--electrons", "60", "--method", "tc2", "--checkpoint", "C.json"]
        stopped = self.run_plait(2, *job, "--checkpoint-every", "3", "--max-iterations", "7")
        self.assertIn("no more were allowed", stopped.errors[0])
        self.assertIn("C.json", self.files())
        other = ["purify", "H.npy", "--electrons", "58", "--method", "tc2", "--checkpoint", "C.json", "--resume"]
        self.assertIn("C.json: is a checkpoint of another job: its occupied was 30, now it is 29", self.run_plait(0, *other).errors[0])
        limited = self.run_plait(2, *job, "--resume", "--max-iterations", "6")
        self.assertIn("--max-iterations: the limit of 6 is reached already, as C.json goes on after iteration 7", limited.errors[0])
        order = np.random.default_rng(3).permutation(60)  # has the same trace and norm
        self.save("other.npy", c60()[np.ix_(order, order)])
        other = ["purify", "other.npy", *job[2:], "--resume", "-o", "D.npy"]
        self.assertIn("is a checkpoint of another job: the files that are read differ", self.run_plait(0, *other).errors[0])
        kept = {name: (self.folder / name).read_bytes() for name in self.files() if name.startswith("C.json")}
        for ranks in (2, 3):
            for name, content in kept.items():
                (self.folder / name).write_bytes(content)
            report = json.loads(self.succeed(ranks, *job, "--resume", "-o", "D.npy", "--json"))
            self.assertEqual(report["resumed_at"], 7)
            self.assert_density("D.npy", density(c60(), 30)[0])


def common_filling(energies: np.ndarray, weights: np.ndarray, filled: float, width: float) -> tuple[np.ndarray, float]:
    """Fermi's occupations of points x states with one chemical potential, and that, by bisection."""
    low, high = energies.min() - 50 * width, energies.max() + 50 * width
    for _ in range(200):
        mu = (low + high) / 2
        occupations = 1 / (1 + np.exp(np.clip((energies - mu) / width, -700, 700)))
        low, high = (mu, high) if (weights[:, None] * occupations).sum() < filled else (low, mu)
    return occupations, mu


class Points(CommandTest):
    """Several Hamiltonians, of k-points and spins, that share their electrons."""

    def expect(self, report: dict, name: str, h: np.ndarray, weights: np.ndarray, per_state: int, width: float) -> None:
        energies, states = np.linalg.eigh(h)
        filled = report["electrons"] / per_state
        if width:
            f, mu = common_filling(energies, weights, filled, width)
            np.testing.assert_allclose(report["chemical_potential"], [mu, mu], atol=1e-9)
        else:
            order = sorted((e, k, i) for (k, i), e in np.ndenumerate(energies))
            f, left = np.zeros_like(energies), filled
            while left > 1e-9:
                highest, k, i = order.pop(0)
                f[k, i] = 1
                left -= weights[k]
            np.testing.assert_allclose(report["chemical_potential"], [highest, order[0][0]], atol=1e-10)
            self.assertAlmostEqual(report["gap"], order[0][0] - highest, places=9)
        energy = per_state * (weights[:, None] * f * energies).sum()
        self.assertAlmostEqual(report["energy"], energy, places=8)
        np.testing.assert_allclose([p["electrons"] for p in report["points"]], per_state * f.sum(axis=1), atol=1e-8)
        np.testing.assert_allclose(self.load(name), (states * f[:, None, :]) @ states.conj().swapaxes(1, 2), atol=1e-9)

    def test_k_points_of_an_array_share_a_chemical_potential(self):
        # Two bands of a chain with three orbitals, at five wave vectors.
        momenta = 2 * np.pi * (np.arange(5) - 2) / 5
        h = np.array([[[-2, np.exp(1j * q), 0.3], [np.exp(-1j * q), 0.2, 0.5], [0.3, 0.5, 3 + np.cos(q)]] for q in momenta])
        weights = np.array([1, 2, 4, 2, 1])
        self.save("H.npy", h)
        self.save("F.npy", np.asfortranarray(h))
        for ranks, name, more, width in [
            (0, "H.npy", [], 0), (2, "F.npy", ["--smearing", "fermi-dirac", "--width", "0.4"], 0.4), (7, "H.npy", [], 0),
        ]:  # fmt: skip
            with self.subTest(ranks=ranks):
                job = ["purify", name, "--electrons", "2", "--point-weights", "1,2,4,2,1", *more]
                report = json.loads(self.succeed(ranks, *job, "-o", "D.npy", "--eigenvalues", "e.npy", "--json"))
                self.expect(report, "D.npy", h, weights / 10, 2, width)
                np.testing.assert_allclose(self.load("e.npy"), np.linalg.eigvalsh(h), atol=1e-12)
        self.assertIn("5 Hamiltonians", self.succeed(0, *job, "--report", "R.html"))
        huge = ["purify", "H.npy", "--electrons", "2", "--point-weights", "4e307,8e307,1.6e308,8e307,4e307"]  # their sum overflows
        self.expect(json.loads(self.succeed(0, *huge, "-o", "D.npy", "--json")), "D.npy", h, weights / 10, 2, 0)

    def test_spins_in_several_files_fill_up_to_one_potential(self):
        up, down = prescribed(np.arange(7) - 3.0, 1), prescribed(np.arange(7) - 1.4, 2)
        self.save("up.npy", up)
        self.save("down.npy", down)
        job = ["purify", "up.npy", "--points", "down.npy", "--spins", "2", "--electrons", "7"]
        report = json.loads(self.succeed(2, *job, "-o", "D.npy", "--json"))
        self.expect(report, "D.npy", np.array([up, down]), np.ones(2), 1, 0)
        self.save("S.npy", 4 * np.eye(7))
        scaled = json.loads(self.succeed(2, *job, "--overlap", "S.npy", "--energy-weighted", "W.h5", "--json"))
        self.assertAlmostEqual(scaled["energy"], report["energy"] / 4)

    @alike_with_every_mpi
    def test_what_points_cannot_be_is_refused(self):
        self.save("H.npy", np.array([np.diag([-1.0, 1.0])] * 3))
        self.save("one.npy", np.diag([-1.0, 1.0]))
        self.save("two.npy", np.diag([-1.0, 1.0, 2.0]))
        self.save("odd.npy", np.diag([1.0, -1.0]))
        self.save("none.npy", np.zeros((0, 2, 2)))
        self.save("h.npy", np.array([[0.0, 1.0], [2.0, 0.0]]))
        (self.folder / "h.npy").rename(self.folder / "h")  # as the argument of the library is called
        for ranks, options, text in [
            (2, ["H.npy", "--point-weights", "1,2"], "--point-weights: has 2 numbers, expected 3"),
            (0, ["H.npy", "--spins", "2"], "there are 3 Hamiltonians, expected an even number"),
            (0, ["H.npy", "--method", "tc2"], "has several matrices, takes eigenstates, but --method is tc2"),
            (0, ["one.npy", "--point-weights", "1"], "--point-weights is given, but one.npy is one Hamiltonian"),
            (2, ["one.npy", "--points", "two.npy"], "--points two.npy is 3 x 3, expected 2 x 2"),
            (2, ["one.npy", "--points", "H.npy,none.npy"], "--points none.npy is 0 x 2 x 2, expected 2 x 2 or an array of such matrices, at least one"),
            (0, ["none.npy"], "none.npy is 0 x 2 x 2, expected 2 x 2 or an array"),
            (0, ["H.npy", "--points", "missing.npy"], "--points missing.npy: can't be opened"),
            (0, ["H.npy", "--per-state", "2", "--spins", "2"], "--per-state is 2, but --spins is 2"),
            (0, ["H.npy", "--electrons", "1"], "would be occupied in part"),
            (0, ["H.npy", "--points", "one.npy", "-o", "one.npy"], "expected different files"),
            (2, ["one.npy", "--points", "h"], "rank 1: h: is not symmetric"),
            (2, ["H.npy", "--overlap", "odd.npy"], "--overlap odd.npy: point "),
        ]:
            with self.subTest(text):
                given = options if "--electrons" in options else [*options, "--electrons", "2"]
                result = self.run_plait(ranks, "purify", *given)
                self.assertIn(text, result.stderr)
                self.assertNotEqual(result.status, 0)
