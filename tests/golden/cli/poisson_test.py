"""`plait poisson` against the equation itself, known solutions and SciPy's sparse solver."""

import ctypes
import itertools
import json
import re
import unittest

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

try:
    import scipy.sparse as sparse
    from scipy.sparse.linalg import spsolve
except ImportError:
    sparse = None

try:
    fftw = ctypes.CDLL("libfftw3.so.3")
except OSError:
    fftw = None


def operator(k, spacing, kinds, nodes: bool):
    """A as a dense matrix and the right side of unit sides, written from the definition: k is of points, or a list of
    faces across each axis; kinds[axis][side] is "value", "flux" or "periodic"; returns (A, weight of what is given on
    [axis][side] at each point)."""
    faces = k if isinstance(k, list) else None
    shape = tuple(n - (kinds[0][0] != "periodic" and a == 0) for a, n in enumerate(k[0].shape)) if faces else k.shape
    size = int(np.prod(shape))

    def between(axis, index, side, otherwise):
        if not faces:
            return otherwise
        face = list(index)
        face[axis] = (face[axis] + side) % faces[axis].shape[axis]
        return faces[axis][tuple(face)]

    number = np.arange(size).reshape(shape)
    a = np.zeros((size, size))
    given = [[np.zeros(shape) for _ in range(2)] for _ in shape]
    for index in np.ndindex(*shape):
        here = number[index]
        for axis, h in enumerate(spacing):
            for side in (0, 1):
                step = 2 * side - 1
                beyond = index[axis] + step
                kind = kinds[axis][side]
                if not 0 <= beyond < shape[axis] and kind != "periodic":
                    distance = h if nodes else h / 2
                    c = between(axis, index, side, None if faces else k[index]) / distance
                    if kind == "value":
                        a[here, here] += c / h
                        given[axis][side][index] += c / h
                    else:
                        given[axis][side][index] += 1 / h
                    continue
                other = list(index)
                other[axis] = beyond % shape[axis]
                other = tuple(other)
                c = between(axis, index, side, None if faces else 2 / (1 / k[index] + 1 / k[other])) / h
                a[here, here] += c / h
                a[here, number[other]] -= c / h
    return a, given


def points(n: int, nodes: bool) -> tuple[np.ndarray, float]:
    h = 1 / (n + 1) if nodes else 1 / n
    return (np.arange(n) + (1 if nodes else 0.5)) * h, h


class Poisson(CommandTest):
    def solve(self, ranks: int, *arguments: str) -> dict:
        return json.loads(self.succeed(ranks, "poisson", *arguments, "--json"))

    def test_it_solves_the_equation_of_the_definition_in_one_to_three_dimensions(self):
        random = np.random.default_rng(7)
        cases = [
            (1, (13,), "value:2,0+=flux:-1", [["value", "flux"]], [[2.0, -1.0]], False),
            (2, (11,), "value:2", [["value"] * 2], [[2.0, 2.0]], True),
            (0, (1,), "value:1", [["value", "value"]], [[1.0, 1.0]], False),
            (3, (6, 7), "0=periodic,1-=value:3,1+=flux:.5", [["periodic"] * 2, ["value", "flux"]], [[0, 0], [3, 0.5]], False),
            (2, (5, 9), "value", [["value"] * 2] * 2, [[0, 0], [0, 0]], True),
            (5, (3, 4, 5), "flux:1,2-=value:-1", [["flux"] * 2, ["flux"] * 2, ["value", "flux"]], [[1, 1], [1, 1], [-1, 1]], False),
            (7, (2, 5, 4), "value:1,1=periodic", [["value"] * 2, ["periodic"] * 2, ["value"] * 2], [[1, 1], [0, 0], [1, 1]], True),
        ]  # fmt: skip
        for (ranks, shape, boundary, kinds, values, nodes), by_face in itertools.product(cases, (False, True)):
            with self.subTest(shape=shape, ranks=ranks, by_face=by_face):
                spacing = [0.5, 0.25, 0.4][: len(shape)]
                f = self.save("f.npy", random.random(shape) - 0.3)
                k, names = self.save("k.npy", random.random(shape) + 0.5), ["k.npy"]
                if by_face:
                    names = [f"k{axis}.npy" for axis in range(len(shape))]
                    extents = [tuple(n + (a == axis and kinds[a][0] != "periodic") for a, n in enumerate(shape)) for axis in range(len(shape))]
                    k = [self.save(name, random.random(extent) + 0.5) for name, extent in zip(names, extents)]
                report = self.solve(
                    ranks, "f.npy", "--coefficient", ",".join(names), "--boundary", boundary, "--spacing", ",".join(map(str, spacing)),
                    "--at", "nodes" if nodes else "cells", "--tolerance", "1e-12", "-o", "u.npy",
                )  # fmt: skip
                a, given = operator(k, spacing, kinds, nodes)
                right = f.copy()
                for axis, sides in enumerate(values):
                    for side, value in enumerate(sides):
                        right += value * given[axis][side]
                expected = np.linalg.solve(a, right.ravel()).reshape(shape)
                u = self.load("u.npy")
                self.assertEqual((u.shape, u.dtype), (shape, np.dtype("f8")))
                np.testing.assert_allclose(u, expected, rtol=1e-9, atol=1e-10)
                self.assertEqual((report["status"], report["extents"]), ("converged", list(shape)))
                self.assertEqual((report["coefficient"], report["coefficient_by_face"]), (",".join(names), by_face))
                self.assertLess(report["residual"], 2e-12)
                self.assertLess(report["imbalance"], 1e-9)
                self.assertAlmostEqual(report["source"], f.sum() * np.prod(spacing), 9)
                for axis, sides in enumerate(kinds):
                    for side, kind in enumerate(sides):
                        area = np.prod(spacing) / spacing[axis]
                        face = np.take(given[axis][side] > 0, 0 if side == 0 else -1, axis)
                        at = np.take(expected, 0 if side == 0 else -1, axis)
                        near = np.take(k[axis] if by_face else k, 0 if side == 0 else -1, axis) / (spacing[axis] * (1 if nodes else 0.5))
                        flow = {"value": near * (values[axis][side] - at), "flux": values[axis][side] * face, "periodic": 0 * at}[kind]
                        self.assertAlmostEqual(report["inflow"][axis][side], flow.sum() * area, 8)

    def test_any_file_and_any_number_of_ranks_give_the_same_bits(self):
        random = np.random.default_rng(3)
        f = random.integers(-9, 9, (6, 5, 7))
        k = random.random((6, 5, 7)) + 1
        self.save("f.npy", f.astype("f8"))
        self.save("k.npy", k)
        self.save("kF.npy", np.asfortranarray(k))
        for method, ranks, dtype, order in [("v", 2, "<i4", "F"), ("mg-cg", 7, "i1", "F"), ("pipelined-cg", 3, ">f8", "C"), ("sor", 2, "<i4", "C")]:
            with self.subTest(method):
                rest = ("--method", method, "--max-iterations", "20", "--quiet")
                self.save("g.npy", np.array(f, dtype=dtype, order=order))
                self.assertEqual(self.run_plait(0, "poisson", "f.npy", "--coefficient", "k.npy", "-o", "u.npy", *rest).status, 0)
                result = self.run_plait(ranks, "poisson", "g.npy", "--coefficient", "kF.npy", "-o", "v.npy", *rest)
                self.assertEqual(result.status, 0, result.stderr)
                np.testing.assert_array_equal(self.load("v.npy"), self.load("u.npy"))

    def test_hdf5_files_are_read_and_written(self):
        f = self.save("f.npy", np.random.default_rng(1).random((5, 3, 4)))
        self.succeed(0, "poisson", "f.npy", "-o", "u.npy", "--start", "f.npy")
        if "built without" in self.run_plait(0, "poisson", "f.npy", "-o", "probe.h5").stderr:
            self.skipTest("this plait has no HDF5")
        self.succeed(2, "poisson", "f.npy", "-o", "u.h5:/a/u")
        expected = self.load("u.npy")
        again = self.solve(3, "f.npy", "--start", "u.h5", "-o", "v.npy")
        self.assertEqual((again["iterations"], again["input"]["format"]), (0, "NumPy .npy"))
        np.testing.assert_allclose(self.load("v.npy"), expected, rtol=1e-6)
        # The file of a solution as the right side of another problem.
        self.save("g.npy", self.load("v.npy"))
        self.succeed(0, "poisson", "g.npy", "-o", "a.npy")
        self.succeed(3, "poisson", "u.h5:/a/u", "-o", "b.npy")
        np.testing.assert_allclose(self.load("b.npy"), self.load("a.npy"), rtol=1e-6)
        self.assertEqual(f.shape, expected.shape)

    @alike_with_every_mpi
    def test_values_of_sides_come_from_files(self):
        random = np.random.default_rng(5)
        f, k = self.save("f.npy", random.random((4, 3, 5))), np.ones((4, 3, 5))
        low, high = random.random((3, 5)), random.random((4, 5))
        self.save("low.npy", np.asfortranarray(low))
        self.save("high.npy", high)
        for nodes in (False, True):
            kinds = [["value"] * 2, ["value", "value" if nodes else "flux"], ["periodic"] * 2]
            a, given = operator(k, [1, 1, 1], kinds, nodes)
            right = f + given[0][0] * low[None] + given[1][1] * high[:, None]
            expected = np.linalg.solve(a, right.ravel()).reshape(f.shape)
            for ranks in (3,) if nodes else (0, 5):
                with self.subTest(nodes=nodes, ranks=ranks):
                    kind = "value" if nodes else "flux"
                    self.solve(ranks, "f.npy", "--boundary", f"0-=value:low.npy,1+={kind}:high.npy,2=periodic", "--tolerance", "1e-12",
                               "--at", "nodes" if nodes else "cells", "-o", "u.npy")  # fmt: skip
                    np.testing.assert_allclose(self.load("u.npy"), expected, rtol=1e-9, atol=1e-11)

    @alike_with_every_mpi
    def test_known_solutions_are_reached_with_order_two_and_the_error_is_estimated(self):
        for dimensions, extents, nodes in [(1, (64, 128), False), (2, (63, 127), True), (3, (24, 48), False)]:
            with self.subTest(dimensions=dimensions, nodes=nodes):
                errors = []
                for n in extents:
                    x, h = points(n, nodes)
                    grids = np.meshgrid(*[x] * dimensions, indexing="ij")
                    exact = np.prod([np.sin(np.pi * g) for g in grids], axis=0) + grids[0]
                    k = 1 + grids[0]
                    # k = 1 + x: -div(k grad u) = k d pi^2 s - du/dx
                    sines = exact - grids[0]
                    f = k * dimensions * np.pi**2 * sines - (np.pi * np.cos(np.pi * grids[0]) * np.prod([np.sin(np.pi * g) for g in grids[1:]], axis=0) + 1)
                    face = x if dimensions == 2 else np.broadcast_to(x[:, None], (n, n))
                    self.save("f.npy", f)
                    self.save("k.npy", k)
                    self.save("x.npy", np.ascontiguousarray(face))
                    sides = "0+=value:1" + "".join(f",{a}=value:x.npy" for a in range(1, dimensions))
                    job = ("f.npy", "--coefficient", "k.npy", "--spacing", repr(h), "--at", "nodes" if nodes else "cells", "--boundary", sides)
                    report = self.solve(2 if n == extents[-1] else 0, *job, "--tolerance", "1e-11", "-o", "u.npy")
                    errors.append(np.sqrt(np.mean((self.load("u.npy") - exact) ** 2)))
                orders = np.log2(np.array(errors[:-1]) / errors[1:])
                np.testing.assert_allclose(orders, 2, atol=0.1)
                self.assertLess(abs(np.log(report["discretisation"]["mean_square"] / errors[-1])), np.log(2.5))
                rough = self.solve(0, *job, "--tolerance", "truncation", "-o", "u.npy")
                self.assertLess(rough["iterations"], 10)
                self.assertLess(np.sqrt(np.mean((self.load("u.npy") - exact) ** 2)), 1.3 * errors[-1])

    @alike_with_every_mpi
    def test_truncation_ends_where_less_is_left_of_the_iteration_than_of_the_discretisation_by_any_method(self):
        x, h = points(32, False)
        exact = np.multiply.outer(np.sin(np.pi * x), np.sin(np.pi * x))
        self.save("f.npy", 2 * np.pi**2 * exact)
        for ranks, method in (0, "auto"), (0, "jacobi"), (0, "chebyshev"), (0, "sor"), (0, "cg"), (2, "pipelined-cg"), (0, "w"), (0, "mg-cg"):
            with self.subTest(method):
                report = self.solve(ranks, "f.npy", "--spacing", repr(h), "--method", method, "--tolerance", "truncation", "-o", "u.npy")
                error = np.sqrt(np.mean((self.load("u.npy") - exact) ** 2))
                self.assertEqual(report["status"], "converged")
                self.assertLess(error, 1.3 * np.pi**2 * h**2 / 24)
                self.assertLess(abs(np.log(report["discretisation"]["mean_square"] / error)), 0.5)

    @alike_with_every_mpi
    def test_truncation_in_a_porous_medium_leaves_less_than_it_says_and_flows_that_cancel(self):
        random = np.random.default_rng(1)
        waves = np.fft.fftfreq(24)[:, None] ** 2 + np.fft.fftfreq(32) ** 2
        field = np.fft.ifft2(np.fft.fft2(random.standard_normal((24, 32))) * np.exp(-50 * waves)).real
        self.save("k.npy", np.exp(2 * field / field.std()))
        self.save("f.npy", np.zeros((24, 32)))
        job = ("f.npy", "--coefficient", "k.npy", "--boundary", "flux,0-=value:1,0+=value:0", "-o", "u.npy", "--tolerance")
        expected = self.solve(0, *job, "1e-12")
        solution = self.load("u.npy")
        for ranks, method in (2, "auto"), (0, "cg"), (0, "sor"), (0, "f"):
            with self.subTest(method):
                report = self.solve(ranks, *job, "truncation", "--method", method)
                self.assertLess(np.sqrt(np.mean((self.load("u.npy") - solution) ** 2)), report["discretisation"]["mean_square"] / 4)
                self.assertAlmostEqual(report["discretisation"]["mean_square"] / expected["discretisation"]["mean_square"], 1, 1)
                self.assertAlmostEqual(report["inflow"][0][0] / expected["inflow"][0][0], 1, 2)

    @alike_with_every_mpi
    def test_flows_that_do_not_cancel_are_warned_of_unless_there_are_none(self):
        self.save("f.npy", np.zeros((24, 32)))
        flow = ("f.npy", "--boundary", "flux,0-=value:1,0+=value:0", "--method", "cg")
        wave = np.broadcast_to(np.sin(2 * np.pi * np.arange(32) / 32), (24, 32))
        self.save("wave.npy", np.ascontiguousarray(wave))
        for ranks, words, advice in [
            (2, (*flow, "--tolerance", "1e-1"), "a smaller --tolerance"),
            (0, (*flow, "--tolerance", "1e-9", "--max-iterations", "2"), "a larger --max-iterations"),
            (0, (*flow, "--tolerance", "1e-9"), ""),
            (0, ("wave.npy", "--boundary", "periodic", "--project"), ""),
        ]:
            with self.subTest(words):
                result = self.run_plait(ranks, "poisson", *words, "-o", "u.npy")
                self.assertEqual(result.status, 0, result.stderr)
                self.assertEqual(re.findall("% of all: for flows give (.*)", result.stderr), [advice] if advice else [])

    @alike_with_every_mpi
    def test_auto_takes_conjugate_gradients_where_k_jumps_and_says_why(self):
        self.save("f.npy", np.ones((40, 40)))
        k = np.where(np.add.outer(np.arange(40) // 5, np.arange(40) // 5) % 2, 100.0, 1.0)
        self.save("k.npy", k)
        text = self.succeed(3, "poisson", "f.npy", "--coefficient", "k.npy", "-o", "u.npy")
        self.assertRegex(text, "method    mg-cg with black-box multigrid, as k jumps by 100 between neighbours")
        self.assertRegex(self.succeed(0, "poisson", "f.npy", "-o", "u.npy"), "method    v, as k is 1")
        self.save("k.npy", np.exp(np.sin(np.add.outer(np.arange(40), np.arange(40)) / 5)))
        smooth = ("poisson", "f.npy", "--coefficient", "k.npy", "-o", "u.npy")
        self.assertRegex(self.succeed(0, *smooth), r"method    f, as k changes by 1\.\d+ at most between neighbours")

    def test_several_steps_of_an_exchange_give_the_bits_of_one_and_their_number_is_told(self):
        self.save("f.npy", np.random.default_rng(4).standard_normal((14, 17)))
        for method, others in ("jacobi", ((4, "8", "3"), (3, "auto", None))), ("chebyshev", ((2, "3", "8"),)):
            for ranks, steps, iterations in ((0, "1", "24"), *others):
                limit = ("--max-iterations", iterations) if iterations else ()
                job = ("f.npy", "--method", method, "--steps-per-exchange", steps, *limit, "-o", f"{ranks}.npy", "--json")
                report = json.loads(self.run_plait(ranks, "poisson", *job).stdout)
                self.assertEqual(report["status"], "iteration limit" if iterations else "converged")
                if iterations:
                    self.assertEqual(report["steps_per_exchange"], int(steps))
                    np.testing.assert_array_equal(self.load(f"{ranks}.npy"), self.load("0.npy"))
                else:
                    self.assertGreaterEqual(report["steps_per_exchange"], 1)
                    self.assertLessEqual(report["residual"], 1e-8)

    @alike_with_every_mpi
    def test_where_u_is_given_nowhere_the_mean_has_to_vanish(self):
        f = self.save("f.npy", np.random.default_rng(2).random((6, 7)))
        for refuses, ranks, boundary in (4, 0, "flux"), (0, 0, "periodic"), (0, 4, "flux,0=periodic"):
            with self.subTest(boundary):
                refused = self.run_plait(refuses, "poisson", "f.npy", "--boundary", boundary, "-o", "u.npy")
                self.assertEqual((refused.status, len(refused.errors)), (1, 1), refused.stderr)
                self.assertRegex(refused.errors[0], rf"f.npy: its mean, with what flows in through the sides, is {f.mean():.5f}\d*, expected 0.*\(--project\)")
                self.assertNotIn("u.npy", self.files())
                kinds = [["periodic" if "periodic" in boundary else "flux"] * 2, ["periodic" if boundary == "periodic" else "flux"] * 2]
                report = self.solve(ranks, "f.npy", "--boundary", boundary, "--project", "-o", "u.npy", "--tolerance", "1e-12")
                self.assertAlmostEqual(report["subtracted_mean"], f.mean(), 14)
                u = self.load("u.npy")
                a, _ = operator(np.ones_like(f), [1, 1], kinds, False)
                np.testing.assert_allclose(a @ u.ravel(), (f - f.mean()).ravel(), atol=1e-10)
                self.assertAlmostEqual(u.mean(), 0, 12)
                (self.folder / "u.npy").unlink()

    @alike_with_every_mpi
    def test_what_is_made_and_flows_in_cancels_where_both_are_0_but_for_rounding(self):
        self.save("f.npy", np.random.default_rng(2).random((9, 7)))
        words = ("f.npy", "-o", "u.npy", "--project", "--boundary")
        for ranks, boundary in ((0, "flux"), (3, "periodic"), (0, "flux:1e6,0-=flux:-1e6")):
            with self.subTest(boundary):
                self.assertLess(self.solve(ranks, *words, boundary)["imbalance"], 1e-14)
        self.assertRegex(self.succeed(0, "poisson", *words, boundary), r"off by (\d\.\de-1[5-9]|\d\.\de-[2-9]\d|0\.0e\+00) of all")

    @alike_with_every_mpi
    def test_the_mean_that_is_subtracted_is_told(self):
        f = self.save("f.npy", np.random.default_rng(2).random((6, 7)))
        flux = ("f.npy", "-o", "u.npy", "--boundary", "flux,1-=flux:3", "--project")
        mean = f.mean() + 3 / 7  # what flows in is spread over 7 cells
        self.assertAlmostEqual(self.solve(2, *flux)["subtracted_mean"], mean, 13)
        text = self.succeed(0, "poisson", *flux)
        self.assertIn(f"mean      {mean:.8g}, subtracted from f", text)
        self.assertIn("f less its mean makes", text)
        self.assertIsNone(self.solve(0, "f.npy", "-o", "u.npy", "--project")["subtracted_mean"])
        self.assertIn("none is subtracted, as u is given on a side", self.succeed(0, "poisson", "f.npy", "-o", "u.npy", "--project"))

    @alike_with_every_mpi
    def test_vti_has_the_values_and_where_they_are(self):
        self.save("f.npy", np.ones((2, 3, 4)))
        for points_are, extent, origin in (("cells", "0 4 0 3 0 2", "0 0 0"), ("nodes", "0 3 0 2 0 1", "3 2 1")):
            self.succeed(0, "poisson", "f.npy", "--spacing", "1,2,3", "-o", "u.npy", "--at", points_are)
            self.succeed(3, "poisson", "f.npy", "--spacing", "1,2,3", "-o", "u.vti", "--at", points_are)
            data = (self.folder / "u.vti").read_bytes()
            begin = data.index(b"_", data.index(b"<AppendedData")) + 1
            self.assertIn(f'WholeExtent="{extent}" Origin="{origin}" Spacing="3 2 1"'.encode(), data)
            np.testing.assert_array_equal(np.frombuffer(data, "<f8", 24, begin + 8), self.load("u.npy").ravel())

    @alike_with_every_mpi
    def test_the_page_shows_convergence_and_u(self):
        for ranks, shape, title in (0, (30,), "<h2>u</h2>"), (2, (9, 12), "<h2>u</h2>"), (0, (4, 5, 6), "<h2>u in slice 2 of axis 0</h2>"):
            self.save("f.npy", np.ones(shape))
            report = self.solve(ranks, "f.npy", "-o", "u.npy", "--report", "r.html")
            page = (self.folder / "r.html").read_text()
            for words in ("<h2>Convergence</h2>", title, f"<p>converged: {report['reason']}", "imbalance", "error of the discretisation", f"{report['residual']:.1e}"):
                self.assertIn(words, page)
        self.run_plait(0, "poisson", "f.npy", "-o", "u.npy", "--report", "r.html", "--method", "jacobi", "--max-iterations", "2")
        self.assertIn("<p>iteration limit: ", (self.folder / "r.html").read_text())

    @alike_with_every_mpi
    def test_the_page_draws_every_point_of_a_line(self):
        self.save("f.npy", np.sin(np.linspace(0, 6, 200)))
        for ranks in (0, 2):
            self.solve(ranks, "f.npy", "-o", "u.npy", "--report", "r.html")
            u = self.load("u.npy").ravel()
            curve = Page((self.folder / "r.html").read_text()).plot("u at 200 points").curve("compute")
            np.testing.assert_allclose(curve, u, atol=np.ptp(u) / 1000)

    @alike_with_every_mpi
    def test_the_picture_of_u_has_even_shades_names_of_axes_and_the_shape_of_the_box(self):
        self.save("f.npy", np.zeros((20, 40)))
        for sides, shades in (("value:300,0+=value:308", 8), ("value:-4,0+=value:4", 16), ("value:0", 0)):
            with self.subTest(sides):
                self.solve(2 if shades == 8 else 0, "f.npy", "--boundary", f"flux,0-={sides}", "--spacing", "4,1", "-o", "u.npy", "--report", "r.html")
                page = (self.folder / "r.html").read_text()
                self.assertIn('data-words="axis 0;axis 1"', page)
                self.assertIn("Points are 4 apart on axis 0 and 1 on axis 1.", page)
                self.assertRegex(page, r'width="225.0+" height="450.0+" class="cells"')
                self.assertNotIn('class="rest" stroke', page)
                if shades:
                    rows = {m for m in re.findall(r'<path class="([pm]\d)" stroke-width', page)}
                    self.assertEqual(len(rows), shades)
                    self.assertIn("Each shade is", page)
                    self.assertNotIn("is not drawn", page)

    @alike_with_every_mpi
    def test_points_of_a_mask_are_grey_in_the_picture_of_u(self):
        mask = np.zeros((6, 9))
        mask[2:4, 3:6] = 1
        self.save("mask.npy", mask)
        self.save("f.npy", np.ones((6, 9)))
        for ranks in (0, 3):
            self.solve(ranks, "f.npy", "--mask", "mask.npy", "-o", "u.npy", "--report", "r.html")
            page = Page((self.folder / "r.html").read_text())
            plot = page.plot("Elements of u")
            np.testing.assert_array_equal(plot.cells(6, 9) == 0, mask)
            (grey,) = [d for kind, d, *_ in plot.paths if kind == "rest"]
            self.assertEqual(grey.count("M"), 2)
            self.assertIn("Points outside of the domain are grey.", page.texts["p"])
            self.assertEqual(plot.titles, ["axis 1", "axis 0"], "numbers of one sign need no heading")
            bottom = max(y for kind, _, y, _ in plot.texts if kind == "title")
            self.assertLess(float(plot.attributes["viewbox"].split()[3]) - bottom, 10, "no blank below the picture")

    @alike_with_every_mpi
    def test_jumps_of_any_size_converge_in_three_dimensions(self):
        self.save("f.npy", np.ones((12, 13, 14)))
        self.save("k.npy", np.where(np.random.default_rng(1).random((12, 13, 14)) < 0.5, 1, 1e6))
        report = self.solve(2, "f.npy", "--coefficient", "k.npy", "-o", "u.npy")
        self.assertEqual((report["method"], report["black_box"], report["status"]), ("mg-cg", True, "converged"))
        self.assertLess(report["weighted_residual"], 1.1e-8)
        text = self.succeed(0, "poisson", "f.npy", "--coefficient", "k.npy", "-o", "u.npy", "--method", "pipelined-cg", "--tolerance", "1e-3")
        self.assertRegex(text, r"method    pipelined-cg, \d+ % of reductions hidden")
        self.assertRegex(text, r"\|\|b - A u\|\|/\|\|b\|\|, \S+ = \|\|\(b - A u\)/D\|\|/\|\|b/D\|\|, D the diagonal, by which it ends, computed again")

    def test_points_of_a_mask_are_outside(self):
        random = np.random.default_rng(3)
        for shape, boundary, kinds in [
            ((12, 9), "flux,0-=value:1", [["value", "flux"], ["flux", "flux"]]),
            ((5, 6, 4), "value:1,1=periodic", [["value"] * 2, ["periodic"] * 2, ["value"] * 2]),
        ]:
            f = self.save("f.npy", random.random(shape))
            k = self.save("k.npy", np.exp(4 * random.random(shape)))
            start = self.save("start.npy", -9 * random.random(shape))
            mask = random.random(shape) < 0.25
            self.save("mask.npy", mask)
            a, given = operator(k, [1.0] * len(shape), kinds, False)
            for outside in ("flux", "value"):
                matrix, right = a.copy(), f.ravel().copy()
                right += sum(g.ravel() for axis, sides in zip(kinds, given) for s, g in zip(axis, sides) if s == "value")
                out = mask.ravel()
                if outside == "value":
                    right -= a[:, out] @ start.ravel()[out]
                else:  # what flows to them is taken from the diagonal
                    matrix[np.diag_indices(f.size)] += a[:, out].sum(axis=1)
                rows, columns = np.nonzero(matrix[~out][:, ~out])
                part = np.arange(f.size)[~out]
                for _ in range(f.size):  # parts of the domain, by their least points
                    np.minimum.at(part, rows, part[columns])
                touched = np.abs(matrix[~out][:, ~out].sum(axis=1)) > 1e-9
                free = [p for p in np.unique(part) if not touched[part == p].any()]
                inner, values = matrix[~out][:, ~out], right[~out]
                for p in free:
                    values[part == p] -= values[part == p].mean()
                    inner += np.outer(part == p, part == p)
                expected = start.ravel().copy()
                expected[~out] = np.linalg.solve(inner, values)
                for ranks, method in (3 if outside == "flux" else 0, "auto"), (0, "sor" if outside == "flux" else "pipelined-cg"):
                    with self.subTest(shape=shape, outside=outside, method=method, ranks=ranks):
                        report = self.solve(
                            ranks, "f.npy", "--coefficient", "k.npy", "--mask", "mask.npy", "--outside", outside, "--start", "start.npy",
                            "--boundary", boundary, "--project", "--method", method, "--tolerance", "1e-12", "-o", "u.npy",
                        )  # fmt: skip
                        np.testing.assert_allclose(self.load("u.npy").ravel(), expected, atol=1e-9)
                        self.assertEqual([report["lowest"], report["highest"]], [f(self.load("u.npy").ravel()[~out]) for f in (np.min, np.max)])
                        self.assertEqual(report["outside_points"], out.sum())
                        self.assertEqual(report["parts"], len(np.unique(part)))
                        self.assertLess(report["imbalance"], 1e-9)

    @alike_with_every_mpi
    def test_each_part_of_a_mask_wants_a_mean_of_zero_unless_it_is_subtracted(self):
        f = np.ones((6, 9))
        f[:, :4] = np.array([1.0, -1.0, 1.0, -1.0])
        self.save("f.npy", f)
        mask = np.zeros((6, 9))
        mask[:, 4] = 1
        self.save("mask.npy", mask)
        words = ("f.npy", "--mask", "mask.npy", "--boundary", "flux", "-o", "u.npy")
        result = self.run_plait(2, "poisson", *words)
        self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
        self.assertIn("f.npy: its mean on the part of the domain that has (0, 5), with what flows in", result.errors[0])
        self.assertIn("(--project)", result.errors[0])
        text = self.succeed(0, "poisson", *words, "--project")
        self.assertRegex(text, "domain    48 of 54 points, in 2 parts")
        self.assertRegex(text, "method    mg-cg with black-box multigrid, as points are outside")
        self.assertEqual(self.solve(3, *words, "--project", "--method", "jacobi")["status"], "converged")

    @alike_with_every_mpi
    def test_what_can_not_be_is_said_on_all_ranks(self):
        f = self.save("f.npy", np.ones((4, 6)))
        k = np.ones((4, 6))
        k[3, 1] = -2
        self.save("negative.npy", k)
        k[3, 1] = np.nan
        self.save("nan.npy", k)
        g = f.copy()
        g[2, 5] = np.inf
        self.save("inf.npy", g)
        self.save("huge.npy", np.full((4, 6), 1e170))
        wide = np.ones((4, 7))
        wide[2, 6] = 0
        self.save("wide.npy", wide)
        self.save("faces.npy", np.ones((5, 6)))
        self.save("complex.npy", np.ones((4, 6), "c16"))
        self.save("empty.npy", np.ones((0, 6)))
        mask = np.zeros((4, 6))
        mask[1, 4] = np.nan
        self.save("mask.npy", mask)
        self.save("four.npy", np.ones((1, 2, 2, 2)))
        self.save("side.npy", np.ones(5))
        before = self.files()
        for ranks, words, message in [
            (3, ("f.npy", "--coefficient", "negative.npy"), r"--coefficient negative.npy: is -2 at \(3, 1\), expected a finite number above 0"),
            (0, ("f.npy", "--coefficient", "nan.npy"), r"--coefficient nan.npy: is -?nan at \(3, 1\), expected a finite number above 0"),
            (0, ("f.npy", "--coefficient", "huge.npy"), r"--coefficient huge.npy: is 1e\+170 at \(0, 0\), expected a number from 1e-100 to 1e100"),
            (0, ("inf.npy",), r"inf.npy: is inf at \(2, 5\), expected a finite number"),
            (0, ("f.npy", "--coefficient", "wide.npy"), "--coefficient wide.npy is 4 x 7, expected 4 x 6, as f.npy is"),
            (2, ("f.npy", "--coefficient", "faces.npy,wide.npy"), r"--coefficient wide.npy: is 0 at face \(2, 6\), expected a number from 1e-100 to 1e100"),
            (2, ("f.npy", "--coefficient", "wide.npy,faces.npy"), "--coefficient wide.npy is 4 x 7, expected 5 x 6, the faces across axis 0"),
            (0, ("f.npy", "--coefficient", "faces.npy,wide.npy,f.npy"), "--coefficient: 3 files are given, expected 1, or 2 for the faces across each axis"),
            (0, ("f.npy", "--coefficient", "faces.npy,wide.npy", "--method", "v"), "--coefficient faces.npy,wide.npy: is given by face, which v can't have, expected jacobi"),
            (0, ("f.npy", "--start", "wide.npy"), "--start wide.npy is 4 x 7, expected 4 x 6, as f.npy is"),
            (0, ("f.npy", "--mask", "wide.npy"), "--mask wide.npy is 4 x 7, expected 4 x 6, as f.npy is"),
            (0, ("f.npy", "--mask", "f.npy", "--method", "v"), "f.npy: there are points outside of the domain, which v can't have, expected jacobi"),
            (3, ("f.npy", "--mask", "f.npy"), "f.npy: has all points of the box, expected some to be inside"),
            (0, ("f.npy", "--mask", "f.npy", "--outside", "value", "--method", "cg"), "f.npy: has all points of the box"),
            (0, ("f.npy", "--mask", "mask.npy"), r"--mask mask.npy: is nan at \(1, 4\), expected a number"),
            (0, ("complex.npy",), "complex.npy has elements of c128, expected real ones"),
            (0, ("empty.npy",), "empty.npy is 0 x 6, expected points"),
            (0, ("four.npy",), "four.npy: has 4 dimensions; expected one to three"),
            (0, ("f.npy", "--boundary", "0-=value:side.npy"), "--boundary: side.npy has 5 values, expected 6, as the sides of axis 0 have points"),
            (0, ("f.npy", "--boundary", "2=periodic"), "--boundary: names axis 2, expected one below 2"),
            (0, ("f.npy", "--spacing", "1,2,3"), "--spacing: 3 numbers are given, expected 1 or 2"),
            (0, ("f.npy", "--steps-per-exchange", "9999", "--method", "jacobi"), "--steps-per-exchange: is 9999, expected 0 to 1024"),
            (2, ("missing.npy",), "missing.npy: .*No such file"),
        ]:
            with self.subTest(words):
                result = self.run_plait(ranks, "poisson", *words, "-o", "u.npy")
                self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
                self.assertRegex(result.errors[0], message)
                self.assertEqual(self.files(), before)
        for words, message in [
            (("--boundary", "0-=value,0=flux"), "--boundary: '0=flux' gives side - of axis 0 a second time"),
            (("--boundary", "flux,value:2"), "--boundary: 'value:2' names no side, as a part before it does"),
            (("--boundary", "x=flux"), "--boundary: 'x' is no side, expected an axis from 0 to 2, with - or + for one side"),
            (("--boundary", "neumann"), "--boundary: 'neumann' is unknown; expected value, flux or periodic"),
            (("--boundary", "0=periodic:3"), "--boundary: '0=periodic:3' gives periodic sides '3', expected nothing"),
            (("--boundary", "0-=periodic"), "--boundary: one of axis 0 is periodic, expected both or none"),
            (("--boundary", "periodic,1+=flux"), "--boundary: one of axis 1 is periodic, expected both or none"),
            (("--boundary", "flux,0=value", "--at", "nodes"), "--boundary has a flux, which nodes can't have: expected --at cells, or value"),
            (("--boundary", "1+=flux", "--at", "nodes"), "--boundary has a flux, which nodes can't have: expected --at cells, or value or periodic"),
            (("--omega", "2", "--method", "sor"), "--omega: 2 is not between 0 and 2"),
            (("--spacing", "1,0"), "--spacing: 0 is not positive"),
            (("--method", "best"), "--method: 'best' is unknown; expected auto, jacobi, chebyshev, sor, cg"),
            (("--tolerance", "small"), "--tolerance: 'small' is no number"),
            (("--outside", "value"), "--outside is given, but --mask is not"),
            (("--omega", "1"), "--omega is given, but --method is neither jacobi nor sor"),
            (("--steps-per-exchange", "2", "--method", "sor"), "--steps-per-exchange is given, but --method is neither jacobi nor"),
            (("--steps-per-exchange", "0", "--method", "jacobi"), "--steps-per-exchange: '0' is no count; expected a whole number, 1 at least"),
            (("--resume",), "--resume is given, but --checkpoint is missing"),
            (("-o", "u.csv"), "u.csv would be a file of another kind, expected a name that ends in .npy or .h5 or .hdf5 or .vti"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "poisson", "f.npy", *(words if "-o" in words else ("-o", "u.npy", *words)))
                self.assertEqual(result.status, 2, result.stderr)
                self.assertIn(message, result.stderr)

    @alike_with_every_mpi
    def test_what_does_not_converge_is_no_result_and_a_limit_is_a_warning(self):
        self.save("f.npy", np.ones((20, 20)))
        limited = self.run_plait(2, "poisson", "f.npy", "-o", "u.npy", "--method", "jacobi", "--max-iterations", "5")
        self.assertEqual(limited.status, 0)
        self.assertIn("warning: iteration limit: ‖b - A u‖/‖b‖ is ", limited.stderr)
        self.assertIn("u.npy", self.files())
        (self.folder / "u.npy").unlink()
        diverged = self.run_plait(0, "poisson", "f.npy", "-o", "u.npy", "--method", "jacobi", "--omega", "1.9")
        self.assertEqual((diverged.status, len(diverged.errors)), (1, 1), diverged.stderr)
        self.assertIn("‖b - A u‖/‖b‖ has grown from ", diverged.errors[0])
        self.assertIn("nothing was written", diverged.errors[0])
        self.assertNotIn("u.npy", self.files())


class Resume(CommandTest):
    def test_killed_jobs_end_with_the_same_bits_on_another_number_of_ranks(self):
        self.save("f.npy", np.random.default_rng(1).random((31, 40)))
        for method, iterations, lost, ranks, others in (("sor", "400", 0, 2, 3), ("cg", "60", 0, 0, 2), ("mg-cg", "6", 0, 3, 0), ("pipelined-cg", "60", 1, 2, 0)):
            with self.subTest(method):
                job = ("poisson", "f.npy", "--method", method, "--tolerance", "1e-14", "--max-iterations")
                straight = json.loads(self.run_plait(0, *job, iterations, "-o", "expected.npy", "--json").stdout)
                kept = ("--checkpoint", "state", "--json", "-o", "u.npy")
                half = str(int(iterations) // 2)
                self.assertRegex(self.run_plait(ranks, *job, half, *kept).stderr, "--resume with a larger --max-iterations goes on from state")
                resumed = json.loads(self.run_plait(others, *job, iterations, *kept, "--resume").stdout)
                self.assertEqual(resumed["resumed_at"], int(half) - lost)
                self.assertEqual(resumed["errors"], straight["errors"])
                np.testing.assert_array_equal(self.load("u.npy"), self.load("expected.npy"))
        other = self.run_plait(0, *job, iterations, *kept, "--resume", "--spacing", "2")
        self.assertIn("state: is a checkpoint of another job: its spacing was", other.errors[0])

    def test_a_job_that_is_killed_again_and_again_ends_with_the_same_bits(self):
        self.save("f.npy", np.random.default_rng(1).random((150, 160)))
        job = ("poisson", "f.npy", "--method", "jacobi", "--tolerance", "1e-12", "--max-iterations", "1500")
        self.assertEqual(self.run_plait(0, *job, "-o", "expected.npy", "--quiet").status, 0)
        kills = self.finish_despite_kills(2, "state", *job, "--checkpoint", "state", "--checkpoint-every", "50", "--resume", "-o", "u.npy")
        np.testing.assert_array_equal(self.load("u.npy"), self.load("expected.npy"), f"after {kills} kills")


@unittest.skipIf(fftw is None, "Debian's libfftw3-double3 is not installed")
class Fftw(CommandTest):
    def test_transforms_solve_on_all_sides_with_the_same_bits_on_any_number_of_ranks(self):
        random = np.random.default_rng(8)
        f = self.save("f.npy", random.standard_normal((9, 12, 10)))
        self.save("k.npy", np.full(f.shape, 3, "f4"))
        sides = "0=periodic,1-=value:2,1+=flux:-1,2=value"
        for ranks in (0, 2, 5):
            text = self.succeed(ranks, "poisson", "f.npy", "--coefficient", "k.npy", "--boundary", sides, "--method", "fft", "-o", f"{ranks}.npy")
            self.assertRegex(text, "iterated  1 iteration in")
            np.testing.assert_array_equal(self.load(f"{ranks}.npy"), self.load("0.npy"))
        a, given = operator(np.full(f.shape, 3.0), (1, 1, 1), [["periodic"] * 2, ["value", "flux"], ["value"] * 2], False)
        b = f + 2 * given[1][0] - given[1][1]
        np.testing.assert_allclose(self.load("0.npy").ravel(), np.linalg.solve(a, b.ravel()), rtol=1e-10, atol=1e-10)

    @alike_with_every_mpi
    def test_auto_takes_transforms_in_space_unless_extents_have_large_prime_factors(self):
        for shape, words in (((6, 10, 12), "fft, as k is 1; v would take about twice as long"), ((3, 2, 127), "v, as k is 1, and extents have large prime factors for fft")):
            self.save("f.npy", np.ones(shape))
            self.assertIn("method    " + words, self.succeed(0, "poisson", "f.npy", "-o", "u.npy"))

    def test_a_smoother_that_the_method_does_not_have_is_refused(self):
        self.save("f.npy", np.ones((5, 6)))
        k = np.ones((5, 6))
        k[2, 3] = 1e6
        self.save("k.npy", k)
        job = ("poisson", "f.npy", "--coefficient", "k.npy", "--smoother", "jacobi", "-o", "u.npy")
        for ranks, more in ((0, ()), (3, ("--method", "mg-cg"))):
            result = self.run_plait(ranks, *job, *more)
            self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
            self.assertIn("--smoother: is jacobi, but the method is mg-cg with black-box multigrid", result.errors[0])
            self.assertIn("which has no such cycles; expected red-black, or v, w, f or fmg as --method", result.errors[0])
        self.succeed(0, *job, "--method", "v", "--max-iterations", "3")

    @alike_with_every_mpi
    def test_a_k_that_varies_is_refused(self):
        self.save("f.npy", np.ones((5, 6)))
        k = np.ones((5, 6))
        k[4, 5] = 7
        self.save("k.npy", k)
        result = self.run_plait(3, "poisson", "f.npy", "--coefficient", "k.npy", "--method", "fft", "-o", "u.npy")
        self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
        self.assertIn("--method: is fft, which takes a k that is the same everywhere, but k is 1 to 7; expected mg-cg or another method", result.errors[0])


@unittest.skipIf(sparse is None, "Debian's python3-scipy is not installed")
class Scipy(CommandTest):
    @staticmethod
    def conductances(k: np.ndarray) -> list[np.ndarray]:
        """Of the faces across each axis, u being given on all sides of cells of unit spacing."""
        found = []
        for axis in range(k.ndim):
            cells = np.moveaxis(k, axis, 0)
            between = 2 / (1 / cells[1:] + 1 / cells[:-1])
            found.append(np.moveaxis(np.concatenate([2 * cells[:1], between, 2 * cells[-1:]]), 0, axis))
        return found

    @staticmethod
    def solved(conductances: list[np.ndarray], f: np.ndarray) -> np.ndarray:
        axes = []
        for axis, c in enumerate(conductances):
            d = sparse.identity(1)
            for other, extent in enumerate(f.shape):
                difference = sparse.diags([1, -1], [0, -1], shape=(extent + 1, extent))
                d = sparse.kron(d, difference if other == axis else sparse.identity(extent))
            axes.append(d.T @ sparse.diags(c.ravel()) @ d)
        return spsolve(sparse.csc_matrix(sum(axes)), f.ravel()).reshape(f.shape)

    @alike_with_every_mpi
    def test_u_is_off_by_the_tolerance_at_most_where_k_jumps_and_the_estimate_tells_by_how_much(self):
        random = np.random.default_rng(4)
        squares = np.add.outer(np.arange(20) // 4, np.arange(24) // 4) % 2 == 0
        for jumps, f in itertools.product((random.random((20, 24)) < 0.5, squares), (np.ones((20, 24)), random.random((20, 24)) - 0.5)):
            self.save("f.npy", f)
            k = self.save("k.npy", np.where(jumps, 1, 1e6))
            expected = self.solved(self.conductances(k), f)
            for method in ("mg-cg", "cg", "sor", "chebyshev"):
                with self.subTest(method):
                    tolerance = 1e-6
                    report = json.loads(self.succeed(0, "poisson", "f.npy", "--coefficient", "k.npy", "--method", method, "--tolerance", str(tolerance), "-o", "u.npy", "--json"))  # fmt: skip
                    off = np.abs(self.load("u.npy") - expected).max() / np.abs(expected).max()
                    self.assertEqual(report["status"], "converged", report["reason"])
                    self.assertLessEqual(report["estimated_error"], tolerance)
                    self.assertLess(off, 2 * tolerance)
                    self.assertLess(off, 2 * report["estimated_error"] + 1e-8)

    @alike_with_every_mpi
    def test_k_by_face_has_the_solution_of_a_sparse_direct_solver(self):
        random = np.random.default_rng(12)
        for shape in (50,), (37, 30), (11, 9, 12):
            f, h = self.save("f.npy", random.standard_normal(shape)), np.ones(len(shape), dtype=int)
            faces, names = [], [f"k{axis}.npy" for axis in range(len(shape))]
            for axis, name in enumerate(names):
                h[:] = 0
                h[axis] = 1
                faces.append(self.save(name, np.exp(random.normal(0, 2, np.array(shape) + h))))
            conductances = [c.copy() for c in faces]
            for axis, c in enumerate(conductances):  # sides are half as far away
                for side in (0, -1):
                    np.moveaxis(c, axis, 0)[side] *= 2
            expected = self.solved(conductances, f)
            for ranks, method in (3, "auto"), (0, "cg"), (0, "sor"):
                with self.subTest(shape=shape, method=method):
                    self.succeed(ranks, "poisson", "f.npy", "--coefficient", ",".join(names), "--tolerance", "1e-10", "--method", method, "-o", "u.npy", "--quiet")
                    np.testing.assert_allclose(self.load("u.npy"), expected, atol=1e-8 * np.abs(expected).max())

    @alike_with_every_mpi
    def test_random_problems_have_the_solution_of_a_sparse_direct_solver(self):
        random = np.random.default_rng(11)
        for n in range(6):
            dimensions = n % 3 + 1
            shape = tuple(int(e) for e in random.integers(1, (200, 40, 12)[dimensions - 1], dimensions))
            contrast = 10 ** random.uniform(0, 3)
            f = self.save("f.npy", random.standard_normal(shape))
            k = self.save("k.npy", contrast ** random.random(shape))
            with self.subTest(shape=shape, contrast=contrast):
                expected = self.solved(self.conductances(k), f)
                self.succeed(3 if n % 4 == 0 else 0, "poisson", "f.npy", "--coefficient", "k.npy", "--tolerance", "1e-12", "-o", "u.npy", "--quiet")
                np.testing.assert_allclose(self.load("u.npy"), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
