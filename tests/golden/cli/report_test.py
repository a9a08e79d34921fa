"""The pages of --report, read as a person would: curves by the ticks of their axes, pictures by their shades."""

import json
import re
import shlex

import numpy as np
from harness import CommandTest, alike_with_every_mpi
from page import Page

OFF = "relative error of sums of {}"


def shades_of(numbers: np.ndarray) -> np.ndarray:
    """Eight shades of each sign, of a factor of ten each or less, so that the least is still drawn."""
    sizes = abs(numbers)
    with np.errstate(divide="ignore"):
        below = np.log10(sizes.max() / sizes)
    step = min(1.0, below[sizes > 0].max() / 8)
    return np.where(sizes > 0, np.sign(numbers) * np.clip(8 - np.floor(np.minimum(below / step, 99)), 0, 8), 0).astype(int)


def grouped(values: np.ndarray, groups: int, axis: int, join) -> np.ndarray:
    values = np.moveaxis(values, axis, 0)
    place = np.arange(len(values)) * groups // len(values)
    return np.moveaxis(np.stack([join(values[place == k], axis=0) for k in range(groups)]), 0, axis)


class Report(CommandTest):
    def page(self, name: str = "R.html") -> Page:
        text = (self.folder / name).read_text()
        page = Page(text)
        self.assertEqual((page.open, page.fetched), ([], []))
        self.assertNotIn("url(", text)
        self.assertLess(len(text), 3_000_000)
        self.assertNotRegex(text, r"\bnan\b")
        self.assertNotRegex(text, r'<td class="words">[-+.\de]+</td>')  # numbers stay whole on narrow screens
        self.assertEqual([cell for row in page.rows for cell in row[1:] if re.search(r"\d[.\d]{16}", cell)], [])  # no noise
        self.assertRegex(text, r'<p class="soft">20\d\d-\d\d-\d\d \d\d:\d\d UTC, plait \d[\d.]*: <code>plait ')
        self.assertEqual(page.texts["title"], page.texts["h1"])
        for svg in page.svgs:
            self.assertTrue(svg.attributes.get("aria-label") or svg.attributes.get("aria-hidden"), svg.attributes)
        for plot in page.plots:
            self.assertTrue(plot.titles, plot.words)
        return page

    def reported(self, ranks: int, *words: str) -> tuple[Page, dict]:
        report = json.loads(self.succeed(ranks, *words, "--report", "R.html", "--json"))
        self.assertEqual(report["report"], "R.html")
        page = self.page()
        self.assertEqual(page.value("error"), f"{report['error']:.2e}")
        self.assertEqual(int(page.value("iterations")), report["iterations"])
        for which in ("rows", "columns"):
            self.assertEqual(page.value(OFF.format(which)), f"{report['check'][which]:.2e}")
        self.assertEqual(page.value("sum of all"), f"{report['check']['mass']:.10g}")
        self.assertIn(report["status"], page.texts["b"])
        self.assertEqual(shlex.split(page.texts["code"][0]), ["plait", *words, "--report", "R.html", "--json"])
        return page, report

    def expect_picture(self, page: Page, words: str, numbers: np.ndarray) -> None:
        plot = page.plot("Elements of " + words)
        differences = np.abs(plot.cells(*numbers.shape) - shades_of(numbers))  # one on the border of two shades
        self.assertLessEqual(differences.max(), 1)
        self.assertLess(np.count_nonzero(differences), 3 + numbers.size // 500)
        np.testing.assert_allclose(plot.numbers, numbers, rtol=0.006, atol=1e-300)

    def test_a_scaling_as_it_converged_and_with_its_timeline(self):
        name = "K <&> \"x\".npy"
        k = self.save(name, np.random.default_rng(1).random((37, 23)) + 0.1)
        random = np.random.default_rng(2)
        r, c = random.random(37) + 0.2, random.random(23) + 0.2
        self.save("r.npy", r / r.sum())
        self.save("c.npy", c / c.sum())
        page, report = self.reported(3, "sinkhorn", name, "--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy", "--method", "algorithm-2", "--exchange", "ring")
        self.assertEqual(page.texts["h1"], ["sinkhorn: " + name])
        self.assertEqual(page.texts["h2"], ["Convergence", "The plan", "Sums of rows and columns", "Results", "Where the time went", "Timeline"])
        convergence = page.plot("Error after each of")
        self.assertEqual(convergence.titles, ["iteration", "error, as a part of the sum of all"])
        self.assertIn("tolerance 1e-9", [text for *_, text in convergence.texts])
        np.testing.assert_allclose(convergence.curve("compute"), report["errors"], rtol=0.03)
        told = convergence.hovered(r"iteration (\d+): error (\S+)")
        np.testing.assert_allclose(told, list(enumerate(report["errors"], 1)), rtol=1e-5)
        (level,) = [d for kind, d, *_ in convergence.paths if kind == "level" and "V" not in d and d.endswith("H622")]
        np.testing.assert_allclose(convergence.read([float(level.split()[1].split("H")[0])]), 1e-9, rtol=0.03)
        for what, wanted in (("row", r / r.sum()), ("column", c / c.sum())):
            plot = page.plot(f"Wanted and reached sums of {len(wanted)} {what}s")
            self.assertEqual(plot.titles, [f"{what}, counted from 0", f"sum of a {what}"])
            for mark in ("wait", "compute"):
                np.testing.assert_allclose(plot.curve(mark), wanted, atol=wanted.max() / 500)
        off = page.plot("Differences of wanted and reached sums of 23 columns").curve("network")
        np.testing.assert_allclose(off, np.abs(self.load("P.npy").sum(0) - c / c.sum()), rtol=0.1, atol=1e-17)
        self.expect_picture(page, "the plan, 37 x 23", self.load("P.npy"))
        self.assertEqual((page.value("method"), page.value("exchange of sums")), ("algorithm-2", "ring"))
        (timeline,) = [svg for svg in page.svgs if svg.attributes.get("class") == "timeline"]
        self.assertEqual(timeline.titles, ["time"])
        self.assertIn("rank 2", [text for *_, text in timeline.texts])
        self.assertIn("The schedules of iterations 2 to", " ".join(page.texts["p"]))
        self.assertEqual(self.files(), {name, "r.npy", "c.npy", "P.npy", "R.html"})
        self.assertEqual(k.shape, tuple(report["shape"]))

    @alike_with_every_mpi
    def test_what_is_larger_than_its_picture(self):
        matrix = np.random.default_rng(3).random((470, 230)) ** 8
        self.save("K.npy", np.asfortranarray(matrix))
        r = np.random.default_rng(4).random(470) + 0.5
        self.save("r.npy", r / r.sum())
        self.save("c.npy", np.full(230, 1 / 230))
        page, _ = self.reported(2, "sinkhorn", "K.npy", "--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy")
        plan = self.load("P.npy")
        self.expect_picture(page, "the plan, 470 x 230", grouped(grouped(plan, 160, 0, np.max), 160, 1, np.max))
        text = " ".join(page.texts["p"])
        self.assertIn("160 x 160 cells for 470 x 230 elements: a cell shows the largest of its own", text)
        self.assertIn("200 groups of neighbours are drawn", text)
        rows = page.plot("Wanted and reached sums of 470 rows")
        np.testing.assert_allclose(rows.curve("compute"), grouped(plan.sum(1), 200, 0, np.mean), rtol=0.02)
        self.assertEqual(len([kind for kind, *_ in rows.paths if kind and kind.startswith("band")]), 2)
        off = page.plot("Differences of wanted and reached sums of 470 rows").curve("network")
        wanted = r / r.sum()
        np.testing.assert_allclose(off, grouped(np.abs(plan.sum(1) - wanted), 200, 0, np.max), rtol=0.1, atol=1e-18)
        self.assertIn("All columns are to have the sum 0.00434783, and have it to within", text)
        self.assertFalse([plot for plot in page.plots if plot.words.startswith("Wanted and reached sums of 230")])
        self.assertIn("no schedule ran", text)

    @alike_with_every_mpi
    def test_a_sparse_matrix(self):
        random = np.random.default_rng(8)
        matrix = np.where(random.random((40, 40)) < 0.4, random.random((40, 40)), 0) + np.diag(random.random(40) + 0.1)
        entries = "".join(f"{i + 1} {j + 1} {float(matrix[i, j])!r}\n" for i, j in zip(*np.nonzero(matrix), strict=True))
        header = f"%%MatrixMarket matrix coordinate real general\n40 40 {np.count_nonzero(matrix)}\n"
        (self.folder / "K.mtx").write_text(header + entries)
        page, report = self.reported(2, "sinkhorn", "K.mtx", "-o", "P.npy")
        self.expect_picture(page, "the plan, 40 x 40", self.load("P.npy"))
        np.testing.assert_allclose(page.plot("Error after").curve("compute"), report["errors"], rtol=0.05)

    @alike_with_every_mpi
    def test_transport_with_its_stages_and_gap(self):
        x, y = np.linspace(0, 1, 30), np.linspace(0, 1, 21)
        self.save("C.npy", np.subtract.outer(x, y) ** 2)
        page, report = self.reported(2, "transport", "C.npy", "--epsilon", "0.004", "-o", "P.npy")
        for key, what, digits in (("duality_gap", "duality gap", ".2e"), ("dual", "dual value", ".10g"), ("cost", "cost", ".10g")):
            self.assertEqual(page.value(what), f"{report[key]:{digits}}")
        stages = [row for row in page.rows if len(row) == 3][1:]
        self.assertGreater(len(stages), 1)
        for row, stage in zip(stages, report["stages"], strict=True):
            self.assertAlmostEqual(float(row[0]), stage["epsilon"])
            self.assertEqual((int(row[1]), row[2]), (stage["iterations"], stage["method"]))
        plot = page.plot("Error after each of")
        self.assertEqual(len([1 for kind, d, *_ in plot.paths if kind == "level" and "V" in d and d.count("M") == 1 and "H" not in d]), len(stages))
        errors = plot.curve("compute")
        self.assertEqual(len(errors), report["iterations"])
        np.testing.assert_allclose(errors[-len(report["errors"]):], report["errors"], rtol=0.05)
        self.expect_picture(page, "the plan, 30 x 21", self.load("P.npy"))

    @alike_with_every_mpi
    def test_points_whose_plan_is_not_stored(self):
        random = np.random.default_rng(5)
        x, y = self.save("X.npy", random.random((31, 2))), self.save("Y.npy", random.random((17, 2)))
        page, report = self.reported(3, "transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--row-potentials", "f.npy", "--column-potentials", "g.npy")
        cost = ((x[:, None] - y[None]) ** 2).sum(2)
        plan = np.exp((self.load("f.npy") + self.load("g.npy") - cost) / 0.1)
        self.expect_picture(page, "the plan, 31 x 17", plan)
        self.assertIn("All columns are to have the sum 0.0588235, and have it to within", " ".join(page.texts["p"]))
        self.assertEqual(page.texts["h1"], ["transport: X.npy and Y.npy"])
        self.assertAlmostEqual(float(page.texts["b"][0]), report["cost"], delta=1e-5 * report["cost"])
        self.expect_points(page, plan)
        # What may be missed is not what is wanted, but what the potentials ask for.
        page, report = self.reported(0, "transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--unbalanced", "0.5", "-o", "P.npy")
        self.assertEqual(page.value("KL(sums of rows | masses)"), f"{report['marginal_kl']['rows']:.10g}")
        plan = self.load("P.npy")
        for mark in ("wait", "compute"):
            np.testing.assert_allclose(page.plot("Optimal and reached sums of 31").curve(mark), plan.sum(1), rtol=0.02)
        self.assertEqual([plot for plot in page.plots if "anted" in plot.words], [])
        page, _ = self.reported(0, "transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.1", "--unbalanced", "0.5,inf", "-o", "P.npy")
        self.assertTrue(page.plot("Optimal and reached sums of 31 rows"))
        self.assertTrue(page.plot("Differences of wanted and reached sums of 17 columns"))

    def expect_points(self, page: Page, plan: np.ndarray) -> None:
        """Every point is there with its mass, and of each point of X the strongest links."""
        plot = page.plot(f"{plan.shape[0]} and {plan.shape[1]} points")
        for name, sums in (("X", plan.sum(1)), ("Y", plan.sum(0))):
            told = plot.hovered(rf"{name} (\d+): mass (\S+)")
            np.testing.assert_allclose(told, list(enumerate(sums)), rtol=1e-3)
        links = {(i, j): mass for i, j, mass in plot.hovered(r"X (\d+) → Y (\d+): (\S+)")}
        count = min(20, plan.shape[1], max(1, 1000 // plan.shape[0]))
        self.assertEqual(len(links), count * len(plan))
        for i, row in enumerate(plan):
            own = [mass for (x, _), mass in links.items() if x == i]
            np.testing.assert_allclose(sorted(own), np.sort(row)[-count:], rtol=1e-3)
        for (i, j), mass in links.items():
            np.testing.assert_allclose(mass, plan[int(i), int(j)], rtol=1e-3)

    @alike_with_every_mpi
    def test_points_of_one_and_of_many_coordinates(self):
        random = np.random.default_rng(7)
        axes = np.linalg.qr(random.random((6, 6)))[0]
        for coordinates in (1, 6):
            # Most of what the points differ by lies along two axes, which are none of the coordinates.
            scales = np.array([5, 3, 0.1, 0.1, 0.1, 0.1])[:coordinates]
            x, y = (random.normal(size=(n, coordinates)) * scales @ axes[:coordinates, :coordinates] for n in (60, 25))
            self.save("X.npy", x), self.save("Y.npy", y)
            page, _ = self.reported(3, "transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.5", "-o", "P.npy")
            self.expect_points(page, self.load("P.npy"))
            text = " ".join(page.texts["p"])
            plot = page.plot("60 and 25 points")
            if coordinates == 1:
                self.assertEqual(plot.titles, ["coordinate 0", "Y below, X above"])
                continue
            self.assertEqual(plot.titles, ["first principal axis", "second principal axis"])
            values = np.linalg.svd(np.concatenate([x, y]) - np.concatenate([x, y]).mean(0), compute_uv=False) ** 2
            share = 100 * values[:2].sum() / values.sum()
            self.assertIn(f"Of 6 coordinates the two principal axes are shown, which have {share:.3g} % of the variance", text)

    @alike_with_every_mpi
    def test_balancing_and_barycentres(self):
        counts = np.random.default_rng(6).poisson(30, (29, 29)).astype("f8")
        counts = counts + counts.T
        counts[4] = counts[:, 4] = 0
        self.save("A.npy", counts)
        page, _ = self.reported(2, "balance", "A.npy", "-o", "x.npy", "--matrix", "B.npy", "--sum", "3")
        self.expect_picture(page, "the balanced matrix, 29 x 29", self.load("B.npy"))
        np.testing.assert_allclose(page.plot("Wanted and reached").curve("compute"), 3.0 * (np.arange(29) != 4), atol=0.02)
        self.assertEqual(page.value("masked rows"), "1")
        self.save("C.npy", np.subtract.outer(np.linspace(0, 1, 19), np.linspace(0, 1, 12)) ** 2)
        self.save("H.npy", np.random.default_rng(2).dirichlet(np.ones(12), 2).T)
        page, report = self.reported(2, "barycentre", "C.npy", "--histograms", "H.npy", "--epsilon", "0.05", "-o", "a.npy")
        masses = self.load("a.npy")[:, 0]
        np.testing.assert_allclose(page.plot("The masses of 19 rows").curve("compute"), masses, atol=masses.max() / 300)
        self.assertEqual([page.value(f"cost to histogram {k}") for k in (0, 1)], [f"{cost:.10g}" for cost in report["costs"]])

    @alike_with_every_mpi
    def test_images_are_drawn_as_images(self):
        for shape, ranks in (((6, 4), 2), ((9,), 0), ((3, 5, 4), 2)):
            with self.subTest(shape):
                random = np.random.default_rng(7)
                images = [self.save(f"{k}.npy", random.random(shape) + 0.1) for k in range(2)]
                middle = (slice(None),) if len(shape) < 3 else (shape[0] // 2,)
                is_curve = len(shape) == 1
                where = f" in slice {shape[0] // 2} of axis 0" if len(shape) == 3 else ""

                def expect(page, what, numbers, middle=middle, is_curve=is_curve, where=where):
                    self.assertIn(what + where, page.texts["h2"])
                    if is_curve:
                        drawn = page.plot(f"{what} at {numbers.size} points").curve("compute")
                        return np.testing.assert_allclose(drawn, numbers, atol=np.abs(numbers).max() / 100)
                    drawn = page.plot(f"Elements of {what}").numbers
                    return np.testing.assert_allclose(drawn, numbers[middle], rtol=0.006, atol=1e-12)

                page, _ = self.reported(ranks, "barycentre", "--images", "0.npy", "1.npy", "--epsilon", "2", "-o", "m.npy")
                expect(page, "The barycentre", self.load("m.npy"))
                for k, image in enumerate(images):
                    expect(page, f"{k}.npy", image / image.sum())
                page, _ = self.reported(ranks, "transport", "--images", "0.npy", "1.npy", "--epsilon", "2", "--map", "M.npy")
                for k, image in enumerate(images):
                    expect(page, f"{k}.npy", image / image.sum())
                ways = self.load("M.npy").reshape(*shape, len(shape)) - np.moveaxis(np.indices(shape), 0, -1)
                for axis in range(len(shape)):
                    expect(page, f"How far mass goes along axis {axis}", ways[..., axis])

    @alike_with_every_mpi
    def test_little_to_draw(self):
        for name, matrix in (("one", np.full((3, 3), 2.0)), ("empty", np.zeros((0, 0))), ("element", np.ones((1, 1)))):
            with self.subTest(name):
                self.save(f"{name}.npy", matrix)
                page, report = self.reported(0, "sinkhorn", f"{name}.npy", "-o", "P.npy")
                self.assertEqual((report["iterations"], report["error"]), (1, 0))
                self.assertIn("Errors of 0 lie on the lower edge", " ".join(page.texts["p"]))
                if matrix.size:
                    self.assertIn("All columns have exactly the wanted sums.", page.texts["p"])
                    shape = matrix.shape
                    cells = page.plot("Elements of the plan").cells(*shape)
                    np.testing.assert_array_equal(cells, np.full(shape, 8))
                else:
                    self.assertIn("There are no rows.", page.texts["p"])

    @alike_with_every_mpi
    def test_purification(self):
        h = np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)
        self.save("H.npy", h)
        report = json.loads(self.succeed(2, "purify", "H.npy", "--electrons", "12", "-o", "D.npy", "--report", "R.html", "--json"))
        page = self.page()
        plot = page.plot("Errors by iteration")
        self.assertEqual(plot.titles, ["iteration", "error, without a unit"])
        errors = [step["idempotency_error"] for step in report["iterates"]]
        np.testing.assert_allclose(plot.curve("compute"), errors, rtol=0.2)
        density = self.load("D.npy")
        self.assertLess(density.min(), -0.1)
        self.expect_picture(page, "the density matrix, 12 x 12", density)
        self.assertIn("The schedules of all iterations.", page.texts["p"])
        # Complex elements have no sign.
        self.save("H.npy", 1j * np.diag(np.ones(11), 1) - 1j * np.diag(np.ones(11), -1))
        self.succeed(2, "purify", "H.npy", "--electrons", "12", "-o", "D.npy", "--report", "R.html", "--quiet")
        self.expect_picture(self.page(), "the density matrix, by their size, 12 x 12", abs(self.load("D.npy")))

    @alike_with_every_mpi
    def test_every_summary_names_the_page(self):
        random = np.random.default_rng(9)
        self.save("X.npy", random.random((20, 2)))
        self.save("y.npy", (np.arange(20) % 2).astype("f8"))
        self.save("A.npy", np.ones((4, 4)) + np.eye(4))
        (self.folder / "g.graph").write_text("4 3\n2\n1 3\n2 4\n3\n")
        for words in (
            ("balance", "A.npy", "-o", "o.npy"),
            ("fit", "X.npy", "--labels", "y.npy", "--model", "logistic", "-o", "o.npy"),
            ("kmeans", "X.npy", "-k", "2", "-o", "o.npy"),
            ("order", "g.graph", "-o", "o.npy"),
            ("partition", "g.graph", "-k", "2", "-o", "o.npy"),
            ("poisson", "A.npy", "-o", "o.npy"),
            ("purify", "A.npy", "--electrons", "6", "-o", "o.npy"),
            ("train", "X.npy", "--labels", "y.npy", "--net", "dense 2 softmax", "-o", "o.h5"),
        ):
            with self.subTest(words):
                self.assertRegex(self.succeed(0, *words, "--report", "R.html"), r"\n +report +R\.html\n$")
                self.page()

    @alike_with_every_mpi
    def test_a_page_replaces_nothing_else(self):
        self.save("K.npy", np.full((3, 3), 2.0))
        self.save("none.npy", np.diag([1.0, 0, 0]))
        self.save("r.npy", np.ones(3))
        (self.folder / "r.npy").rename(self.folder / "r.html")
        (self.folder / "folder.html").mkdir()
        before = {name: (self.folder / name).stat().st_mtime_ns for name in self.files()}
        for words, status, message in [
            (("--rows", "r.html", "--report", "./r.html"), 2, "expected different files"),
            (("--checkpoint", "s.html", "--report", "s.html"), 2, "expected different files"),
            (("--report", "folder.html"), 1, "folder.html: is a directory"),
            (("--report", "none/R.html"), 1, "none/R.html: can't be written into the folder none"),
            (("--report", "R.pdf"), 2, "R.pdf is not the name of an HTML file"),
        ]:
            with self.subTest(words):
                result = self.run_plait(0, "sinkhorn", "K.npy", "-o", "P.npy", *words)
                self.assertEqual(result.status, status, result.stderr)
                self.assertIn(message, result.stderr)
                self.assertEqual({name: (self.folder / name).stat().st_mtime_ns for name in self.files()}, before)
        # Where nothing is written, the page isn't either.
        (self.folder / "R.html").write_text("as it was")
        self.assertEqual(self.run_plait(2, "sinkhorn", "none.npy", "-o", "P.npy", "--report", "R.html").status, 1)
        self.assertEqual((self.folder / "R.html").read_text(), "as it was")
