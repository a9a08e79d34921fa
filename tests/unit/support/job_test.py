"""job_test.py JOB: nothing of a job is left, however it ends; and its limit does not depend on who else wants the cores."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import uuid
from pathlib import Path

# Processes that have a session of their own and whose parent has ended are hard to find for a launcher.
DAEMON = "(setsid sleep 6000 >/dev/null 2>&1 &); "
SPIN = "while :; do :; done"


class Job(unittest.TestCase):
    job = ""

    def setUp(self):
        self.mark = f"plait-{uuid.uuid4().hex}"
        # As of a job that is not part of another one.
        self.environment = {k: v for k, v in os.environ.items() if k != "PLAIT_TEST_FOLDER"} | {"MARK": self.mark}

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_of(self, *words: str) -> tuple[int, str, str]:
        with self.start(self.job, *words) as process:
            output, errors = process.communicate()
        return process.returncode, output, errors

    def left(self) -> list[str]:
        """The processes that have the mark in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append(process.name)
        return found

    def kill_what_is_left(self) -> None:
        while processes := self.left():
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    def wait_until_none_is_left(self) -> None:
        while self.left():
            time.sleep(0.01)

    def test_the_exit_status_is_that_of_the_command(self):
        for status in (0, 1, 77):
            self.assertEqual(self.end_of("sh", "-c", f"exit {status}"), (status, "", ""))
        self.assertEqual(self.end_of("sh", "-c", "kill -SEGV $$"), (-signal.SIGSEGV, "", ""))
        status, _, errors = self.end_of("/no/such/command")
        self.assertEqual((status, errors), (127, "job: /no/such/command: No such file or directory\n"))
        for words in (), ("--limit", "0", "true"), ("--limit", "5"):
            self.assertEqual(self.end_of(*words)[0], 2, words)

    def test_what_the_command_has_left_running_is_killed_and_told(self):
        for own, expected in ((0, 98), (7, 7)):
            with self.subTest(own):
                status, _, errors = self.end_of("sh", "-c", f"{DAEMON} exit {own}")
                self.assertEqual(self.left(), [])
                self.assertEqual(status, expected)
                self.assertRegex(
                    errors, r"^job: sh has ended without these, which are killed:\njob:   \d+, .*: sleep 6000 \n$"
                )

    def test_what_ends_by_itself_is_waited_for(self):
        self.assertEqual(self.end_of("sh", "-c", "(setsid sleep 0.3 &)"), (0, "", ""))

    def test_after_the_limit_all_is_killed_and_told(self):
        stubborn = f"trap '' TERM; {DAEMON} setsid sh -c \"trap '' TERM; sleep 6000; :\"; :"
        status, _, errors = self.end_of("--limit", "1", "sh", "-c", stubborn)
        self.assertEqual(self.left(), [])
        self.assertEqual(status, 124)
        self.assertTrue(errors.startswith("job: sh has run for 1000 ms, and is ended:\n"), errors)
        self.assertEqual(len(re.findall(r"^job:   \d+, .*: sleep 6000 $", errors, re.M)), 2, errors)

    def test_the_limit_is_one_of_time_with_a_core(self):
        others = [self.start("sh", "-c", SPIN) for _ in range(4 * os.cpu_count())]
        try:
            process = self.start(self.job, "--limit", "0.4", "sh", "-c", SPIN)
            _, status, used = os.wait4(process.pid, 0)
            process.communicate()
        finally:
            for other in others:
                other.kill()
                other.communicate()
        self.assertEqual(os.waitstatus_to_exitcode(status), 124)
        self.assertGreater(used.ru_utime + used.ru_stime, 0.2)  # were it one of time, a fourth or less

    def test_all_ends_with_the_process_that_has_started_the_job(self):
        for killed in ("parent", "job"):
            with self.subTest(killed):
                # What outlives the job must not hold the pipes that are read to their end below.
                command = f"echo \\$PPID $TMPDIR; {DAEMON} sleep 6000 >/dev/null 2>&1"
                parent = self.start("sh", "-c", f'"$0" sh -c "{command}"; :', self.job)
                job = int(parent.stdout.readline().split()[0])
                os.kill(parent.pid if killed == "parent" else job, signal.SIGKILL)
                parent.communicate()
                if killed == "job":  # which can't see to the rest any more, nor to what that has yet to start
                    self.kill_what_is_left()
                self.wait_until_none_is_left()

    def test_temporary_files_and_shared_memory_are_removed(self):
        script = 'touch "$TMPDIR/a"; mkdir "$TMPDIR/b"; touch "$PLAIT_TEST_SHARED_MEMORY/a"; cd "$TMPDIR"; pwd; '
        script += f'echo "$PLAIT_TEST_SHARED_MEMORY"; "$0" sh -c \'echo "$TMPDIR"\'; {DAEMON} kill -KILL $$'
        status, output, _ = self.end_of("sh", "-c", script, self.job)
        self.assertEqual(status, -signal.SIGKILL)
        files, shared_memory, files_of_inner_job = output.split()
        self.assertEqual(files_of_inner_job, files)
        self.assertFalse(Path(files).exists())
        self.assertTrue(shared_memory.startswith("/dev/shm/"), shared_memory)
        self.assertFalse(Path(shared_memory).exists())

    def test_signals_come_to_the_command(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(number.name):
                script = f"trap 'exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.01; done"
                with self.start(self.job, "sh", "-c", script) as process:
                    process.stdout.readline()
                    process.send_signal(number)
                    process.communicate()
                self.assertEqual((process.returncode, self.left()), (9, []))


if __name__ == "__main__":
    Job.job = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
