"""run.py --build FOLDER [--changed]: all the checks of the sources; prints file:line and why for each violation.

--changed leaves out format and clang-tidy of files that are as git's HEAD has them, and of sources that include none
that changed.
"""

import argparse
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from clang import check_clang
from format import check_format
from jobs import check_jobs
from layers import check_headers, check_layers
from picture import check_picture
from source import cpp_files
from tidy import check_tidy, dependencies
from words import check_words

ROOT = Path(__file__).resolve().parent.parent
TIDIED = ("src/",)  # tests and benchmarks would take too long, and users never see them
SCRIPTS = ("dev", ".ci/run", "dev.d/*.sh", "bench/**/*.sh", "tests/**/*.sh")


def changed_files() -> set[Path]:
    names = []
    for command in (["git", "diff", "--name-only", "HEAD"], ["git", "ls-files", "--others", "--exclude-standard"]):
        names += subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {Path(name) for name in names}


def self_tests_pass() -> bool:
    """The checks find what they should; so do the scripts' own tests."""
    suite = unittest.TestSuite()
    for folder in (str(ROOT / "lint"), str(ROOT / "dev.d")):
        suite.addTests(unittest.TestLoader().discover(folder, pattern="*_test.py", top_level_dir=folder))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    return result.wasSuccessful() and result.testsRun > 0


def scripts_pass() -> bool:
    if not shutil.which("shellcheck"):
        return True
    scripts = [str(path) for pattern in SCRIPTS for path in ROOT.glob(pattern)]
    return subprocess.run(["shellcheck", "-x", *scripts], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev lint")
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--changed", action="store_true", help="format and clang-tidy only what changed since HEAD")
    parser.add_argument("--no-tidy", action="store_true", help="leave clang-tidy out, which takes as long as a build")
    arguments = parser.parse_args()

    start = time.monotonic()
    if not self_tests_pass() or not scripts_pass():
        return 1
    files = cpp_files(ROOT)
    tidied = []
    if not arguments.no_tidy:
        tidied = [path for path in files if path.suffix == ".cpp" and str(path).startswith(TIDIED)]
    formatted = files
    if arguments.changed:
        changed = changed_files()
        formatted = [path for path in files if path in changed]
        tidied = [path for path in tidied if changed & {path, *dependencies(ROOT, path)}]

    violations = check_layers(ROOT, files) + check_headers(ROOT, files) + check_picture(ROOT) + check_jobs(ROOT) + check_words(ROOT, files)
    violations += check_clang(ROOT, files)
    violations += check_format(ROOT, formatted)
    violations += check_tidy(ROOT, ROOT / arguments.build, tidied)
    for violation in sorted(violations):
        print(violation)
    seconds = time.monotonic() - start
    print(f"lint: {len(files)} files, {len(tidied)} of them by clang-tidy, {len(violations)} violations, {seconds:.0f} s")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
