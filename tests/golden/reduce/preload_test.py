"""preload_test.py MPIEXEC CLUSTER LIBRARY PROFILER PROGRAM FORTRAN LOADER FORTRAN_LIBRARY: unmodified programs with plait's
library of reductions.

PROGRAM and FORTRAN compare their results with loops, and end with another status than 0 if they are wrong. LOADER runs
FORTRAN_LIBRARY, which is FORTRAN as a library. FORTRAN and FORTRAN_LIBRARY may be empty.
"""

import glob
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

EXACT_ROUTINE = "plait has no exact form of this routine, or not before a blocking sum"


class Preload(unittest.TestCase):
    mpiexec = cluster = library = profiler = program = fortran = loader = fortran_library = ""

    def is_open_mpi(self) -> bool:
        return 'family="Open MPI"' in Path(self.mpiexec).read_text()

    def run_words(self, words: list[str], **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            words, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )

    def run_program(self, ranks: int, program: str, *arguments: str, **environment: str) -> tuple[str, str]:
        done = self.run_words([self.mpiexec, str(ranks), program, *arguments], **environment)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout, done.stderr

    def with_library(self, ranks: int, program: str, *arguments: str, **environment: str) -> tuple[str, str]:
        environment = {"LD_PRELOAD": self.library, "PLAIT_LOG": "summary", **environment}
        return self.run_program(ranks, program, *arguments, **environment)

    def component(self) -> str:
        return os.path.dirname(self.library)

    def with_component(self) -> dict[str, str]:
        return {"OMPI_MCA_mca_base_component_path": f"SYSTEM_DEFAULT:{self.component()}:USER_DEFAULT"}

    def makes_requests(self) -> bool:
        """Whether persistent requests may be plait's, which wants Open MPI's internal headers, as its component does."""
        return os.path.exists(os.path.join(self.component(), "mca_op_plait.so"))

    def calls(self, log: str) -> dict[str, int]:
        """How often each routine was served."""
        self.assertEqual(len(re.findall(r"^plait served MPI's reductions of rank 0 with \w+:$", log, re.M)), 1, log)
        return {name: int(number) for name, number in re.findall(r"^  (MPI_\w+) +(\d+) calls? .* MB$", log, re.M)}

    def test_results_are_those_of_loops(self):
        for ranks in 1, 2, 4:
            with self.subTest(ranks=ranks):
                served = self.calls(self.with_library(ranks, self.program, "results")[1])
                self.assertGreater(served["MPI_Reduce_local"], 1000)
                for routine in "Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan":
                    self.assertGreater(served["MPI_" + routine], 20, routine)

    def test_reductions_that_are_waited_for_later_are_those_of_loops(self):
        self.run_program(2, self.program, "nonblocking")
        for ranks in 1, 2, 5:
            with self.subTest(ranks=ranks):
                log = self.with_library(ranks, self.program, "nonblocking")[1]
                served = self.calls(log)
                for routine in "allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan":
                    self.assertEqual(served.get("MPI_I" + routine, 0) > 20, ranks > 1, routine)
                before_the_barrier = " 1 call  passed on to MPI: no call before it in which all ranks meet"
                self.assertEqual(before_the_barrier in log, ranks > 1, log)

    def test_persistent_reductions_are_those_of_loops(self):
        self.run_program(2, self.program, "persistent")
        makes_requests = self.makes_requests()
        for ranks in 1, 3:
            with self.subTest(ranks=ranks):
                log = self.with_library(ranks, self.program, "persistent")[1]
                for routine in "Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan":
                    served = self.calls(log).get(f"MPI_{routine}_init", 0)
                    self.assertEqual(served > 20, ranks > 1 and makes_requests, routine)
        if makes_requests:
            self.calls(self.with_library(3, self.program, "more-of-persistent")[1])
        else:
            self.assertIn("passed on to MPI: this MPI makes persistent requests itself", log)

    def test_non_blocking_calls_wait_for_no_other_rank(self):
        for environment in {}, {"PLAIT_REPRODUCIBLE": "1"}:
            served = self.calls(self.with_library(3, self.program, "calls-wait-for-none", **environment)[1])
            self.assertGreater(served["MPI_Iallreduce"], 1)

    def test_ranks_that_begin_different_reductions_are_told(self):
        self.calls(self.with_library(3, self.program, "different-counts")[1])

    def test_a_first_call_with_much_data_is_served(self):
        for ranks in 2, 3:
            served = self.calls(self.with_library(ranks, self.program, "first-call")[1])
            self.assertEqual(served, {"MPI_Allreduce": 1})

    def test_errors_are_mpi_s_own(self):
        self.assertEqual(
            self.with_library(2, self.program, "errors")[0].splitlines(),
            self.run_program(2, self.program, "errors")[0].splitlines(),
        )

    def test_what_a_program_defines_is_passed_on(self):
        self.assertEqual(self.calls(self.with_library(3, self.program, "pass-on")[1]), {})

    def test_padding_of_pairs_stays_as_it_is(self):
        served = self.calls(self.with_library(3, self.program, "padding")[1])
        pairs = {"MPI_Reduce_local": 4, "MPI_Scan": 4, "MPI_Iallreduce": 4, "MPI_Ireduce": 4}
        self.assertEqual(served, {**pairs, "MPI_Allreduce": 2 + 3 * 4})
        if self.makes_requests():
            self.run_program(3, self.program, "padding", **self.with_component())

    def beside_others(self, start):
        """The library beside those that the cluster preloads, without which MPICH may hang at the end."""
        start = 'exec "$0" "$@"' if start == "exec" else start
        preload = f'others=$LD_PRELOAD; export others LD_PRELOAD="{self.library}${{LD_PRELOAD:+:$LD_PRELOAD}}"; '
        return ["sh", "-c", preload + start]

    def test_what_reaches_over_nodes_is_passed_on(self):
        words = ["env", "PLAIT_LOG=summary", *self.beside_others("exec"), self.program, "results"]
        done = self.run_words([self.cluster, "-k", "2", "--ppn", "1", "-r", "1gbit", "--", *words])
        if done.returncode == 125:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.calls(done.stderr)), ["MPI_Reduce_local"])

    def test_ranks_without_the_library_are_noticed(self):
        only_first = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || unset LD_PRELOAD; exec "$0" "$@"'
        log = self.with_library(2, "/bin/sh", "-c", only_first, self.program, "integers")[1]
        self.assertEqual(self.calls(log), {})
        self.assertIn("ranks without plait", log)
        self.assertGreater(self.calls(self.with_library(2, self.program, "integers")[1])["MPI_Allreduce"], 3)

    def test_sums_are_exact_if_they_are_to_be_reproducible(self):
        for ranks in 2, 4:
            with self.subTest(ranks=ranks):
                log = self.with_library(ranks, self.program, "reproducible", PLAIT_REPRODUCIBLE="1")[1]
                self.assertEqual(self.calls(log)["MPI_Allreduce"], 4 * 4 * 2)
                self.assertNotIn("reproducible", log)
        if self.makes_requests():
            log = self.with_library(3, self.program, "reproducible-persistent", PLAIT_REPRODUCIBLE="1")[1]
            self.assertEqual(self.calls(log), {"MPI_Allreduce_init": 2 * 2})
            self.assertNotIn("reproducible", log)
        log = self.with_library(2, self.program, "reproducible-on-many", PLAIT_REPRODUCIBLE="1")[1]
        self.assertEqual(self.calls(log)["MPI_Allreduce"], 70)

    def test_reproducible_sums_reach_over_nodes(self):
        words = ["env", "PLAIT_LOG=summary", "PLAIT_REPRODUCIBLE=1", *self.beside_others("exec"), self.program]
        done = self.run_words([self.cluster, "-k", "2", "--ppn", "1", "-r", "10gbit", "--", *words, "reproducible"])
        if done.returncode == 125:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(done.stderr)["MPI_Reduce_scatter"], 4 * 4 * 2)

    def test_nodes_that_do_not_ask_for_the_same_are_told(self):
        only_first = (
            "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in "
            '0) exec "$0" "$@" ;; 1) PLAIT_REPRODUCIBLE=0 exec "$0" "$@" ;; 2) LD_PRELOAD=$others exec "$0" "$@" ;; esac'
        )
        words = ["env", "PLAIT_LOG=summary", "PLAIT_REPRODUCIBLE=1", *self.beside_others(only_first), self.program]
        done = self.run_words([self.cluster, "-k", "3", "--ppn", "1", "-r", "10gbit", "--", *words, "integers"])
        if done.returncode == 125:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("was not on all ranks in 10 s: sums are not reproducible"), 1, done.stderr)

    def test_what_can_not_be_reproducible_is_said_once_and_counted(self):
        for part, counted in (
            ("not-reproducible", {"MPI_Scan": EXACT_ROUTINE, "MPI_Iallreduce": EXACT_ROUTINE}),
            ("pass-on", {"MPI_Allreduce": "two groups of ranks"}),
        ):
            log = self.with_library(3, self.program, part, PLAIT_REPRODUCIBLE="1")[1]
            self.assertEqual(len(re.findall("^plait: warning: MPI_[a-zA-Z]* is not reproducible: ", log, re.M)), 1, log)
            for routine, reason in counted.items():
                self.assertRegex(log, rf"{routine} +\d+ calls?  passed on to MPI: not reproducible: {reason}\n")
        quiet = self.with_library(2, self.program, "not-reproducible", PLAIT_REPRODUCIBLE="1", PLAIT_LOG="")[1]
        self.assertEqual(quiet.count("plait"), 2, quiet)

    def test_ranks_that_do_not_ask_for_the_same_are_told(self):
        on_rank = 'PLAIT_REPRODUCIBLE=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} exec "$0" results'
        log = self.with_library(2, "sh", "-c", on_rank, self.program)[1]
        self.assertEqual(log.count("PLAIT_REPRODUCIBLE differs between ranks"), 1, log)

    def test_a_rank_that_comes_too_late_decides_as_the_others_do(self):
        several_nodes = ["env", "-u", "OMPI_COMM_WORLD_LOCAL_SIZE", "-u", "MPI_LOCALNRANKS", self.program, "few-sums"]
        late = {"PROFILER_SECONDS": "12", "LD_PRELOAD": f"{self.library}:{self.profiler}", "PLAIT_REPRODUCIBLE": "1"}
        jobs = (
            ([self.program, "few-sums"], "ranks lack libplait_reduce.so, or began 10 s later than others"),
            (several_nodes, "was not on all ranks in 10 s"),
        )
        with ThreadPoolExecutor() as waiting:  # at the same time
            logs = list(waiting.map(lambda job: self.with_library(2, *job[0], **late)[1], jobs))
        for log, (_, complaint) in zip(logs, jobs, strict=True):
            self.assertEqual(self.calls(log), {})
            self.assertEqual(log.count(complaint), 1, log)

    def test_sums_of_ranks_that_were_started_apart_are_said_not_to_be_reproducible(self):
        if not self.is_open_mpi():
            self.skipTest("Debian's MPICH starts no processes")
        log = self.with_library(2, self.program, "spawned", PLAIT_REPRODUCIBLE="1")[1]
        self.assertEqual(log.count("started apart, as by MPI_Comm_spawn, are not reproducible"), 1, log)

    def test_a_wrong_wish_for_reproducible_sums_is_said_once(self):
        log = self.with_library(2, self.program, "results", PLAIT_REPRODUCIBLE="yes")[1]
        self.assertEqual(log.count("PLAIT_REPRODUCIBLE is 'yes', expected 0, 1 or nothing"), 1, log)

    def test_communicators_come_and_go(self):
        self.assertGreater(self.calls(self.with_library(2, self.program, "communicators")[1])["MPI_Allreduce"], 64)

    def test_what_could_not_be_made_takes_nothing_from_others(self):
        failing = {"PROFILER_FAILURES": "70", "LD_PRELOAD": f"{self.library}:{self.profiler}"}
        log = self.with_library(2, self.program, "communicators", **failing)[1]
        self.assertGreater(self.calls(log)["MPI_Allreduce"], 64)

    def test_a_rank_without_descriptors_decides_as_the_others_do(self):
        self.calls(self.with_library(2, self.program, "no-descriptors")[1])

    def test_threads_reduce_at_once(self):
        self.calls(self.with_library(2, self.program, "threads")[1])

    def test_fortran_comes_to_it_by_all_its_ways(self):
        if not self.fortran:
            self.skipTest("no Fortran")
        for ranks in 1, 2:
            served = self.calls(self.with_library(ranks, self.fortran)[1])
            # by mpif.h, by the module mpi, by the module mpi_f08
            self.assertEqual(served["MPI_Reduce_local"], 1 + 0 + 1)
            # With Open MPI, plait begins on no communicator any more when one is duplicated in the background.
            meanwhile = 0 if ranks > 1 and self.is_open_mpi() else 2
            self.assertEqual(served["MPI_Allreduce"], 1 + 4 + 2 + 2 + meanwhile)
            self.assertEqual(served["MPI_Reduce"], 1 + 1 + 1)
            self.assertEqual(served["MPI_Scan"], 0 + 1 + 1)
            self.assertEqual(served["MPI_Exscan"], 1 + 1 + 0)
            self.assertEqual(served["MPI_Reduce_scatter"], 2)
            self.assertEqual(served["MPI_Reduce_scatter_block"], 0 + 1 + 1)
            self.assertEqual(served.get("MPI_Iallreduce"), 1 if ranks > 1 else None)
            if ranks > 1 and self.makes_requests():
                self.assertEqual(served["MPI_Allreduce_init"], 3)

    def test_a_profiler_may_be_there_too(self):
        after = self.with_library(2, self.program, "pass-on", LD_PRELOAD=f"{self.library}:{self.profiler}")[1]
        self.assertIn("profiler: 0 times MPI_Allreduce, 0 others", after)
        before = self.with_library(2, self.program, "pass-on", LD_PRELOAD=f"{self.profiler}:{self.library}")[1]
        self.assertIn("profiler: 13 times MPI_Allreduce, 0 others", before)

    def test_a_profiler_sees_how_fortran_begins_and_what_it_frees(self):
        if not self.fortran:
            self.skipTest("no Fortran")
        orders = [(self.library, self.profiler), (self.profiler, self.library)]
        # With MPICH, all of Fortran's MPI_Allreduce come to the profiler, so plait never begins; MPICH 4.0.2 crashes in
        # a long MPI_Reduce in place whose root is not 0.
        for libraries in orders if self.is_open_mpi() else orders[:1]:
            log = self.with_library(2, self.fortran, LD_PRELOAD=":".join(libraries))[1]
            for routine in "MPI_INIT", "MPI_COMM_FREE":
                self.assertEqual(len(re.findall(f"^profiler: {routine}$", log, re.M)), 1, log)
            self.assertEqual(self.calls(log)["MPI_Reduce_scatter"], 2)

    def test_fortran_that_is_loaded_out_of_sight_works(self):
        if not self.fortran_library:
            self.skipTest("no Fortran")
        self.calls(self.with_library(2, self.loader, self.fortran_library)[1])

    def test_all_end_when_one_does(self):
        for part in "exit-meanwhile", "be-killed-meanwhile", "abort-between":
            with self.subTest(part):
                words = [self.mpiexec, "3", self.program, part]
                done = self.run_words(words, LD_PRELOAD=self.library)
                self.assertNotEqual(done.returncode, 0)
                processes = re.findall(r"process (\d+)", done.stdout)
                self.assertEqual(len(processes), 3, done.stdout)
                for process in processes:
                    self.assertFalse(os.path.exists(f"/proc/{process}"), part)
                    self.assertEqual(glob.glob(f"/dev/shm/plait-{process}-*"), [])

    def test_what_a_program_reduces_while_it_exits_is_served(self):
        # Schedulers name jobs at length; Open MPI's ranks need the name that its launcher gave them.
        name = {} if self.is_open_mpi() else {"PMIX_NAMESPACE": "a-name-of-more-than-a-few-letters"}
        self.assertEqual(self.calls(self.with_library(3, self.program, "reduce-at-exit", **name)[1])["MPI_Allreduce"], 3)

    def test_it_calls_mpi_by_its_profiling_names(self):
        symbols = subprocess.run(
            ["nm", "--dynamic", "--undefined-only", self.library], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual(re.findall(r" MPIX?_[A-Z][a-z]\w*", symbols), [])
        self.assertIn("PMPI_Allreduce", symbols)

    def test_a_wrong_setting_is_said_once(self):
        for others in {}, self.with_component() if self.makes_requests() else {}:
            log = self.with_library(2, self.program, "pass-on", PLAIT_ISA="mmx", PLAIT_LOG="all", **others)[1]
            self.assertEqual(log.count("PLAIT_ISA"), 1, log)
            self.assertEqual(log.count("PLAIT_LOG is 'all', expected 'summary', 'choices'"), 1, log)

    def test_nothing_is_said_unless_it_is_asked_for(self):
        self.assertNotIn("plait", self.with_library(2, self.program, "pass-on", PLAIT_LOG="")[1])


if __name__ == "__main__":
    Preload.mpiexec, Preload.cluster, Preload.library, Preload.profiler, *programs = sys.argv[1:]
    Preload.program, Preload.fortran, Preload.loader, Preload.fortran_library = programs
    unittest.main(argv=sys.argv[:1], verbosity=2)
