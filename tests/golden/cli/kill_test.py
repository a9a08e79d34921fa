"""A job that is killed in the middle of writing leaves the old output as it was."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from harness import TIME_LIMIT_SECONDS, CommandTest


class Kill(CommandTest):
    def wait_for(self, what: str, condition, process: subprocess.Popen):
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while time.monotonic() < end:
            if found := condition():
                return found
            if process.poll() is not None:
                self.fail(f"the job ended before {what}")
        self.fail(f"no {what} within {TIME_LIMIT_SECONDS} s")

    def wait_for_end(self, pids: list[int]):
        """A launcher may end before a rank that was killed in the midst of a call to the kernel."""
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while not all(self.has_ended(pid) for pid in pids):
            self.assertLess(time.monotonic(), end, f"one of {pids} lives on")
            time.sleep(0.01)

    @staticmethod
    def has_ended(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:  # its number is free again
            return True

    def aside_file_with_room(self) -> list[Path]:
        """The temporary file, once it is being written and not merely tried for whether it can be."""
        return [path for path in self.folder.glob("A.npy.tmp-*") if self.size_of(path) > 0]

    @staticmethod
    def size_of(path: Path) -> int:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0

    def ranks_of_job(self, ranks: int) -> list[int]:
        """The processes, once all are there; under Open MPI they are no group."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                words = (path / "cmdline").read_bytes().split(b"\0")
                if words[0] == self.plait.encode() and (path / "cwd").resolve() == self.folder.resolve():
                    found.append(int(path.name))
        return found if len(found) == ranks else []

    def test_the_old_output_survives(self):
        self.save("B.npy", np.zeros((4000, 4000)))
        old = self.save("A.npy", np.arange(12.0).reshape(3, 4))
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                process = subprocess.Popen(
                    self.words(ranks, "redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--quiet"),
                    cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                )  # fmt: skip
                job = self.wait_for("ranks", lambda: self.ranks_of_job(max(1, ranks)), process)
                aside = self.wait_for("temporary file", self.aside_file_with_room, process)
                for pid in job:
                    with contextlib.suppress(ProcessLookupError):  # its launcher has ended it
                        os.kill(pid, signal.SIGKILL)
                self.assertNotEqual(process.wait(TIME_LIMIT_SECONDS), 0)
                self.wait_for_end(job)
                np.testing.assert_array_equal(self.load("A.npy"), old)
                # Where the launcher had no time to remove it, the next job does.
                self.run_plait(0, "generate", "2x2", "-o", "other.npy")
                self.assertEqual([path.name for path in aside if path.exists()], [])
