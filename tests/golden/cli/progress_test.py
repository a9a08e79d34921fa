"""How far a job is: a bar on the terminal that it is called from, with a launcher or without; else lines."""

import fcntl
import os
import subprocess
import termios
import threading

import numpy as np
from harness import CommandTest


class Progress(CommandTest):
    def on_terminal(self, words: list[str], in_foreground: bool = True, kind: str = "xterm", **streams) -> str:
        """What is drawn on a terminal of this kind of whose foreground the job is part, or is not."""
        terminal, end = os.openpty()
        drawn = []

        def collect() -> None:
            try:
                while part := os.read(terminal, 65536):
                    drawn.append(part)
            except OSError:  # nobody has it open any more
                pass

        def take_terminal() -> None:
            fcntl.ioctl(end, termios.TIOCSCTTY, 0)
            if in_foreground:
                return
            if os.fork() > 0:
                os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
            os.setpgid(0, 0)

        reader = threading.Thread(target=collect)
        reader.start()
        try:
            process = subprocess.run(
                words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=take_terminal, check=False, env=os.environ | {"TERM": kind}, **({"stderr": end} | streams),
            )  # fmt: skip
        finally:
            os.close(end)
            reader.join()
            os.close(terminal)
        self.assertEqual(process.returncode, 0)
        return b"".join(drawn).decode()

    def job(self, ranks: int) -> list[str]:
        self.save("B.npy", np.ones((60, 40)))
        return self.words(ranks, "redistribute", "B.npy", "-o", "A.npy", "--progress")

    def test_the_bar_is_drawn_on_the_terminal_of_the_launcher(self):
        for ranks in (0, 1, 3):
            with self.subTest(ranks=ranks):
                drawn = self.on_terminal(self.job(ranks))
                self.assertRegex(drawn, r"\r\[=* *\] +\d+ %  reading B.npy  0 s")
                self.assertEqual(drawn.count("\r\x1b[K"), 1)
                self.assertNotIn("plait: 0.", drawn)

    def test_there_are_lines_where_stderr_is_a_file(self):
        for ranks in (0, 2):
            with self.subTest(ranks=ranks), open(self.folder / "log", "wb") as log:
                self.assertEqual(self.on_terminal(self.job(ranks), stderr=log), "")
                self.assertRegex((self.folder / "log").read_text(), r"(?m)^plait: \d+\.\d s: reading B.npy, 19.2 kB$")

    def test_there_are_lines_where_the_launcher_is_in_the_background(self):
        drawn = self.on_terminal(self.job(2), in_foreground=False)
        self.assertNotIn("\x1b[?7l", drawn)
        self.assertRegex(drawn, r"(?m)^plait: \d+\.\d s: reading B.npy, 19.2 kB\r?$")

    def test_there_are_lines_on_a_terminal_that_knows_no_control_sequences(self):
        for ranks in (0, 2):
            drawn = self.on_terminal(self.job(ranks), kind="dumb")
            self.assertNotIn("\x1b", drawn)
            self.assertRegex(drawn, r"(?m)^plait: \d+\.\d s: reading B.npy, 19.2 kB\r?$")
