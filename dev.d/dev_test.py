"""What ./dev says: `./dev SUBCOMMAND --help` tells about that subcommand and does nothing, and what takes long tells how far
it is."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

DEV = Path(__file__).resolve().parent.parent / "dev"


def help_of(*words: str) -> str:
    return subprocess.run([DEV, *words, "--help"], capture_output=True, text=True, check=True).stdout


class Help(unittest.TestCase):
    def test_every_subcommand_answers_with_its_own_part(self):
        for subcommand in ("setup", "build", "test", "demo", "bench", "lint"):
            with self.subTest(subcommand):
                starts = {line.split()[1] for line in help_of(subcommand).splitlines() if line.startswith("./dev")}
                self.assertEqual(starts, {subcommand})

    def test_shared_options_are_told_where_they_count(self):
        self.assertIn("--preset", help_of("build"))
        self.assertNotIn("--preset", help_of("setup"))
        self.assertIn("--document", help_of("bench"))

    def test_options_may_stand_before_it(self):
        for subcommand in ("build", "test", "bench", "lint"):
            with self.subTest(subcommand):
                self.assertEqual(help_of(subcommand, "--mpi", "mpich"), help_of(subcommand))


class Benchmarks(unittest.TestCase):
    """What needs no program is answered before any is built."""

    def test_they_are_listed(self):
        listed = subprocess.run([DEV, "bench"], capture_output=True, text=True, check=True)
        self.assertIn("redistribute", listed.stdout.splitlines())
        self.assertNotIn("building", listed.stdout)

    def test_all_that_documents_name_are_there(self):
        documents = [DEV.parent / "README.md", *(DEV.parent / "docs").rglob("*.md")]
        named = {name for path in documents for name in re.findall(r"\./dev bench ([a-z][a-z-]*)", path.read_text())}
        listed = subprocess.run([DEV, "bench"], capture_output=True, text=True, check=True).stdout.split()
        self.assertLessEqual({"redistribute", "learn"}, named)
        self.assertLessEqual(named, set(listed))

    def test_an_unknown_one_is_told_at_once(self):
        for more in ([], ["--help"], ["--quick"]):
            with self.subTest(more):
                done = subprocess.run([DEV, "bench", "nonsense", *more], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, "there is no benchmark 'nonsense', but: .*redistribute")


class Tests(unittest.TestCase):
    @unittest.skipUnless((DEV.parent / "build/openmpi/build.ninja").exists(), "nothing is configured here")
    def test_an_unknown_one_is_told_before_anything_is_built(self):
        words = [DEV, "test", "--mpi", "openmpi", "no_such_test"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "no test matches 'no_such_test'; ctest .* lists them")


class Progress(unittest.TestCase):
    def logged(self, folder: str, script: str) -> subprocess.CompletedProcess:
        """Of a shell script under `logged`, whose output goes to the file "out"."""
        words = f"source {DEV.parent}/dev.d/build.sh; progress_seconds=1; logged building {folder}/log sh -c '{script}'"
        with open(f"{folder}/out", "w", encoding="utf-8") as out:
            return subprocess.run(["bash", "-c", words], stdout=out, stderr=subprocess.PIPE, text=True, check=False, cwd=folder)

    def test_steps_are_told_while_it_runs_also_without_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.logged(folder, "echo [3/8] compile; until grep -q 1.of.8 out; do echo [1/8] link; sleep 0.1; done")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(Path(folder, "out").read_text(), r"(?m)^  building: \d+ s, step 1 of 8$")

    def test_looking_for_sources_is_no_step(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "echo [0/2] Re-checking globbed directories...; until grep -q building out; do sleep 0.1; done"
            self.assertEqual(self.logged(folder, script).returncode, 0)
            self.assertRegex(Path(folder, "out").read_text(), r"^  building: \d+ s\n")

    def test_what_failed_is_shown_from_where_it_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.logged(folder, "echo [3/8] compile; echo FAILED: x.o; echo wrong; exit 7")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^FAILED: x.o\nwrong\nfailed, see .*/log: sh -c ")


class Packages(unittest.TestCase):
    """What is missing, on a Debian that has nothing and installs nothing."""

    def missing_for(self, *words: str) -> tuple[set[str], list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            for name, script in (("dpkg-query", "exit 1"), ("apt-get", "exit 1"), ("sudo", "exit 1")):
                Path(folder, name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
                Path(folder, name).chmod(0o755)
            environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
            done = subprocess.run([DEV, *words], capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, 1)
        named = [line for line in (done.stdout + done.stderr).splitlines() if " libhwy-dev " in line]
        return set(named[0].split()), done.stdout.splitlines()

    def test_the_demo_wants_one_mpi_and_no_tests_and_says_that_it_failed(self):
        for words, mpi, other in ((["demo"], "openmpi", "mpich"), (["demo", "--mpi", "mpich"], "mpich", "openmpi")):
            with self.subTest(words):
                missing, lines = self.missing_for(*words)
                self.assertLess({f"lib{mpi}-dev", "libcli11-dev", "g++", "python3-numpy"}, missing)
                self.assertFalse({f"lib{other}-dev", "libgtest-dev", "gfortran", "qemu-user", "libhdf5-openmpi-dev"} & missing)
                self.assertEqual(lines[-1], "demo failed, with status 1: see above")

    def test_the_tests_want_both_mpis_and_their_libraries(self):
        missing, _ = self.missing_for("test")
        self.assertLess({"libopenmpi-dev", "libmpich-dev", "libhdf5-openmpi-dev", "libhdf5-mpich-dev", "libgtest-dev"}, missing)
        self.assertLess({"clang-19", "libomp-19-dev"}, self.missing_for("build", "--preset", "clang")[0])
