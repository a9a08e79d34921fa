"""`plait balance` and `plait barycentre` that were killed go on from their checkpoints with the same bits."""

import json

import numpy as np
from harness import CommandTest, alike_with_every_mpi


class Resume(CommandTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(8)
        n = 300
        # Entries below the antidiagonal have to vanish, so that the error falls like 1 / iterations.
        self.save("A.npy", np.fliplr(np.tril(random.random((n, n)) + 0.5)) + np.fliplr(np.tril(np.ones((n, n)))).T)
        a = self.load("A.npy")
        self.save("A.npy", a + a.T)
        x = np.sort(random.random(150))
        self.save("X.npy", x)
        self.save("C.npy", np.subtract.outer(x, x[::-1]) ** 2)
        h = random.random((150, 3))
        self.save("B.npy", h / h.sum(0))
        long = ("--acceleration", "none", "--tolerance", "1e-15", "--max-iterations")
        histograms = ("--histograms", "B.npy", *long)
        self.jobs = {
            "balance": ("balance", "A.npy", *long, "900"),
            "factors": ("barycentre", "C.npy", "--epsilon", "0.01", *histograms, "700"),
            "logarithms": ("barycentre", "C.npy", "--epsilon", "0.0005", "--method", "logarithms", *histograms, "120"),
            "points": ("barycentre", "--points", "X.npy", "X.npy", "--epsilon", "0.0005", *histograms, "120"),
        }  # fmt: skip

    def test_killed_jobs_end_with_the_same_bits(self):
        for ranks, name in ((2, "balance"), (0, "factors"), (2, "logarithms"), (0, "points")):
            with self.subTest(name, ranks=ranks):
                job = self.jobs[name]
                status = json.loads(self.run_plait(ranks, *job, "-o", "expected.npy", "--json").stdout)["status"]
                kept = ("--checkpoint", "state", "--checkpoint-every", "10", "--resume")
                kills = self.finish_despite_kills(ranks, "state", *job, *kept, "-o", "a.npy")
                np.testing.assert_array_equal(self.load("a.npy"), self.load("expected.npy"), f"after {kills} kills")
                self.assertEqual(self.take_checkpoint("state"), status != "converged")

    def test_another_number_of_ranks_goes_on(self):
        for name, job in self.jobs.items():
            with self.subTest(name):
                self.assertEqual(self.run_plait(0, *job, "-o", "expected.npy", "--quiet").status, 0)
                kept = (*job, "-o", "a.npy", "--checkpoint", "state", "--checkpoint-every", "10")
                while not (self.folder / "state").exists():  # after a job that was done before it could be killed
                    process = self.start_session(2, *kept)
                    self.wait_until((self.folder / "state").exists, process)
                    self.kill_session(process)
                changed = list(kept)
                changed[changed.index("--tolerance") + 1] = "1e-14"  # may be another one
                result = self.run_plait(3, *changed, "--resume", "--json")
                self.assertEqual(result.status, 0, result.stderr)
                self.assertRegex(result.stdout, r'"resumed_at": ?[1-9]')
                np.testing.assert_allclose(self.load("a.npy"), self.load("expected.npy"), rtol=1e-6)
                self.take_checkpoint("state")

    def test_what_a_limit_ended_goes_on_with_a_larger_one(self):
        cost = self.load("C.npy")
        self.save("K.npy", np.exp(-cost / 0.0005) + 1e-12)
        lines = [f"{i + 1} {j + 1} {a!r}\n" for (i, j), a in np.ndenumerate(self.load("A.npy")) if a > 0]
        (self.folder / "A.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n300 300 {len(lines)}\n" + "".join(lines))
        jobs = {
            "dense": ("sinkhorn", "K.npy"),
            "sparse": ("sinkhorn", "A.mtx"),
            "logarithms": ("transport", "C.npy", "--epsilon", "0.0005"),
            "factors": ("transport", "C.npy", "--epsilon", "0.01", "--method", "factors"),
            "points": ("transport", "--points", "X.npy", "X.npy", "--epsilon", "0.0005"),
            "balance": self.jobs["balance"][:2],
            "barycentre": self.jobs["factors"][:6],
            "barycentre by logarithms": self.jobs["logarithms"][:8],
        }
        kept = ("--checkpoint", "state", "--json", "-o", "P.npy", "--tolerance")
        for n, (name, job) in enumerate(jobs.items()):
            with self.subTest(name):
                ranks = 2 if n % 3 == 0 else 0
                acceleration = "none" if n % 2 == 0 else "auto"
                limited = (*kept, "1e-16", "--acceleration", acceleration, "--max-iterations")
                ended = self.run_plait(ranks, *job, *limited, "30")
                self.assertEqual(ended.status, 0, ended.stderr)
                self.assertRegex(ended.stderr, "iteration limit: .*; --resume with a larger --max-iterations goes on from state")
                self.assertEqual(json.loads(ended.stdout)["status"], "iteration limit")
                plan = self.load("P.npy")
                # As after a kill between the last checkpoint and the result.
                again = self.run_plait(ranks, *job, *limited, "30", "--resume")
                self.assertEqual(again.status, 0, again.stderr)
                self.assertEqual(json.loads(again.stdout)["errors"], json.loads(ended.stdout)["errors"])
                np.testing.assert_array_equal(self.load("P.npy"), plan)
                refused = self.run_plait(ranks, *job, *limited, "29", "--resume")
                self.assertEqual(refused.status, 1)
                self.assertIn("--max-iterations: the limit of 29 is reached already, as state goes on after iteration 29", refused.errors[0])
                longer = json.loads(self.run_plait(ranks, *job, *limited, "47", "--resume").stdout)
                self.assertEqual(longer["resumed_at"], 29)  # the last iteration is repeated
                plan = self.load("P.npy")
                self.assertTrue(self.take_checkpoint("state"))
                straight = json.loads(self.run_plait(ranks, *job, *limited, "47").stdout)
                self.assertEqual((longer["errors"], len(longer["errors"])), (straight["errors"], 47))
                np.testing.assert_array_equal(plan, self.load("P.npy"))
                done = self.run_plait(ranks, *job, *kept, "0.9", "--acceleration", acceleration, "--resume")
                self.assertEqual(json.loads(done.stdout)["status"], "converged", done.stderr)
                self.assertFalse(self.take_checkpoint("state"))

    def test_a_stage_before_the_last_one_goes_on_beyond_the_limit(self):
        job = ("transport", "C.npy", "--epsilon", "0.0005", "--method", "logarithms", "--max-iterations", "5", "-o", "P.npy")
        stages = json.loads(self.run_plait(0, *job, "--json").stdout)["stages"]
        self.assertGreater(max(stage["iterations"] for stage in stages[:-1]), 5)
        plan = self.load("P.npy")
        kept = (*job, "--checkpoint", "state", "--checkpoint-every", "1")

        def is_beyond() -> bool:
            try:
                return json.loads((self.folder / "state").read_text())["iterations"] > 5
            except FileNotFoundError:  # not begun, or at its end
                return False

        while not is_beyond():
            process = self.start_session(0, *kept)
            self.wait_until(is_beyond, process)
            self.kill_session(process)
        resumed = self.run_plait(0, *kept, "--resume")
        self.assertEqual(resumed.status, 0, resumed.stderr)
        np.testing.assert_array_equal(self.load("P.npy"), plan)

    @alike_with_every_mpi
    def test_a_checkpoint_of_another_job_is_refused(self):
        # There is no balance, which is found out after many iterations: the checkpoint stays.
        self.save("no_support.npy", np.array([[1.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
        job = ("balance", "no_support.npy", "-o", "x.npy", "--checkpoint", "state")
        self.assertEqual(self.run_plait(0, *job, "--checkpoint-every", "5").status, 1)
        self.assertIn("state", self.files())
        for words, why in (
            (("--sum", "2"), "its sum was 1.0, now it is 2.0"),
            (("--precision", "mixed"), "its precision was"),
        ):
            errors = self.run_plait(2, *job, *words, "--resume").errors
            self.assertEqual(len(errors), 1)
            self.assertIn(f"state: is a checkpoint of another job: {why}", errors[0])
        self.assertIn("state: is no checkpoint of plait barycentre",
                      self.run_plait(0, *self.jobs["factors"], "-o", "a.npy", "--checkpoint", "state", "--resume").errors[0])  # fmt: skip
        whole = (self.folder / "state").read_bytes()
        for part in (whole[: len(whole) // 2], b"", whole.replace(b":", b";"), b'{"plait_balance_checkpoint": 5'):
            (self.folder / "state").write_bytes(part)
            for ranks in (0, 2):
                self.assertIn("state: is no checkpoint of plait balance: it was cut off or changed; without --resume the job begins again",
                              self.run_plait(ranks, *job, "--resume").errors[0])  # fmt: skip
        for name in ("balance", "factors"):
            for words, why in (
                (("--resume",), "--resume is given, but --checkpoint is missing"),
                (("--checkpoint-every", "3"), "--checkpoint-every is given, but --checkpoint is missing"),
            ):
                result = self.run_plait(0, *self.jobs[name], "-o", "a.npy", *words)
                self.assertEqual(result.status, 2)
                self.assertIn(why, result.stderr)
