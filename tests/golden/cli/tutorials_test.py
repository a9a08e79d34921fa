"""The commands of the tutorials do what their text says: each page's are run in order, in one folder."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
from harness import CommandTest

DOCS = Path(__file__).resolve().parents[3] / "docs"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Tutorials(CommandTest):
    def run_page(self, name: str) -> list[str]:
        """Runs what stands behind `$ ` on the page; what each command printed."""
        page = (DOCS / "tutorials" / f"{name}.md").read_text()
        commands = [line[2:] for block in CONSOLE.findall(page) for line in block.splitlines() if line.startswith("$ ")]
        self.assertTrue(commands)
        printed = []
        for command in commands:
            words = shlex.split(command)
            ranks = 0
            if words[:2] == ["mpirun", "-n"]:
                ranks, words = int(words[2]), words[3:]
            self.assertEqual(words[0], "plait", command)
            printed.append(self.succeed(ranks, *words[1:]))
        return printed

    def test_electronic_structure(self):
        self.run_page("electronic-structure")
        h, d = self.load("H.npy"), self.load("D.npy")
        self.assertAlmostEqual(2 * np.trace(d @ h), -93.1616037944, places=8)
        np.testing.assert_allclose(2 * np.diag(d), 1, atol=1e-12)
        self.assertIn("<html", (self.folder / "D.html").read_text())

    def test_scalapack(self):
        self.run_page("scalapack")
        np.testing.assert_array_equal(self.load("A.npy"), self.load("B.npy").T)
        self.assertTrue((self.folder / "volume.svg").exists())

    def test_mpi_program(self):
        info, *_, timeline = self.run_page("mpi-program")
        self.assertIn("MPI", info)
        self.assertIn("rank", timeline)
        x = self.load("X.npy")
        np.testing.assert_allclose(self.load("Y.npy"), x @ x, rtol=1e-12)

    def test_optimal_transport(self):
        self.run_page("optimal-transport")
        self.assertEqual(self.load("moved.npy").shape, (500, 2))
        plan = self.load("P.npy")
        np.testing.assert_allclose(plan.sum(axis=0), 1, atol=1e-8)
        np.testing.assert_allclose(plan.sum(axis=1), 1, atol=1e-8)

    def test_porous_media(self):
        page = (DOCS / "tutorials" / "porous-media.md").read_text()
        block = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
        self.run_words([sys.executable, "-c", block])
        k = self.load("k.npy")
        text, report = self.run_page("porous-media")
        self.assertRegex(text, "converged")
        self.assertTrue((self.folder / "u.vti").exists())
        permeability = json.loads(report)["inflow"][0][0] / 128 * 96
        self.assertTrue(1 / np.mean(1 / k) < permeability < np.mean(k))
        self.assertLess(abs(np.log(permeability) - np.mean(np.log(k))), 1)

    def test_teaching(self):
        self.run_page("teaching")
        self.assertTrue((self.folder / "machine.json").exists())
        x = self.load("X.npy")
        np.testing.assert_allclose(self.load("Y.npy"), x @ x, rtol=1e-12)

    def test_every_page_is_tried(self):
        pages = {path.stem.replace("-", "_") for path in (DOCS / "tutorials").glob("*.md")}
        self.assertLessEqual(pages, {name.removeprefix("test_") for name in dir(self)})

    def test_links_lead_somewhere(self):
        for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
                with self.subTest(f"{page.name} {target}"):
                    self.assertTrue((page.parent / target).exists())
