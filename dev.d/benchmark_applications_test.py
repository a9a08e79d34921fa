"""What benchmark_applications.py makes of times."""

import unittest

import benchmark_applications as applications

RECORD = {
    "case": "gradients",
    "seconds": 0.25,
    "seconds_without": 0.5,
    "speedup": 2.0,
    "speedup_range": [1.5, 2.5],
    "samples": {"plait": [0.2, 0.25, 0.3], "without": [0.5, 0.5, 0.5]},
}
REPORT = {
    "program": "applications",
    "mpi": "Open MPI 4.1.4",
    "launcher": "mpiexec -n 2",
    "commit": "abc",
    "quick": False,
    "records": [RECORD],
}


class Applications(unittest.TestCase):
    def test_each_application_is_a_row(self):
        section = applications.section(REPORT)
        self.assertIn("## applications, Open MPI 4.1.4\n\n", section)
        self.assertTrue(section.endswith("| gradients | 0.250 s | 0.500 s | **2.00** [1.50, 2.50] | 3 |\n"), section)


if __name__ == "__main__":
    unittest.main()
