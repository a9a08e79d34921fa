"""component_test.py FOLDER MPIEXEC PROGRAM [FORTRAN_PROGRAM]: unmodified programs under the component of Open MPI that
is in a folder."""

import os
import re
import subprocess
import sys
import unittest

SERVED = re.compile(r"^  (\w+) (\w+) +(\d+) calls? +[\d.]+ MB$", re.MULTILINE)


class Component(unittest.TestCase):
    folder = mpiexec = ""
    programs: list[str] = []

    def run_program(self, ranks: int, program: str, *arguments: str, **environment: str) -> tuple[str, str]:
        done = subprocess.run(
            [self.mpiexec, str(ranks), program, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def run_with_component(self, ranks: int, program: str, *arguments: str, **environment: str) -> tuple[str, str]:
        path = f"SYSTEM_DEFAULT:{self.folder}:USER_DEFAULT"
        return self.run_program(
            ranks, program, *arguments, OMPI_MCA_mca_base_component_path=path, PLAIT_LOG="summary", **environment
        )

    def test_every_reduction_is_right_and_was_served(self):
        for ranks, isa in ((2, ""), (3, "avx2" if os.uname().machine == "x86_64" else "neon")):
            with self.subTest(ranks=ranks, isa=isa):
                output, log = self.run_with_component(ranks, self.programs[0], PLAIT_ISA=isa)
                self.assertRegex(output, r"^checked \d{4}, 0 wrong\n$")
                served = {(operation, element) for operation, element, _ in SERVED.findall(log)}
                integers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
                pairs = [f"{value}_int" for value in ("float", "double", "long", "short", "int", "long_double")]
                expected = {
                    *((o, e) for o in ("max", "min", "sum", "prod", "band", "bor", "bxor") for e in integers),
                    *((o, e) for o in ("land", "lor", "lxor") for e in [*integers, "boolean", "logical"]),
                    *((o, e) for o in ("max", "min", "sum", "prod") for e in ("float32", "float64", "long_double")),
                    *((o, e) for o in ("sum", "prod") for e in ("complex64", "complex128")),
                    *((o, e) for o in ("maxloc", "minloc") for e in [*pairs, "float_float", "double_double"]),
                }
                self.assertEqual(served, expected)
                if isa:
                    self.assertNotIn("avx512", log)

    def test_fortran_programs_are_served(self):
        for program in self.programs[1:]:
            output, log = self.run_with_component(2, program)
            self.assertRegex(output, r"^ ?checked 12, 0 wrong\n$")
            served = {(operation, element) for operation, element, _ in SERVED.findall(log)}
            self.assertLessEqual({("sum", "int32"), ("sum", "float64"), ("land", "logical")}, served)

    def test_what_is_not_defined_is_refused_as_without_it(self):
        expected, _ = self.run_program(2, self.programs[0], "errors")
        output, _ = self.run_with_component(2, self.programs[0], "errors")
        self.assertEqual(output, expected)

    def test_a_wrong_setting_is_told_once_and_stops_nothing(self):
        _, log = self.run_with_component(2, self.programs[0], "errors", PLAIT_ISA="abacus")
        self.assertEqual(log.count("plait: warning: environment variable PLAIT_ISA: instruction set \"abacus\""), 1, log)

    def test_sums_that_it_can_not_make_reproducible_are_told_once(self):
        for value, complaint in (
            ("1", "PLAIT_REPRODUCIBLE=1 needs libplait_reduce.so, which is not preloaded: sums are not made"),
            ("yes", "environment variable PLAIT_REPRODUCIBLE is 'yes', expected 0, 1 or nothing"),
        ):
            _, log = self.run_with_component(2, self.programs[0], "errors", PLAIT_REPRODUCIBLE=value)
            self.assertEqual(log.count(f"plait: warning: {complaint}"), 1, log)
            self.assertEqual(log.count("plait: warning"), 1, log)

    def test_nothing_is_said_unless_it_is_asked_for(self):
        _, log = self.run_program(
            2, self.programs[0], "errors", OMPI_MCA_mca_base_component_path=f"SYSTEM_DEFAULT:{self.folder}"
        )
        self.assertEqual(log, "")


if __name__ == "__main__":
    Component.folder, Component.mpiexec, *Component.programs = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
