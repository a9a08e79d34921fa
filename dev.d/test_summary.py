"""test_summary.py BUILD...: what the test runs in these build folders came to, told from the files they left.

Counts test cases, over all programs and rank counts: those of a GoogleTest program from its XML, any other program as
one. A program that crashed or ran out of time left no XML: its finished cases are counted from its output, and the one
it died in has failed. The last line is "N passed, N failed, N skipped"; the exit status tells whether all went well.
"""

import fnmatch
import re
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

ALLOWED_SKIPS = Path("tests/allowed_skips.txt")
LINES_SHOWN = 150  # of the output of a program that failed
SLOWEST_SHOWN = 10


@dataclass
class Outcome:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)  # test, reason

    def add(self, other: "Outcome") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def counts(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def allowed_patterns(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def of_gtest_xml(program: str, path: Path) -> Outcome:
    outcome = Outcome()
    for case in xml.parse(path).getroot().iter("testcase"):
        test = f"{program}:{case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None:
            outcome.failed.append(test)
        elif skip is not None or case.get("status") == "notrun":
            text = skip.get("message", "") if skip is not None else "disabled"
            outcome.skipped.append((test, text.split("\n", 1)[-1].strip() or "no reason given"))
        else:
            outcome.passed += 1
    return outcome


def of_output(program: str, output: str, why: str) -> Outcome:
    """The outcome of a program that died, from what it printed until then."""
    outcome = Outcome(passed=len(re.findall(r"^\[       OK \]", output, re.MULTILINE)))
    ends = r"\[       OK \]|\[  FAILED  \]|\[  SKIPPED \]"
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)$", output, re.MULTILINE)
    outcome.failed = [f"{program}:{test}" for test in failed]
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    finished = re.findall(rf"^(?:{ends}) (\S+?),? .*\(\d+ ms\)$", output, re.MULTILINE)
    died_in = begun[-1] if begun and begun[-1] not in finished else None
    outcome.failed.append(f"{program}{':' + died_in if died_in else ''} ({why})")
    return outcome


def of_program(case: xml.Element, why: str, results: Path) -> Outcome:
    program, output = case.get("name"), case.findtext("system-out") or ""
    gtest = results / f"{program}.xml"
    succeeded = case.get("status") == "run"
    if gtest.exists() and gtest.stat().st_size > 0:
        outcome = of_gtest_xml(program, gtest)
        if not succeeded and not outcome.failed:
            outcome.failed.append(f"{program} ({why}, after its tests)")
        return outcome
    if succeeded:
        return Outcome(passed=1)
    skip = case.find("skipped")
    if case.get("status") == "disabled" or (skip is not None and skip.get("message", "").startswith("SKIP_")):
        return Outcome(skipped=[(program, "disabled" if skip is None else "by its own account")])
    return of_output(program, output, why)


def show_failure(case: xml.Element) -> None:
    lines = [line for line in (case.findtext("system-out") or "").splitlines() if not line.startswith("[       OK ]")]
    print(f"---- {case.get('name')}")
    if len(lines) > LINES_SHOWN:
        print(f"({len(lines) - LINES_SHOWN} lines more before these)")
    print("\n".join(lines[-LINES_SHOWN:]))


def slowest(cases: list[xml.Element]) -> str:
    """The programs that took longest, each with its seconds."""
    times = sorted(((float(case.get("time", 0)), case.get("name")) for case in cases), reverse=True)
    return ", ".join(f"{name} {seconds:.0f} s" for seconds, name in times[:SLOWEST_SHOWN])


def description(build: Path) -> str:
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE))
    mpi = {"openmpi": "Open MPI", "mpich": "MPICH"}.get(cache.get("PLAIT_MPI", ""), "unnamed MPI")
    return f"{build.name} ({mpi}, {cache.get('CMAKE_BUILD_TYPE')}, contracts of level {cache.get('PLAIT_ASSERT_LEVEL')})"


def of_build(build: Path, allowed: list[str]) -> Outcome:
    results = build / "tests/results"
    total = Outcome()
    cases: list[xml.Element] = []
    log = (build / "test.log").read_text(errors="replace") if (build / "test.log").exists() else ""
    reasons = dict(re.findall(r"Test +#\d+: (\S+) \.*\*\*\*(.*?) +[\d.]+ sec", log))
    if (results / "ctest.junit").exists():
        cases = list(xml.parse(results / "ctest.junit").getroot().iter("testcase"))
        for case in cases:
            outcome = of_program(case, reasons.get(case.get("name"), "failed"), results)
            if outcome.failed:
                show_failure(case)
            total.add(outcome)
    if total.passed + len(total.failed) == 0:
        total.failed.append(f"no test ran, see {build}/test.log")
    for test, reason in list(total.skipped):
        if not any(fnmatch.fnmatchcase(test, pattern) for pattern in allowed):
            total.skipped.remove((test, reason))
            total.failed.append(f"{test} was skipped, which {ALLOWED_SKIPS} does not allow: {reason}")
    seconds = sum(float(case.get("time", 0)) for case in cases)
    print(f"{description(build)}: {len(cases)} programs, {seconds:.0f} s: {total.counts()}")
    print(f"  slowest: {slowest(cases)}")
    for test, reason in total.skipped:
        print(f"  skipped {test}: {reason}")
    for failure in total.failed:
        print(f"  FAILED  {failure}")
    return total


def main() -> int:
    total = Outcome()
    for build in sys.argv[1:]:
        total.add(of_build(Path(build), allowed_patterns(ALLOWED_SKIPS)))
    print(total.counts())
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
