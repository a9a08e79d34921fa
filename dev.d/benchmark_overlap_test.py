"""What benchmark_overlap.py makes of reports."""

import unittest

import benchmark_overlap as overlap
import document_benchmarks as documents


def record(case: str, fraction: float, gate: dict | None = None) -> dict:
    return {
        "case": f"{case} nodes=4 ranks=4 rate=1000mbit Open MPI",
        "seconds": 0.3 / fraction,
        "limit_seconds": 0.3,
        "fraction_of_limit": fraction,
        "fraction_of_limit_spread": [fraction / 2, fraction],
        "gate": gate,
        "aim": None,
    }


GATE = {"fraction_of_limit": 1.5 / 1.65, "speedup_over_peer": 1 / 1.1, "met": True}
REPORT = {
    "program": "overlap",
    "description": "Sums up",
    "commit": "abc",
    "machine": {"cpu": "CPU", "cores": 2, "isa": "avx2"},
    "mpi": "Open MPI 4.1.4",
    "quick": False,
    "load_average": 0.1,
    "records": [
        record("allreduce ours 16M", 1.0, GATE),
        record("allreduce mpi 16M", 0.25),
        record("allreduce mpi*4 16M", 0.5),
        record("reduce/columns ours 4M", 0.5),
    ],
}


class Overlap(unittest.TestCase):
    def test_times_are_in_units_of_the_link(self):
        self.assertIn(
            "| `allreduce` | 16M | 200 ms | 1.50 | **1.50** [1.50, 3.00] | **3.00** [3.00, 6.00] `mpi*4`"
            " | **6.00** [6.00, 12.00] | ≤ 1.65, ≤ 1.10 x the best of MPI: met | – |",
            overlap.section(REPORT, "openmpi", ""),
        )

    def test_what_was_not_measured_is_a_dash(self):
        self.assertIn(
            "| `reduce/columns` | 4M | 300 ms | 1.00 | **2.00** [2.00, 4.00] | – | – | – | – |",
            overlap.section(REPORT, "openmpi", ""),
        )

    def test_steps_get_a_table_of_their_own(self):
        self.assertNotIn("` by |", overlap.section(REPORT, "openmpi", ""))
        report = REPORT | {"records": [*REPORT["records"], record("allreduce ring+chunks 16M", 0.75)]}
        self.assertIn(
            "| `allreduce` by | 16M |\n|---|---|\n| `ring+chunks` | **2.00** [2.00, 4.00] |",
            overlap.section(report, "openmpi", ""),
        )

    def test_the_steps_of_the_literature_are_told_by_their_speed_over_a_ring_in_its_order(self):
        self.assertNotIn("ring = 1", overlap.section(REPORT, "openmpi", ""))
        steps = [
            record("allreduce>update coffee+chunks+compute 4M", 0.5),
            record("allreduce>update ring 4M", 0.25),
            record("allreduce>update leaders+chunks 4M", 0.375),
            record("allreduce>update ring 16M", 0.5),
            record("allreduce>update leaders+chunks 16M", 0.25),
        ]
        self.assertIn(
            "| speed, ring = 1 | 4M | 16M |\n|---|--:|--:|\n"
            "| ring over all ranks | 1.00 | 1.00 |\n"
            "| SALaR: leaders of nodes, in chunks | 1.50 | 0.50 |\n"
            "| + reduce: all ranks of a node reduce | – | – |\n"
            "| + overlap: each chunk computed with as it comes | – | – |\n"
            "| + reduce + overlap: COFFEE | 2.00 | – |\n",
            overlap.section(REPORT | {"records": steps}, "openmpi", ""),
        )

    def test_one_rank_of_a_node_stands_beside_all_of_them(self):
        reduces = [record("reduce/columns mpi 4M", 0.5), record("reduce/active mpi 4M", 0.25)]
        self.assertIn(
            "| `reduce` by | 4M |\n|---|---|\n"
            "| MPI, blocking, one rank a node | **4.00** [4.00, 8.00] |\n"
            "| MPI, N_DUP = 4, one rank a node | – |\n"
            "| MPI, blocking, all ranks of a node | **2.00** [2.00, 4.00] |\n",
            overlap.section(REPORT | {"records": reduces}, "openmpi", ""),
        )

    def test_the_page_tells_nodes_ranks_and_rate(self):
        shared = [
            {**one, "case": one["case"].replace("nodes=4 ranks=4 rate=1000mbit", "nodes=2 ranks=4 rate=200mbit")}
            for one in REPORT["records"]
        ]
        page = documents.page([REPORT, REPORT | {"mpi": "MPICH 4.0.2", "records": shared}])
        self.assertIn(
            "\n## Collectives on a network, and overlap: Open MPI 4.1.4, 4 nodes x 1 rank, links of 1 Gb/s\n", page
        )
        self.assertIn("MPICH 4.0.2, 2 nodes x 2 ranks, links of 200 Mb/s\n", page)
        self.assertIn(
            "\n./dev bench overlap --ranks 4 --rate 1gbit --json build/overlap-openmpi-4x1-1gbit.json\n", page
        )
        self.assertIn(
            "\n./dev bench overlap --mpi mpich --ranks 4 --rate 200mbit --ppn 2"
            " --json build/overlap-mpich-2x2-200mbit.json\n",
            page,
        )
        self.assertIn("(performance-overlap-openmpi-4x1-1gbit.svg)", page)
        self.assertEqual(
            overlap.pictures(REPORT, "openmpi"),
            [(" 16M nodes=4 ranks=4 rate=1000mbit ", "performance-overlap-openmpi-4x1-1gbit.svg")],
        )

    def test_a_busy_machine_is_pointed_out(self):
        self.assertIn("**The machine was busy", documents.section(REPORT | {"load_average": 1.5}, "a.svg"))


if __name__ == "__main__":
    unittest.main()
