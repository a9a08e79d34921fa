"""A job that is killed in the middle of writing leaves the old output as it was."""

import contextlib
import os
import signal
from pathlib import Path

import numpy as np
from harness import CommandTest


class Kill(CommandTest):
    def ranks_of_job(self, ranks: int) -> list[int]:
        """The processes, once all are there; under Open MPI they are no group."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                words = (path / "cmdline").read_bytes().split(b"\0")
                if words[0] == self.plait.encode() and (path / "cwd").resolve() == self.folder.resolve():
                    found.append(int(path.name))
        return found if len(found) == ranks else []

    def killed_while_it_writes(self, ranks: int) -> list[Path]:
        """The temporary files; none where the job was done before it could be killed."""
        process = self.start_session(ranks, "redistribute", "B.npy", "-o", "A.npy", "--op", "transpose", "--quiet")
        job = self.wait_until(lambda: self.ranks_of_job(max(1, ranks)), process)
        aside = self.wait_until(self.aside_file_with_room, process)
        for pid in job or []:
            with contextlib.suppress(ProcessLookupError):  # its launcher has ended it
                os.kill(pid, signal.SIGKILL)
        status = process.wait()
        self.end_ranks()  # a launcher may end before a rank that was killed in the midst of a call to the kernel
        return aside if status != 0 else []

    def test_the_old_output_survives(self):
        self.save("B.npy", np.zeros((4000, 4000)))
        old = self.save("A.npy", np.arange(12.0).reshape(3, 4))
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                while not (aside := self.killed_while_it_writes(ranks)):
                    self.save("A.npy", old)
                np.testing.assert_array_equal(self.load("A.npy"), old)
                # Where the launcher had no time to remove it, the next job does.
                self.run_plait(0, "generate", "2x2", "-o", "other.npy")
                self.assertEqual([path.name for path in aside if path.exists()], [])
