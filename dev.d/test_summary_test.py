"""What test_summary.py makes of the files that test runs leave."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import test_summary

GTEST = """<testsuites><testsuite name="S">
  <testcase name="a" classname="S" status="run" result="completed"/>
  <testcase name="b" classname="S" status="run" result="completed"><failure message="x"/></testcase>
  <testcase name="c" classname="S" status="run" result="skipped"><skipped message="f.cpp:3&#x0A;no such vectors"/></testcase>
</testsuite></testsuites>"""


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        (self.build / "tests/results").mkdir(parents=True)
        (self.build / "CMakeCache.txt").write_text("PLAIT_MPI:STRING=mpich\n")

    def ran(self, *programs: str, allowed: tuple[str, ...] = (), log: str = "") -> test_summary.Outcome:
        (self.build / "test.log").write_text(log)
        (self.build / "tests/results/ctest.junit").write_text(f"<testsuite>{''.join(programs)}</testsuite>")
        with contextlib.redirect_stdout(io.StringIO()):
            return test_summary.of_build(self.build, list(allowed))

    def gtest(self, program: str, text: str) -> None:
        (self.build / f"tests/results/{program}.xml").write_text(text)

    def test_cases_of_a_program_are_counted_from_its_xml(self):
        self.gtest("p@2", GTEST)
        outcome = self.ran('<testcase name="p@2" status="fail"/>', allowed=("p@*:S.c",))
        self.assertEqual(outcome.counts(), "1 passed, 1 failed, 1 skipped")
        self.assertEqual(outcome.failed, ["p@2:S.b"])
        self.assertEqual(outcome.skipped, [("p@2:S.c", "no such vectors")])

    def test_the_slowest_programs_are_named(self):
        cases = [test_summary.xml.Element("testcase", name=f"p@{i}", time=f"{i}.2") for i in range(12)]
        text = test_summary.slowest(cases)
        self.assertTrue(text.startswith("p@11 11 s, p@10 10 s, p@9 9 s, "), text)
        self.assertEqual(text.count(","), 9)

    def test_a_skip_that_is_not_allowed_fails(self):
        self.gtest("p", GTEST.replace('<failure message="x"/>', ""))
        self.assertEqual(self.ran('<testcase name="p" status="run"/>').counts(), "2 passed, 1 failed, 0 skipped")

    def test_a_program_that_died_has_failed_in_the_case_it_was_in(self):
        output = "[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n[ RUN      ] S.b\n"
        outcome = self.ran(
            f'<testcase name="p" status="fail"><system-out>{output}</system-out></testcase>',
            log="1/1 Test #1: p .....***Timeout   1.00 sec\n",
        )
        self.assertEqual(outcome.passed, 1)
        self.assertEqual(outcome.failed, ["p:S.b (Timeout)"])

    def test_a_program_that_fails_after_its_tests_has_failed(self):
        self.gtest("p", '<testsuites><testsuite><testcase name="a" classname="S" status="run"/></testsuite></testsuites>')
        self.assertEqual(self.ran('<testcase name="p" status="fail"/>').counts(), "1 passed, 1 failed, 0 skipped")

    def test_a_program_that_is_missing_has_failed(self):
        missing = '<testcase name="p" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        self.assertEqual(self.ran(missing).counts(), "0 passed, 1 failed, 0 skipped")

    def test_another_program_counts_as_one_test(self):
        self.assertEqual(self.ran('<testcase name="p" status="run"/>').counts(), "1 passed, 0 failed, 0 skipped")

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(self.ran().counts(), "0 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
