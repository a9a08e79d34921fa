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


PAGE = """# Performance

## At a glance

## How to read this

By hand.

## How to reproduce it

```sh
```

Also by hand.
"""


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

    def test_the_page_tells_the_commands_that_make_it(self):
        page = documents.document([REPORT, REPORT | {"mpi": "MPICH 4.0.2"}], PAGE)
        self.assertIn("\n./dev bench redistribute --json build/redistribute-openmpi.json\n", page)
        self.assertIn("\n./dev bench redistribute --mpi mpich --json build/redistribute-mpich.json\n", page)
        self.assertIn("## redistribute, MPICH 4.0.2\n\nMoves things.\n\nCPU, 2 cores, avx2 kernels", page)

    def test_sections_are_sorted_by_subject_and_then_by_mpi(self):
        mpich = REPORT | {"mpi": "MPICH 4.0.2"}
        page = documents.document([REPORT | {"program": "plan"}, mpich, REPORT], PAGE)
        places = [page.index(heading) for heading in ("## redistribute, Open", "## redistribute, MPICH", "## plan, Open")]
        self.assertEqual(places, sorted(places))

    def test_a_report_takes_the_place_of_its_command_and_leaves_the_others(self):
        other = REPORT | {"program": "plan"}
        page = documents.document([REPORT, other], PAGE)
        newer = documents.document([REPORT | {"commit": "newer"}], page)
        self.assertEqual(newer, documents.document([REPORT | {"commit": "newer"}, other], PAGE))
        self.assertEqual(documents.document([], page), page)

    def test_what_is_written_by_hand_stays(self):
        page = documents.document([REPORT], PAGE.replace("By hand", r"By my \1 hand"))
        self.assertIn("\n## How to read this\n\nBy my \\1 hand.\n\n## How to reproduce it\n\n```sh\n./dev bench", page)
        self.assertIn("```\n\nAlso by hand.\n\n## redistribute, Open MPI 4.1.4\n", page)

    def test_the_overview_counts_the_goals_of_each_section(self):
        without = REPORT | {"program": "network", "records": [RECORD | {"gate": None, "aim": None}]}
        page = documents.document([REPORT, without], PAGE)
        self.assertIn(
            "| | gates met | aims met |\n|---|--:|--:|\n"
            "| [redistribute, Open MPI 4.1.4](#redistribute-open-mpi-414) | 1 of 1 | 0 of 1 |\n\n## How to read",
            page,
        )
        aims_alone = documents.document([REPORT | {"records": [RECORD | {"gate": None}]}], PAGE)
        self.assertIn("(#redistribute-open-mpi-414) | – | 0 of 1 |\n", aims_alone)


if __name__ == "__main__":
    unittest.main()
