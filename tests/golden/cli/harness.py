"""What the tests of the command share: running it alone and under mpiexec, and looking at what it leaves behind."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TIME_LIMIT_SECONDS = 60
PROGRESS = re.compile(r"^plait: \d+\.\d s: .*\n", re.MULTILINE)
DTYPES = {
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}  # fmt: skip


@dataclass
class Result:
    status: int
    stdout: str
    stderr: str

    @property
    def errors(self) -> list[str]:
        """What plait itself complained about; launchers add words of their own."""
        return [line for line in self.stderr.splitlines() if line.startswith("plait: error: ")]


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, in which the command runs."""

    plait = ""  # set by run.py
    mpiexec = ""  # a program that takes the number of ranks, the program and its arguments
    family = ""

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="plait-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.folder = Path(folder)

    def run_words(self, words: list[str], environment: dict[str, str] | None = None) -> Result:
        """Runs a program in the test's folder; a whole session of processes, so that none is left when time is over."""
        process = subprocess.Popen(
            words, cwd=self.folder, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=TIME_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail(f"still running after {TIME_LIMIT_SECONDS} s: {' '.join(words)}")
        return Result(process.returncode, stdout, stderr)

    def words(self, ranks: int, *arguments: str) -> list[str]:
        """The command line; `ranks` 0 is without a launcher."""
        launch = [self.mpiexec, str(ranks)] if ranks > 0 else []
        return [*launch, self.plait, *arguments]

    def run_plait(self, ranks: int, *arguments: str) -> Result:
        return self.run_words(self.words(ranks, *arguments))

    def succeed(self, ranks: int, *arguments: str) -> str:
        """Runs the command, which has to succeed without a word on stderr but the progress that a job of more than two
        seconds tells, as any job is on a busy machine; returns what it printed."""
        result = self.run_plait(ranks, *arguments)
        told = PROGRESS.sub("", result.stderr)
        self.assertEqual((result.status, told), (0, ""), f"{' '.join(arguments)}\n{result.stdout}")
        return result.stdout

    def finish_despite_kills(self, ranks: int, checkpoint: str, *arguments: str) -> int:
        """Kills the command again and again, at random moments, until it comes to its end; returns how many times."""
        kills = 0
        begin = time.monotonic()
        random = np.random.default_rng()
        for attempt in range(60):
            process = subprocess.Popen(
                self.words(ranks, *arguments), cwd=self.folder, start_new_session=True, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                if attempt == 0:  # at least this once there is a checkpoint to go on from
                    while not (self.folder / checkpoint).exists() and process.poll() is None:
                        time.sleep(0.001)
                # Longer each time, so that it ends some time.
                status = process.wait(random.uniform(0, 0.2 + 0.25 * attempt) if attempt > 0 else 0)
                self.assertEqual(status, 0)
                break
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(TIME_LIMIT_SECONDS)
                self.end_ranks()
                kills += 1
            self.assertLess(time.monotonic() - begin, TIME_LIMIT_SECONDS)
        self.assertGreater(kills, 0)
        return kills

    def end_ranks(self) -> None:
        """Under Open MPI ranks are no part of the launcher's session, and outlive it for a moment."""
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while time.monotonic() < end:
            left = []
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    if words[0] == self.plait.encode() and (path / "cwd").resolve() == self.folder.resolve():
                        left.append(int(path.name))
                except OSError:  # it has ended
                    continue
            if not left:
                return
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        self.fail("ranks of a killed job are left")

    def save(self, name: str, matrix: np.ndarray) -> np.ndarray:
        np.save(self.folder / name, matrix)
        return matrix

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name, allow_pickle=False)

    def files(self) -> set[str]:
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*")}


def random_matrix(shape: tuple[int, int], dtype: str, seed: int) -> np.ndarray:
    """Any bits for integers, small numbers otherwise: sums of a few of them are exact."""
    random = np.random.default_rng(seed)
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iu":
        return random.integers(0, 256, size=(*shape, kind.itemsize), dtype="u1").view(kind)[..., 0]
    numbers = random.integers(-99, 99, size=shape)
    return (numbers + (1j * random.integers(-99, 99, size=shape) if kind.kind == "c" else 0)).astype(kind)
