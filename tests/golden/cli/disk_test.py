"""Where a disk does not take a checkpoint, a trace or a page, a warning says so, and the job goes on to its result."""

import json
import shutil
import subprocess

import numpy as np
from harness import CommandTest, Result

# A file system of so many pages in the folder `small`, some of which are taken; what is on it is copied to `left`.
ON_SMALL_DISK = """
mount -t tmpfs -o nr_blocks="$1" none small || exit 99
[ "$2" = 0 ] || head -c "$2" /dev/zero > small/taken || exit 98
shift 2
"$@"
status=$?
cp -R small left
exit $status
"""


class FullDisk(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "small").mkdir()
        probe = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "small"]
        if subprocess.run(probe, cwd=self.folder, capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted in a namespace")

    def run_on_small_disk(self, pages: int, ranks: int, *arguments: str, taken: int = 0) -> Result:
        shell = ["sh", "-c", ON_SMALL_DISK, "sh", str(pages), str(taken), *self.words(ranks, *arguments)]
        return self.run_words(["unshare", "--map-root-user", "--mount", *shell])

    def warnings(self, result: Result) -> list[str]:
        return [line for line in result.stderr.splitlines() if line.startswith("plait: warning: ")]

    def test_the_last_checkpoint_that_could_be_written_stays_and_the_job_goes_on(self):
        # The error falls like 1/n, and a checkpoint grows by a number with each iteration.
        self.save("slow.npy", np.array([[1.0, 1.0], [0.0, 1.0]]))
        job = ("sinkhorn", "slow.npy", "--tolerance", "1e-14", "--max-iterations", "3000", "--acceleration", "none", "--quiet")
        self.run_plait(0, *job, "-o", "expected.npy")
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                kept = ("--checkpoint", "small/state", "--checkpoint-every", "400")
                result = self.run_on_small_disk(7, ranks, *job, "-o", "P.npy", *kept)
                self.assertEqual((result.status, result.errors), (0, []), result.stderr)
                lost = [line for line in self.warnings(result) if "no checkpoint was written" in line]
                self.assertEqual(len(lost), 1, result.stderr)
                self.assertIn("No space left on device", lost[0])
                np.testing.assert_array_equal(self.load("P.npy"), self.load("expected.npy"))

    def test_a_job_that_ends_without_a_result_goes_on_from_the_last_good_checkpoint(self):
        self.save("no_support.npy", np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
        # Contents and the text that tells of them take a page each: a second checkpoint does not fit beside the first.
        job = ("sinkhorn", "no_support.npy", "-o", "P.npy", "--checkpoint-every", "12", "--acceleration", "none", "--json")
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                result = self.run_on_small_disk(3, ranks, *job, "--checkpoint", "small/state")
                self.assertEqual(len([w for w in self.warnings(result) if "no checkpoint was written" in w]), 1, result.stderr)
                left = self.folder / "left"
                self.assertEqual([path.name for path in left.glob("*.tmp-*")], [])
                resumed = self.run_plait(0, *job, "--checkpoint", "left/state", "--resume")
                self.assertIn("no support", resumed.stderr)
                self.assertNotIn("checksum", resumed.stderr)
                shutil.rmtree(left)

    def test_a_full_disk_is_told_in_a_line_of_hdf5_too(self):
        self.save("X.npy", np.arange(12.0).reshape(6, 2))
        self.save("y.npy", np.arange(6.0))
        job = ("train", "X.npy", "--labels", "y.npy", "--net", "dense 1", "--epochs", "1")
        if json.loads(self.succeed(0, "info", "--json"))["hdf5"] is None:
            return
        for ranks in (0, 2):
            result = self.run_on_small_disk(1, ranks, *job, "-o", "small/net.h5", taken=4096)
            self.assertEqual(result.status, 1, result.stderr)
            self.assertRegex(result.errors[0], "^plait: error: small/net.h5: .*: No space left on device$")
            self.assertNotIn("errno", result.stderr)

    def test_a_page_and_a_trace_never_cost_the_result(self):
        self.save("C.npy", np.ones((8, 8)) + np.arange(64.0).reshape(8, 8) / 100)
        self.save("H.npy", np.diag(np.arange(20.0)))
        jobs = (
            ("sinkhorn", "C.npy"),
            ("transport", "C.npy", "--epsilon", "0.5"),
            ("purify", "H.npy", "--electrons", "20"),
        )
        left = self.folder / "left"
        for ranks in (0, 2):
            for job in jobs:
                with self.subTest(job[0], ranks=ranks):
                    for option, name in (("--report", "small/it.html"), ("--trace", "small/it.json")):
                        result = self.run_on_small_disk(1, ranks, *job, "-o", "P.npy", option, name, taken=4096)
                        self.assertEqual((result.status, result.errors), (0, []), result.stderr)
                        self.assertEqual(len(self.warnings(result)), 1, result.stderr)
                        self.assertIn(name, self.warnings(result)[0])
                        self.assertNotIn(name, result.stdout)
                        self.load("P.npy")
                        (self.folder / "P.npy").unlink()
                        self.assertEqual([path.name for path in left.iterdir()], ["taken"])
                        shutil.rmtree(left)
