"""However a cluster ends, nothing of it is left: no process, no namespace, no shared memory, no network device."""

import contextlib
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

from cluster_harness import ClusterTest

NAMESPACES = ("net", "uts", "ipc", "mnt", "pid")


def namespaces_of(process: Path) -> set[str]:
    found = set()
    for kind in NAMESPACES:
        with contextlib.suppress(OSError):  # it has ended, or is someone else's
            found.add(os.readlink(process / "ns" / kind))
    return found


def processes() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


class Leftovers(ClusterTest):
    def setUp(self):
        super().setUp()
        self.mark = f"plait-{uuid.uuid4().hex}"

    def marked(self) -> list[Path]:
        """The processes of this test's cluster, from the launcher to the ranks: the mark is in their environment."""
        found = []
        for process in processes():
            with contextlib.suppress(OSError):
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append(process)
        return found

    def start(self) -> subprocess.Popen:
        """A cluster whose ranks have made files in shared memory, and sleep."""
        script = 'touch "/dev/shm/$MARK" "ready.$(hostname).$$"; exec sleep 600'
        return subprocess.Popen(
            self.cluster("-k", "2", "--ppn", "2", "--", "sh", "-c", script), cwd=self.folder,
            env=os.environ | {"MARK": self.mark}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def expect_nothing_left(self, namespaces: set[str]) -> None:
        self.wait_until(lambda: not self.marked())
        for process in processes():
            self.assertFalse(namespaces_of(process) & namespaces, process)
        self.assertNotIn("nsfs", Path("/proc/self/mountinfo").read_text())  # a namespace can be kept by a mount
        self.assertFalse((Path("/dev/shm") / self.mark).exists())
        self.assertFalse((Path("/sys/class/net/switch")).exists())

    def end_by(self, number: signal.Signals) -> int:
        launcher = self.start()
        self.wait_until(lambda: len(list(self.folder.glob("ready.*"))) == 4)
        ours = namespaces_of(Path("/proc/self"))
        namespaces = set().union(*map(namespaces_of, self.marked())) - ours
        self.assertGreaterEqual(len(namespaces), 2 * (len(NAMESPACES) - 1))
        launcher.send_signal(number)
        status = launcher.wait()
        self.expect_nothing_left(namespaces)
        return status

    def test_after_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                for path in self.folder.glob("ready.*"):
                    path.unlink()
                self.assertEqual(self.end_by(number), 128 + number)

    def test_after_the_launcher_is_killed(self):
        self.assertEqual(self.end_by(signal.SIGKILL), -signal.SIGKILL)

    def test_after_the_launcher_is_killed_while_it_builds(self):
        for delay_seconds in (0.1, 0.2, 0.3):
            with self.subTest(delay_seconds):
                launcher = self.start()
                time.sleep(delay_seconds)
                launcher.kill()
                launcher.wait()
                self.expect_nothing_left(set())

    def test_after_the_command_has_ended(self):
        # What goes on in the background has closed all files: MPICH's launcher waits for them.
        script = """touch "/dev/shm/$MARK"
            for file in /proc/$$/fd/*; do eval "exec ${file##*/}>&-"; done
            sleep 600 &"""
        result = self.run_words(self.cluster("-k", "2", "--", "bash", "-c", script), {"MARK": self.mark})
        self.assertEqual(result.status, 0, result.stderr)
        self.expect_nothing_left(set())
