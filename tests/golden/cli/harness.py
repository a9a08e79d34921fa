"""What the tests of the command share: running it alone and under mpiexec, and looking at what it leaves behind."""

import contextlib
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

PROGRESS = re.compile(r"^plait: \d+\.\d s: .*\n", re.MULTILINE)
# What ranks say that crash in MPI_Finalize, which costs no result: the C library, then the command.
CRASH_OF_FINALIZE = re.compile(r"^(?:(?:malloc|free|realloc|munmap|corrupted|double free)[^\n]*\n)*plait: MPI crashed as it cleaned up [^\n]*\n", re.MULTILINE)
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


def alike_with_every_mpi(test):
    """Marks a test of what knows nothing of the MPI: options, words, files, pages, and numbers that the tests of the library
    find with every MPI. `./dev test` with several MPIs runs it with the last one."""
    test.is_alike = True
    return test


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, in which the command runs."""

    plait = ""  # set by run.py
    mpiexec = ""  # a program that takes the number of ranks, the program and its arguments
    family = ""
    maxDiff = None  # what a rank says when it crashes is all that tells of a crash that is rare

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="plait-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.folder = Path(folder)

    def run_words(self, words: list[str], environment: dict[str, str] | None = None) -> Result:
        """Runs a program in the test's folder. The job that the tests are part of sees to its end: see tests/support."""
        done = subprocess.run(
            words, cwd=self.folder, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", check=False, start_new_session=True,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, CRASH_OF_FINALIZE.sub("", done.stderr))

    @staticmethod
    def wait_until(condition, process: subprocess.Popen | None = None):
        """What the condition gives, once that is true; None if the process, where one is given, ends before."""
        while not (found := condition()):
            if process is not None and process.poll() is not None:
                return None
            time.sleep(0.002)
        return found

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
        """Kills the command three times at most, at random moments after it has written a checkpoint, and lets it come
        to its end; returns how many times, at least once."""
        path = self.folder / checkpoint
        random = np.random.default_rng()

        def written() -> int:
            return path.stat().st_mtime_ns if path.exists() else 0

        kills = 0
        while True:
            before = written()
            process = self.start_session(ranks, *arguments)
            if kills < 3 and self.wait_until(lambda: written() not in (0, before), process):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(random.uniform(0, 0.05))
                if process.poll() is None:
                    self.kill_session(process)
                    kills += 1
                    continue
            status = process.wait()
            self.told.seek(0)
            self.assertEqual(status, 0, f"after {kills} kills: {self.told.read()}")
            if kills > 0:
                return kills

    def take_checkpoint(self, name: str) -> bool:
        """Removes a checkpoint, and whether it was whole."""
        files = {name, f"{name}.a.npy", f"{name}.b.npy"} & self.files()
        for path in files:
            (self.folder / path).unlink()
        return name in files and len(files) > 1

    def start_session(self, ranks: int, *arguments: str) -> subprocess.Popen:
        """Starts the command and returns at once; `told` is the file that has its stderr."""
        self.told = tempfile.TemporaryFile("w+", errors="replace")
        self.addCleanup(self.told.close)
        return subprocess.Popen(
            self.words(ranks, *arguments), cwd=self.folder, start_new_session=True, stdout=subprocess.DEVNULL,
            stderr=self.told, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def kill_session(self, process: subprocess.Popen) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.end_ranks()

    def end_ranks(self) -> None:
        """Under Open MPI ranks are no part of the launcher's session, and outlive it for a moment."""
        while True:
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

    def aside_file_with_room(self) -> list[Path]:
        """The temporary file, once it is being written and not merely tried for whether it can be."""
        return [path for path in self.folder.glob("*.tmp-*") if self.size_of(path) > 0]

    @staticmethod
    def size_of(path: Path) -> int:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0

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
