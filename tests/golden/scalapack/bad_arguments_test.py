"""bad_arguments_test.py PROGRAM MPIEXEC: wrong arguments end a program with ScaLAPACK's own words."""

import os
import re
import subprocess
import sys
import unittest

CASES = [
    "tran:leading-dimension",  # of one process only
    "tran:outside",
    "tran:no-context-of-one",
    "tran:no-second-context-of-one",
    "geadd:no-context",
    "geadd:trans",
    "tradd:uplo",
    "tradd:uplo-of-one",
    "geadd:type",
    "gemm:trans",
    "gemm:ja",
    "gemm:block",
    "gemm:type-of-one",
    "gemm:negative-of-one",
    "gemr2d:leading-dimension",  # likewise
    "gemr2d:first-row",
    "gemr2d:first-column-of-one",
    "gemr2d:outside",
    "gemr2d:outside-of-one",
    "trmr2d:outside-of-one",
]


class BadArguments(unittest.TestCase):
    program = mpiexec = ""

    def complaints(self, case: str, whose: str) -> tuple[bool, set[str]]:
        """Whether the program ended well, and what was said; processes are killed at any time, so they may say less.

        Launchers do not end every job that a rank has aborted, and ScaLAPACK's own way to end one may hang."""
        words = [self.mpiexec, "2", self.program, case, whose]
        environment = {**os.environ, "PLAIT_TEST_LIMIT_SECONDS": "30"}
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
        text = done.stdout + done.stderr
        ranks_left = re.findall(rf"^job:   \d+, [^:]*: {re.escape(self.program)} ", done.stderr, re.MULTILINE)
        if whose != "real":
            self.assertLess(len(ranks_left), 2, f"nobody ended the job\n{text}")
        return done.returncode == 0, set(re.findall(r"PBLAS ERROR '[^'\n]*|\?\?MR2D:.*|error #-\d+", text))

    def complaints_of(self, case: str, whose: str, enough) -> tuple[bool, set[str]]:
        """Of several runs together: a process that is killed may leave its words unsaid, all of them even."""
        ended_well, said = self.complaints(case, whose)
        for _ in range(7):
            if enough(said):
                break
            once_more, more = self.complaints(case, whose)
            ended_well, said = ended_well or once_more, said | more
        return ended_well, said

    def test_they_are_told_as_scalapack_tells_them(self):
        for case in CASES:
            with self.subTest(case):
                expected = self.complaints_of(case, "real", lambda said: said)
                self.assertTrue(expected[1])
                ended_well, said = self.complaints_of(case, "plait", lambda said: said >= expected[1])
                if said != expected[1]:  # the first one may have said less
                    expected = self.complaints_of(case, "real", lambda whole: whole >= said)
                self.assertEqual((ended_well, said), expected)


if __name__ == "__main__":
    BadArguments.program, BadArguments.mpiexec = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
