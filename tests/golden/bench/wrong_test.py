"""wrong_test.py BENCHMARK MPIEXEC: a benchmark whose results are wrong says so, and fails."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class WrongResult(unittest.TestCase):
    command: list[str] = []

    def test_it_is_told_once_and_no_report_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.json"
            run = subprocess.run(
                [*self.command, "--quick", "--json", path], capture_output=True, text=True, check=False
            )
            self.assertFalse(path.exists())
        self.assertNotEqual(run.returncode, 0)
        complaints = [line for line in run.stderr.splitlines() if line.startswith("bench_")]
        self.assertEqual(complaints, ["bench_wrong: error: wrong: plait has 3 wrong elements"])
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()][:2], ["case", "right"])


if __name__ == "__main__":
    benchmark, mpiexec = sys.argv[1:]
    WrongResult.command = [mpiexec, "2", benchmark]
    unittest.main(argv=sys.argv[:1], verbosity=2)
