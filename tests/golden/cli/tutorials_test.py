"""The commands of the tutorials do what their text says: each page's are run in order, in one folder."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
from harness import PROGRESS, CommandTest, alike_with_every_mpi

DOCS = Path(__file__).resolve().parents[3] / "docs"
BLOCK = re.compile(r"^```(console|sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Tutorials(CommandTest):
    def run_page(self, name: str) -> list[str]:
        """Runs the page's Python, what stands behind `$ `, which has to succeed without a complaint, and what stands in
        blocks of the shell, but for ./dev, whose commands tests of their own run; what each block and command printed.
        The reader's MPI program is `plait info`."""
        path = self.folder / "path"
        path.mkdir()
        (path / "plait").symlink_to(self.plait)
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\nexec {shlex.quote(self.plait)} info\n")
        program.chmod(0o755)
        (self.folder / "examples").symlink_to(DOCS.parent / "examples")
        printed = []
        for language, block in BLOCK.findall((DOCS / "tutorials" / f"{name}.md").read_text()):
            if language == "python":
                printed.append(self.completed([sys.executable, "-c", block], {"PATH": f"{path}:{os.environ['PATH']}"}))
            for line in block.splitlines():
                if language == "console" and line.startswith("$ "):
                    result = self.run_words(self.launched(line[2:]))
                    self.assertEqual((result.status, PROGRESS.sub("", result.stderr)), (0, ""), line)
                    printed.append(result.stdout)
                elif language == "sh" and not line.startswith("./dev "):
                    printed.append(self.completed(self.launched(line)))
        self.assertTrue(printed)
        return printed

    def launched(self, command: str) -> list[str]:
        """A command line with the launcher of the tests, and the command that is tested."""
        command = re.sub(r"\bmpirun -n ", lambda _: f"{shlex.quote(self.mpiexec)} ", command)
        return [self.plait if word == "plait" else word for word in shlex.split(command, comments=True)]

    def completed(self, words: list[str], environment: dict[str, str] | None = None) -> str:
        result = self.run_words(words, environment)
        self.assertEqual(result.status, 0, f"{words}\n{result.stderr}")
        return result.stdout

    def test_electronic_structure(self):
        *_, in_python, _, loop = self.run_page("electronic-structure")
        np.testing.assert_allclose(np.array(re.findall(r"-?\d+\.\d*", in_python), float), [-93.1616037944, *60 * [1]])
        h, d = self.load("H.npy"), self.load("D.npy")
        self.assertAlmostEqual(2 * np.trace(d @ h), -93.1616037944, places=8)
        np.testing.assert_allclose(2 * np.diag(d), 1, atol=1e-12)
        self.assertIn("<html", (self.folder / "D.html").read_text())
        sites = np.array(re.findall(r"\d+\.\d+", loop), float)
        np.testing.assert_allclose(sites, self.self_consistent(h, sites.size), atol=1e-5)

    @staticmethod
    def self_consistent(h: np.ndarray, count: int) -> np.ndarray:
        """Electrons on the first sites of the page's field, by eigenstates."""
        h[range(5), range(5)] -= 0.5
        electrons = np.ones(60)
        for _ in range(60):
            states = np.linalg.eigh(h + np.diag((electrons - 1) / 2))[1][:, :30]
            electrons = (electrons + 2 * (states**2).sum(axis=1)) / 2
        return electrons[:count]

    def test_scalapack(self):
        self.run_page("scalapack")
        np.testing.assert_array_equal(self.load("A.npy"), self.load("B.npy").T)
        self.assertTrue((self.folder / "volume.svg").exists())

    def test_mpi_program(self):
        in_its_place, _, _, info, *_, timeline = self.run_page("mpi-program")
        self.assertRegex(in_its_place, r"libplait_reduce.so.*, in use")
        self.assertRegex(info, r"libplait_reduce.so.*, not in use")
        self.assertIn("rank", timeline)
        x = self.load("X.npy")
        np.testing.assert_allclose(self.load("Y.npy"), x @ x, rtol=1e-12)

    def test_optimal_transport(self):
        self.save("C.npy", np.random.default_rng(1).random((30, 20)))
        self.save("a.npy", np.full(30, 1 / 30))
        self.save("b.npy", np.full(20, 1 / 20))
        self.run_page("optimal-transport")
        self.assertEqual(self.load("moved.npy").shape, (500, 2))
        plan = self.load("P.npy")
        np.testing.assert_allclose(plan.sum(axis=0), 1, atol=1e-8)
        np.testing.assert_allclose(plan.sum(axis=1), 1, atol=1e-8)

    def test_porous_media(self):
        _, text, report = self.run_page("porous-media")
        k = self.load("k.npy")
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

    @alike_with_every_mpi
    def test_every_page_is_tried(self):
        pages = {path.stem.replace("-", "_") for path in (DOCS / "tutorials").glob("*.md")}
        self.assertLessEqual(pages, {name.removeprefix("test_") for name in dir(self)})

    @alike_with_every_mpi
    def test_links_lead_somewhere(self):
        for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
                with self.subTest(f"{page.name} {target}"):
                    self.assertTrue((page.parent / target).exists())
