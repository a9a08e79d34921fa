"""`./dev SUBCOMMAND --help` tells about that subcommand, and does nothing."""

import subprocess
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
