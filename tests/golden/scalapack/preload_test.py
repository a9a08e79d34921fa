"""preload_test.py PROGRAM LINKED LIBRARY PRODUCT MPIEXEC: a program gives the same results with plait's library.

PROGRAM knows nothing of it, so it is preloaded; LINKED is the same program linked with it. PRODUCT multiplies matrices.
"""

import os
import subprocess
import sys
import unittest


class Preload(unittest.TestCase):
    program = linked = library = product = mpiexec = ""

    def run_program(self, program: str = "", **environment: str) -> tuple[list[str], str]:
        done = subprocess.run(
            [self.mpiexec, "4", program or self.program, "150", "2"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line for line in done.stdout.splitlines() if not line.startswith("time")], done.stderr

    def test_results_are_equal_and_every_call_was_served(self):
        expected, _ = self.run_program()
        self.assertEqual(len(expected), 2, expected)
        for program, preload in {self.program: self.library, self.linked: ""}.items():
            with self.subTest(program):
                results, log = self.run_program(program, LD_PRELOAD=preload, PLAIT_LOG="summary")
                self.assertEqual(results, expected)
                summary = [line.split()[:2] for line in log[log.index("plait served") :].splitlines()[1:]]
                self.assertEqual(summary, [["pdgeadd", "3"], ["pdgemr2d", "6"], ["pdtran", "3"]])

    def summary_of_product(self, **environment: str) -> tuple[list[str], str]:
        """The results, and what was said."""
        return self.run_program(self.product, LD_PRELOAD=self.library, PLAIT_LOG="summary", **environment)

    def test_products_from_a_size_on_are_served(self):
        expected, _ = self.run_program(self.product)
        self.assertEqual(len(expected), 2, expected)
        results, log = self.summary_of_product(PLAIT_GEMM_FROM="150")
        self.assertEqual(results, expected)
        self.assertRegex(log, r"  pdgemm +3 calls +1\.620 MB  .* s\n$")
        results, log = self.summary_of_product(PLAIT_GEMM_FROM="256")
        self.assertEqual(results, expected)
        self.assertIn("  none\n  pdgemm", log)
        self.assertIn("3 calls  passed on to ScaLAPACK: less work than with matrices of order 256\n", log)

    def test_a_size_that_is_none_is_told_to_be_wrong(self):
        _, log = self.summary_of_product(PLAIT_GEMM_FROM="all")
        self.assertEqual(log.count("PLAIT_GEMM_FROM is 'all', expected the order of a matrix, from 0 on"), 1, log)

    def test_another_setting_is_told_to_be_wrong(self):
        _, log = self.run_program(LD_PRELOAD=self.library, PLAIT_LOG="bogus")
        self.assertEqual(log.count("PLAIT_LOG is 'bogus', expected 'summary'"), 1, log)

    def test_an_instruction_set_that_is_none_is_told_once_and_all_is_served(self):
        results, log = self.run_program(LD_PRELOAD=self.library, PLAIT_LOG="summary", PLAIT_ISA="mmx")
        self.assertEqual(results, self.run_program()[0])
        self.assertEqual(log.count('plait: warning: environment variable PLAIT_ISA: instruction set "mmx"'), 1, log)
        self.assertRegex(log, r"; \w+ is used\n")
        self.assertNotIn("passed on", log)

    def test_programs_of_the_other_mpi_are_ended_with_a_line(self):
        """Any program does that has that MPI loaded; with the library's own one it goes on."""
        told = {}
        for mpi in ("libmpi.so.40", "libmpich.so.12"):
            done = subprocess.run(
                ["/bin/true"],
                env={**os.environ, "LD_PRELOAD": f"{self.library} {mpi}"},
                capture_output=True,
                text=True,
                check=False,
            )
            if "cannot be preloaded" in done.stderr:
                self.skipTest(f"there is no {mpi}")
            told[mpi] = (done.returncode, done.stderr)
        self.assertIn((0, ""), told.values())
        self.assertRegex(
            "".join(text for status, text in told.values() if status == 1),
            r"^plait: this libplait_scalapack.so is for (.*), the program is of (.*): expected the one for \2\n$",
        )

    def test_nothing_is_said_unless_it_is_asked_for(self):
        _, log = self.run_program(LD_PRELOAD=self.library)
        self.assertNotIn("plait", log)


if __name__ == "__main__":
    Preload.program, Preload.linked, Preload.library, Preload.product, Preload.mpiexec = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
