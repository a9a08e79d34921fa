"""What benchmark_cache_misses.py makes of counts."""

import unittest

import benchmark_cache_misses as cache_misses

REPORT = {
    "program": "cache-misses",
    "mpi": "Open MPI 4.1.4",
    "isa": "avx2",
    "commit": "abc",
    "quick": False,
    "first_level": {"bytes": 32768, "ways": 8},
    "second_level": {"bytes": 524288, "ways": 4},
    "records": [
        {
            "by": "algorithm-1",
            "part": "columns",
            "extent": 10,
            "references": 300,
            "first_level_misses": 150,
            "second_level_misses": 25,
        }
    ],
}


class CacheMisses(unittest.TestCase):
    def test_are_given_per_element_and_per_access(self):
        section = cache_misses.section(REPORT)
        self.assertIn("## cache-misses, Open MPI 4.1.4\n\n", section)
        self.assertIn("First level: 32 KiB in 8 ways; second level: 512 KiB in 4 ways;", section)
        self.assertTrue(
            section.endswith("| `algorithm-1 columns 10` | 3.00 | 1.500 | 50.0 % | 0.250 | 8.3 % |\n"), section
        )


if __name__ == "__main__":
    unittest.main()
