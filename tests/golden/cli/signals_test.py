"""Jobs that are told to stop: with a checkpoint they go on with the same bits, and nothing unfinished is left."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess

import numpy as np
from harness import CommandTest
from purify_test import prescribed

OWN_STATUS = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGUSR1: 75, signal.SIGUSR2: 75}


class Signals(CommandTest):
    def started(self, ranks: int, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            self.words(ranks, *arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in OWN_STATUS],
        )  # fmt: skip

    def signalled_when(self, condition, number: signal.Signals, ranks: int, *arguments: str) -> tuple[int, str]:
        """The exit status, and what was said; with several ranks it is the launcher that gets the signal, and ends with a
        status of its own. A job that is done before it can be stopped is started once more."""
        for _ in range(20):
            for path in self.folder.iterdir():
                if path.name.startswith("C.json") or path.name == arguments[arguments.index("-o") + 1]:
                    path.unlink()
            with self.started(ranks, *arguments) as process:
                if self.wait_until(condition, process):
                    process.send_signal(number)
                self.printed, said = process.communicate()
            self.end_ranks()
            if process.returncode != 0:
                return process.returncode, said
        self.fail(f"{number.name} stops no job")

    def has(self, *names: str) -> bool:
        return set(names) <= self.files()

    def test_a_job_with_a_checkpoint_stops_after_a_step_and_goes_on(self):
        values = np.concatenate([np.linspace(0, 0.3, 120), np.linspace(0.3 + 1e-7, 1, 280)])
        self.save("H.npy", prescribed(values, 5))
        cost = np.random.default_rng(6).random((200, 200))
        self.save("K.npy", np.exp(-500 * cost))
        self.save("cost.npy", cost)
        stopping = ("--checkpoint", "C.json", "--checkpoint-every", "5", "-o", "D.npy", "--quiet")
        resuming = ("--checkpoint", "C.json", "--resume", "-o", "D.npy", "--quiet")
        jobs = [
            ("purify", "H.npy", "--electrons", "240", "--method", "tc2"),
            ("sinkhorn", "K.npy", "--tolerance", "1e-14", "--max-iterations", "6000"),
            ("transport", "cost.npy", "--epsilon", "0.002", "--tolerance", "1e-14", "--max-iterations", "4000"),
        ]
        later = (signal.SIGUSR1,)
        for job, ranks, numbers in [
            (jobs[0], 0, OWN_STATUS), (jobs[0], 2, (signal.SIGTERM, signal.SIGUSR1)), (jobs[1], 2, later), (jobs[2], 0, later),
        ]:  # fmt: skip
            self.assertEqual(self.run_plait(ranks, *job, "-o", "expected.npy", "--quiet").status, 0)
            for number in numbers:
                with self.subTest(job=job[0], ranks=ranks, signal=number.name):
                    status, said = self.signalled_when(lambda: self.has("C.json"), number, ranks, *job, *stopping)
                    if ranks == 0:
                        self.assertEqual(status, OWN_STATUS[number])
                    self.assertFalse(self.has("D.npy"))
                    self.assertEqual([name for name in self.files() if ".tmp-" in name], [])
                    if ranks == 0 or number == signal.SIGUSR1:  # launchers hand on others, or kill
                        self.assertIn(f"stopped by {number.name}; --resume goes on from C.json", said)
                    self.assertEqual(self.run_plait(ranks, *job, *resuming).status, 0)
                    np.testing.assert_array_equal(self.load("D.npy"), self.load("expected.npy"))
                    (self.folder / "D.npy").unlink()

    def test_every_other_job_that_iterates_stops_and_goes_on_alike(self):
        random = np.random.default_rng(7)
        self.save("X.npy", random.random((5000, 8)))
        self.save("y.npy", random.integers(3, size=5000).astype(float))
        self.save("f.npy", random.standard_normal((100, 100)))
        half = random.random((200, 200)) ** 8
        self.save("A.npy", half + half.T)
        self.save("cost.npy", random.random((120, 120)))
        histograms = random.random((120, 3))
        self.save("histograms.npy", histograms / histograms.sum(axis=0))
        for words, output in [
            ("kmeans X.npy -k 80", "D.npy"),
            ("fit X.npy --labels y.npy --model logistic --method batch --tolerance 1e-15 --max-iterations 400", "D.npy"),
            ("train X.npy --labels y.npy --net NET --epochs 40", "D.h5"),
            ("poisson f.npy --method jacobi --tolerance 1e-14 --max-iterations 1500", "D.npy"),
            ("balance A.npy --tolerance 1e-15 --max-iterations 1500", "D.npy"),
            ("barycentre cost.npy --histograms histograms.npy --epsilon 0.001 --tolerance 1e-14 --max-iterations 800", "D.npy"),
        ]:  # fmt: skip
            job = ["dense 8 relu, dense 3 softmax" if word == "NET" else word for word in words.split()]
            stopping = ("--checkpoint", "C.json", "--checkpoint-every", "1", "-o", output, "--quiet")
            with self.subTest(job=job[0]):
                self.run_plait(0, *job, "-o", "expected" + output[1:], "--quiet")
                status, said = self.signalled_when(lambda: self.has("C.json"), signal.SIGUSR1, 0, *job, *stopping)
                self.assertEqual((status, self.has(output)), (75, False))
                self.assertIn("stopped by SIGUSR1; --resume goes on from C.json", said)
                self.assertEqual([name for name in self.files() if ".tmp-" in name], [])
                self.run_plait(0, *job, "--checkpoint", "C.json", "--resume", "-o", output, "--quiet")
                expected, found = ((self.folder / name).read_bytes() for name in ("expected" + output[1:], output))
                self.assertTrue(expected == found, "other bits")
                (self.folder / output).unlink()

    def test_a_job_that_has_its_result_is_not_to_be_resumed(self):
        """It hangs at its last step, the summary, as nobody reads that."""
        self.save("f.npy", np.ones((9, 9)))
        unread, full = os.pipe()
        os.set_blocking(full, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(full, b"x"):
                pass
        os.set_blocking(full, True)
        job = ("poisson", "f.npy", "-o", "D.npy", "--method", "cg", "--checkpoint", "C.json", "--checkpoint-every", "1")
        with subprocess.Popen(
            self.words(0, *job), cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL),
        ) as process:  # fmt: skip
            self.assertTrue(self.wait_until(lambda: self.has("D.npy") and not self.has("C.json"), process))
            process.send_signal(signal.SIGUSR1)
            _, said = process.communicate()
        os.close(unread)
        os.close(full)
        self.assertEqual(process.returncode, 138, said)
        self.assertNotIn("--resume", said)

    def stopped_while_mpi_begins(self, number: signal.Signals, *arguments: str) -> tuple[int, str, str]:
        """The exit status, and what was printed and said."""
        # Open MPI reads its settings then, and MPICH asks its launcher: neither gets an answer.
        settings = self.folder / "settings"
        os.mkfifo(settings)
        ours, theirs = socket.socketpair()
        launcher = {"PMI_FD": str(theirs.fileno()), "PMI_RANK": "0", "PMI_SIZE": "1"}
        holds = {"OMPI_MCA_mca_base_param_files": str(settings)} if self.family == "Open MPI" else launcher

        def is_held():
            if self.family != "Open MPI":
                return select.select([ours], [], [], 0)[0]
            with contextlib.suppress(OSError):  # that nobody reads it yet
                return [os.open(settings, os.O_WRONLY | os.O_NONBLOCK)]

        with subprocess.Popen(
            self.words(0, *arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | holds, pass_fds=(theirs.fileno(),), preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        ) as process:  # fmt: skip
            self.assertTrue(self.wait_until(is_held, process))
            process.send_signal(number)
            printed, said = process.communicate()
        ours.close()
        theirs.close()
        return process.returncode, printed, said

    def test_a_signal_while_mpi_is_initialised_is_an_error_in_json(self):
        status, printed, said = self.stopped_while_mpi_begins(signal.SIGTERM, "info", "--json")
        self.assertEqual(status, 143, said)
        error = json.loads(printed)
        self.assertEqual((error["command"], error["exit_status"]), ("info", 143))
        self.assertIn("stopped by SIGTERM", error["error"])

    def test_a_resumed_job_that_stops_before_it_goes_on_can_be_resumed(self):
        """The file is not read before MPI has begun."""
        resuming = ("purify", "H.npy", "--electrons", "4", "-o", "D.npy", "--checkpoint", "C.json", "--resume")
        for name, expected, rest in (("C.json", 75, "; --resume goes on from the last checkpoint\n"), ("none.json", 138, "\n")):
            (self.folder / name).write_text("{}")
            status, _, said = self.stopped_while_mpi_begins(signal.SIGUSR1, *resuming)
            self.assertEqual(status, expected, said)
            self.assertTrue(said.endswith(f"stopped by SIGUSR1 before it was done; incomplete files are removed{rest}"), said)
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_signal_while_the_program_starts_waits_until_it_can_be_told(self):
        """It starts twice, by exec, and there is no handler in between; here the signal comes before the first start."""

        def send_to_itself():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
            os.kill(os.getpid(), signal.SIGUSR1)

        (self.folder / "C.json").write_text("{}")
        words = self.words(0, "purify", "H.npy", "--electrons", "4", "-o", "D.npy", "--checkpoint", "C.json", "--resume")
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False, preexec_fn=send_to_itself)
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("stopped by SIGUSR1", done.stderr)

    def test_other_jobs_remove_what_they_had_not_finished(self):
        self.save("B.npy", np.zeros((4000, 4000)))
        job = ("redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--json")
        for ranks in (0, 2):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
                with self.subTest(ranks=ranks, signal=number.name):
                    status, said = self.signalled_when(self.aside_file_with_room, number, ranks, *job)
                    if ranks == 0:
                        self.assertEqual(status, 128 + number)
                        self.assertIn(f"stopped by {number.name} before it was done", said)
                        told = json.loads(self.printed)
                        self.assertEqual((told["command"], told["exit_status"]), ("redistribute", status))
                        self.assertIn(told["error"], said)
                        self.assertEqual(self.files(), {"B.npy"})
                    else:
                        self.succeed(0, "generate", "2x2", "-o", "other.npy")  # where the launcher killed the ranks
                        self.assertEqual(self.files(), {"B.npy", "other.npy"})
                        (self.folder / "other.npy").unlink()
