"""run.py MODULE RESULTS.xml PLAIT MPIEXEC FAMILY: runs the tests of a module and leaves their cases as GoogleTest would.

Every subtest is a case. Without NumPy all of the module is one case that was skipped. Where PLAIT_OTHER_MPI_FOLLOWS is set,
tests that are alike with every MPI are left to that.
"""

import importlib
import os
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path


class Cases(unittest.TextTestResult):
    """Collects (class, name, seconds, outcome, text) of every test and subtest."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.cases: list[tuple[str, str, float, str, str]] = []
        self.end_of_last = time.monotonic()

    def add(self, test: unittest.TestCase, outcome: str, text: str = "", name: str = "") -> None:
        suite, method = (test.id().split(".") + [""])[1:3]
        begin, self.end_of_last = self.end_of_last, time.monotonic()
        self.cases.append((suite, name or method, self.end_of_last - begin, outcome, text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.add(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.add(test, "failure", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.add(test, "failure", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.case._SubTest):
            self.add(test.test_case, "skipped", reason, self.name_of(test))
        else:
            self.add(test, "skipped", reason)

    @staticmethod
    def name_of(subtest: unittest.case._SubTest) -> str:
        return f"{subtest.test_case.id().split('.')[2]} {subtest._subDescription()}"

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        text = self._exc_info_to_string(err, test) if err else ""
        self.add(test, "failure" if err else "passed", text, self.name_of(subtest))


def write_xml(path: Path, cases: list[tuple[str, str, float, str, str]]) -> None:
    suites = xml.Element("testsuites")
    suite = xml.SubElement(suites, "testsuite", name=path.stem)
    for classname, name, seconds, outcome, text in cases:
        case = xml.SubElement(
            suite, "testcase", classname=classname, name=name, time=f"{seconds:.3f}", status="run", result="completed"
        )
        if outcome != "passed":
            xml.SubElement(case, outcome, message=text)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def tests_here(tests):
    """Those of a suite, one after the other, but what another MPI does as well."""
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from tests_here(test)
        elif not (os.environ.get("PLAIT_OTHER_MPI_FOLLOWS") and hasattr(getattr(test, test._testMethodName), "is_alike")):
            yield test


def main() -> int:
    module, results, plait, mpiexec, family = sys.argv[1:]
    try:
        import numpy  # noqa: F401
    except ImportError:
        print(f"{sys.executable} has no NumPy")
        write_xml(Path(results), [(module, "all", 0, "skipped", f"{sys.executable} has no NumPy")])
        return 0
    import harness

    harness.CommandTest.plait, harness.CommandTest.mpiexec, harness.CommandTest.family = plait, mpiexec, family
    tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module))
    chosen = unittest.TestSuite(tests_here(tests))
    outcome = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Cases).run(chosen)
    write_xml(Path(results), outcome.cases)
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
