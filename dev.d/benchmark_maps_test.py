"""What benchmark_maps.py makes of a report of many cases."""

import unittest

import benchmark_maps as maps


def record(case: str, fraction: float = 0.9, gate: float | None = None, speedup: float | None = None) -> dict:
    goal = None if gate is None else {"fraction_of_limit": gate, "met": fraction >= gate}
    return {
        "case": case,
        "seconds": 2.0,
        "samples": {"plait": [2.0], "memcpy": [0.5, 1.0, 4.0]},
        "fraction_of_limit": fraction,
        "peer": None if speedup is None else "Rival",
        "speedup_over_peer": speedup,
        "gate": goal,
        "aim": None,
    }


REPORT = {
    "records": [
        record("reduce-local SUM int8 16K warm ranks=1 kernel", 0.9, 0.75, 2.0),
        record("reduce-local MAX int8 16K warm ranks=1 kernel", 0.7, 0.75, 4.0),
        record("reduce-local MAX int8 64B warm ranks=1 kernel", 0.5),
        record("reduce-local SUM MPI_LONG 16K cold ranks=2 openmpi", 0.8, 0.75),
    ]
}


class Maps(unittest.TestCase):
    def test_only_many_cases_that_all_have_a_size_are_a_map(self):
        self.assertFalse(maps.is_map(REPORT))
        many = maps.FEWEST_CASES * REPORT["records"]
        self.assertTrue(maps.is_map({"records": many}))
        self.assertFalse(maps.is_map({"records": [*many, record("tran f64 8x8 2x1>1x2 ranks=2")]}))

    def test_a_name_is_what_is_done_its_size_and_a_part_of_the_map(self):
        name = "reduce-local SUM MPI_2INT 128M cold ranks=1 kernel"
        self.assertEqual(maps.split(name), ("reduce-local SUM MPI_2INT", "128M", "cold ranks=1 kernel"))

    def test_each_part_has_a_picture(self):
        self.assertEqual(
            maps.picture_options("performance-reduce.svg", REPORT),
            [
                (" ([0-9]{1,4}[BKMG]) warm ranks=1 kernel$", "performance-reduce-warm-kernel.svg"),
                (" ([0-9]{1,4}[BKMG]) cold ranks=2 openmpi$", "performance-reduce-cold-openmpi.svg"),
            ],
        )

    def test_the_table_has_a_row_for_each_size_of_a_part_from_the_smallest_on(self):
        rows = [line for line in maps.body(REPORT, "a.svg") if line.startswith("| ")][1:]
        self.assertEqual(
            rows,
            [
                "| warm ranks=1 kernel | 64B | 1 | 0.50 | 0.50 `reduce-local MAX int8` | 0.50 | – | – | – | – |",
                "| warm ranks=1 kernel | 16K | 2 | 0.80 | 0.70 `reduce-local MAX int8` | 0.50 | 3.00 | 2.00 | 1 of 2 | – |",
                "| cold ranks=2 openmpi | 16K | 1 | 0.80 | 0.80 `reduce-local SUM MPI_LONG` | 0.50 | – | – | 1 of 1 | – |",
            ],
        )

    def test_what_misses_a_gate_is_named(self):
        self.assertEqual(
            maps.body(REPORT, "a.svg")[-3:],
            [
                "Cases that miss their gate: 1",
                "",
                "- `reduce-local MAX int8 16K warm ranks=1 kernel`: 0.70 of the limit, 0.75 asked",
            ],
        )


if __name__ == "__main__":
    unittest.main()
