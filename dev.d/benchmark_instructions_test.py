"""What benchmark_instructions.py makes of counts."""

import unittest

import benchmark_instructions as instructions

COUNTS = {"instructions": 100, "loads": 30, "stores": 20, "branches": 10}
REPORT = {
    "program": "instructions",
    "mpi": "Open MPI 4.1.4",
    "isa": "avx2",
    "commit": "abc",
    "quick": False,
    "records": [
        {"case": "sum MPI_DOUBLE 64", "by": "kernel", **COUNTS},
        {"case": "sum MPI_DOUBLE 64", "by": "Open MPI 4.1.4", **COUNTS, "instructions": 250},
    ],
}


class Instructions(unittest.TestCase):
    def test_each_call_is_compared_with_the_kernel(self):
        section = instructions.section(REPORT)
        self.assertIn("## instructions, Open MPI 4.1.4\n\n", section)
        self.assertTrue(
            section.endswith(
                "| `sum MPI_DOUBLE 64` | kernel | 100 | 30 | 20 | 10 | 1.0 |\n"
                "| `sum MPI_DOUBLE 64` | Open MPI 4.1.4 | 250 | 30 | 20 | 10 | 2.5 |\n"
            ),
            section,
        )


if __name__ == "__main__":
    unittest.main()
