"""However a job fails, all ranks end with one status and the reason is told once."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
from harness import CommandTest


class Guard(CommandTest):
    def probe(self, ranks: int, how: str, *command: str):
        program = Path(self.plait).parent.parent / "tests/bin/guard_probe"
        return self.run_words([self.mpiexec, str(ranks), str(program), how, *command])

    def test_the_ranks_agree_on_the_status_and_the_reason(self):
        for how, status, errors in [
            ("not at all", 0, []),
            ("all alike", 1, ["x.npy: is gone"]),
            ("misuse", 2, ["that is no option"]),
            ("the last one at the end", 1, ["the last rank failed"]),
            ("a consequence on rank 0", 1, ["the reason"]),
        ]:
            with self.subTest(how):
                result = self.probe(3, how)
                self.assertEqual(result.status, status)
                self.assertEqual(result.errors, [f"plait: error: {error}" for error in errors])
                self.assertEqual(result.stdout, f"{status}\n" * 3)

    def test_a_failure_that_the_others_do_not_know_of_ends_them(self):
        result = self.probe(3, "the last one while others wait")
        self.assertNotEqual(result.status, 0)
        self.assertIn(
            "plait: error: rank 2: nobody else knows; the other ranks do not know and are ended", result.errors
        )

    def test_a_failure_of_one_rank_alone_is_json_too(self):
        result = self.probe(3, "the last one while others wait", "job")
        told = json.loads(result.stdout)
        self.assertEqual((told["command"], told["exit_status"]), ("job", 1))
        self.assertIn("rank 2: nobody else knows", told["error"])

    def test_plugins_of_the_mpi_stay_loaded_to_the_end(self):
        if self.family != "Open MPI":
            self.skipTest("MPICH has no plug-ins of its own")
        log = self.folder / "loader"
        result = self.run_words(self.words(2, "info"), {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
        self.assertEqual(result.status, 0, result.stderr)
        ranks = [text for path in self.folder.glob("loader.*") if "mca_pml_ob1.so" in (text := path.read_text())]
        self.assertGreaterEqual(len(ranks), 2)
        for text in ranks:
            self.assertNotRegex(text, r"mca_(pml_ob1|btl_vader)\.so.*destroying link map")

    def test_a_crash_of_the_mpi_at_the_end_costs_no_result(self):
        if self.family != "Open MPI":
            self.skipTest("MPICH does not crash there")
        self.save("K.npy", np.ones((3, 3)))
        library = Path(self.plait).parent.parent / "tests/bin/crash_in_finalize.so"
        for status, options in [(0, ()), (1, ("--rows", "absent.npy"))]:
            words = self.words(2, "sinkhorn", "K.npy", "-o", "P.npy", *options)
            result = subprocess.run(words, cwd=self.folder, env=os.environ | {"LD_PRELOAD": str(library)}, capture_output=True, text=True)
            self.assertEqual(result.returncode, status, result.stderr)
            # Of a job that fails the launcher may end one rank before it says so, as the other one has ended.
            told = result.stderr.count("MPI crashed as it cleaned up after the job")
            self.assertIn(told, (1, 2) if status else (2,))
        np.testing.assert_allclose(self.load("P.npy"), np.full((3, 3), 1 / 3))

    def test_processes_without_a_launcher_share_no_folder(self):
        self.save("K.npy", np.ones((3, 3)))
        nowhere = {"TMPDIR": "/dev/null/nowhere"}
        result = self.run_words(self.words(0, "sinkhorn", "K.npy", "-o", "P.npy"), nowhere)
        self.assertEqual((result.status, result.stderr), (0, ""))

    def test_a_process_without_a_launcher_starts_no_other_one(self):
        self.save("K.npy", np.random.default_rng(7).random((200, 200)) + 0.1)
        endless = ("--tolerance", "0", "--checkpoint", "C.json", "--checkpoint-every", "1", "-o", "P.npy")
        process = self.start_session(0, "sinkhorn", "K.npy", *endless)
        self.addCleanup(self.kill_session, process)
        self.assertTrue(self.wait_until((self.folder / "C.json").exists, process), "it ended before a checkpoint")
        children = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = path.read_text().rpartition(")")[2].split()[1]
            except OSError:  # it has ended
                continue
            if int(parent) == process.pid:
                children.append(path.parent.joinpath("cmdline").read_text())
        self.assertEqual(children, [])
