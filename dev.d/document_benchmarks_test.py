"""What document_benchmarks.py makes of reports."""

import unittest

import document_benchmarks as documents

RECORD = {
    "case": "gemr2d f64 8000x8000 2x1>1x2 ranks=2",
    "seconds": 0.25,
    "spread": [0.24, 0.26],
    "setup_seconds": 123e-6,
    "limit": "memcpy",
    "limit_seconds": 0.1,
    "fraction_of_limit": 0.4,
    "fraction_of_limit_spread": [0.38, 0.41],
    "peer": "ScaLAPACK pdgemr2d",
    "peer_seconds": 1.5,
    "speedup_over_peer": 6.0,
    "speedup_over_peer_spread": [5.5, 6.5],
    "gate": {"fraction_of_limit": 0.3, "speedup_over_peer": 1.0, "met": True},
    "aim": {"fraction_of_limit": 0.8, "met": False},
    "samples": {},
}
REPORT = {
    "program": "redistribute",
    "description": "Moves things",
    "commit": "abc",
    "machine": {"cpu": "CPU", "cores": 2, "isa": "avx2"},
    "mpi": "Open MPI 4.1.4",
    "quick": False,
    "load_average": 0.1,
    "records": [RECORD],
}



class Documents(unittest.TestCase):
    def test_a_record_becomes_a_row(self):
        self.assertEqual(
            documents.row(RECORD),
            "| `gemr2d f64 8000x8000 2x1>1x2 ranks=2` | 250 ms | 123 µs | 100 ms memcpy | **0.40** [0.38, 0.41]"
            " | 1.50 s ScaLAPACK pdgemr2d | **6.00** [5.50, 6.50] | 0.30 of the limit, speedup 1.0: met"
            " | 0.80 of the limit: **missed** |",
        )

    def test_what_was_not_there_is_a_dash(self):
        row = documents.row(RECORD | {"peer": None, "gate": None})
        self.assertTrue(row.endswith("| – | – | – | 0.80 of the limit: **missed** |"), row)

    def test_a_busy_machine_is_pointed_out(self):
        self.assertNotIn("busy", documents.section(REPORT, "a.svg"))
        busy = documents.section(REPORT | {"load_average": 1.5}, "a.svg")
        self.assertIn("load average 1.5 when it began. **The machine was busy", busy)

    def test_each_mpi_gets_a_picture_of_its_own(self):
        self.assertEqual(documents.plot_name(REPORT), "performance-redistribute-openmpi.svg")
        self.assertEqual(documents.plot_name(REPORT | {"mpi": "MPICH 4.0.2"}), "performance-redistribute-mpich.svg")

    def test_a_run_on_a_cluster_gets_a_section_of_its_own(self):
        case = "ours 1600x28800 a rank nodes=2 ranks=4 rate=100mbit Open MPI"
        report = REPORT | {"program": "sinkhorn", "records": [RECORD | {"case": case}]}
        self.assertTrue(
            documents.section(report, "a.svg").startswith(
                "## sinkhorn, Open MPI 4.1.4, 2 nodes x 2 ranks, links of 100 Mb/s\n"
            )
        )
        self.assertEqual(documents.plot_name(report), "performance-sinkhorn-openmpi-2x2-100mbit.svg")
        self.assertEqual(
            documents.command(report),
            "./dev bench sinkhorn --ranks 4 --rate 100mbit --ppn 2 --json build/sinkhorn-openmpi-2x2-100mbit.json",
        )
        self.assertNotIn("nodes", documents.section(report | {"records": [RECORD, *report["records"]]}, "a.svg")[:60])

    def test_links_without_a_limit_are_told_of(self):
        case = "ours 1600x28800 a rank nodes=2 ranks=2 unlimited Open MPI"
        report = REPORT | {"program": "sinkhorn", "records": [RECORD | {"case": case}]}
        self.assertIn("2 nodes x 1 rank, links without a limit\n", documents.section(report, "a.svg"))
        self.assertEqual(
            documents.command(report),
            "./dev bench sinkhorn --ranks 2 --rate 100gbit --json build/sinkhorn-openmpi-2x1-100gbit.json",
        )

    def test_cases_of_several_extents_get_a_second_picture(self):
        self.assertNotIn("over-n", documents.section(REPORT, "a.svg"))
        smaller = RECORD | {"case": RECORD["case"].replace("8000x8000", "500x500")}
        section = documents.section(REPORT | {"records": [RECORD, smaller]}, "a.svg")
        self.assertIn("(a.svg)\n\n![Share of the limit's speed over N of N x N](a-over-n.svg)\n\n| case", section)

    def test_the_page_tells_the_command_of_each_report(self):
        page = documents.page([REPORT, REPORT | {"mpi": "MPICH 4.0.2"}])
        self.assertIn(
            "## redistribute, MPICH 4.0.2\n\n```sh\n"
            "./dev bench redistribute --mpi mpich --json build/redistribute-mpich.json\n```\n\nMoves things.\n\nCPU, 2",
            page,
        )
        self.assertLess(page.index("## redistribute, Open MPI 4.1.4"), page.index("## redistribute, MPICH 4.0.2"))

    def test_goals_are_counted(self):
        self.assertIn("Gates met: 1 of 1. Aims met: 0 of 1.", documents.page([REPORT]))


if __name__ == "__main__":
    unittest.main()
