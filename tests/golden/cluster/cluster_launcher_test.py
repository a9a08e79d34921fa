"""What the launcher does with its command line, and what a command meets on the nodes."""

import subprocess
from dataclasses import dataclass

from cluster_harness import ClusterTest

USAGE = 2


@dataclass
class Mistake:
    name: str
    arguments: tuple[str, ...]
    message: str


MISTAKES = [
    Mistake("no nodes", ("-k", "0", "--check"), "-k/--nodes: '0' is not a whole number from 1 to 200"),
    Mistake("half a node", ("-k", "1.5", "--check"), "-k/--nodes: '1.5' is not a whole number"),
    Mistake("too many nodes", ("-k", "201", "--check"), "-k/--nodes: '201' is not a whole number from 1 to 200"),
    Mistake("no ranks", ("--ppn", "none", "--check"), "--ppn: 'none' is not a whole number from 1 to 128"),
    Mistake("no unit", ("-r", "1000", "--check"), "-r/--rate: '1000' is not a rate from 1mbit to 100gbit"),
    Mistake("bytes", ("-r", "100mbps", "--check"), "-r/--rate: '100mbps' is not a rate"),
    Mistake("too slow", ("-r", "0.5mbit", "--check"), "-r/--rate: '0.5mbit' is not a rate from 1mbit"),
    Mistake("no command", ("-k", "2"), "no command is given; it comes after --"),
    Mistake("nothing after --", ("-k", "2", "--"), "no command is given; it comes after --"),
    Mistake("no --", ("-k", "2", "hostname"), "unrecognized arguments: hostname"),
    Mistake("check of a command", ("--check", "--", "hostname"), "--check takes no command"),
]


class Launcher(ClusterTest):
    def run_on(self, nodes: int, ranks_per_node: int, *command: str) -> tuple[int, str]:
        result = self.run_words(self.cluster("-k", str(nodes), "--ppn", str(ranks_per_node), "--", *command))
        return result.status, result.stdout

    def test_mistakes_in_the_options(self):
        for mistake in MISTAKES:
            with self.subTest(mistake.name):
                result = self.run_words(self.cluster(*mistake.arguments))
                self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)
                self.assertIn(mistake.message, result.stderr)

    def test_help_tells_the_options(self):
        result = self.run_words(self.cluster("--help"))
        self.assertEqual((result.status, result.stderr), (0, ""))
        for option in ("--mpi", "-k", "-r", "--ppn", "--check"):
            self.assertIn(option, result.stdout)

    def test_a_command_gets_its_arguments_folder_and_environment(self):
        script = self.folder / "a script"
        # In one write, or the lines of the two ranks could mix.
        script.write_text("""#!/bin/sh
            words=$(printf '<%s>' "$PWD" "$PLAIT_SOME_SETTING" "$@")
            printf '%s\\n' "$words"
            """)
        script.chmod(0o755)
        words = ["one two", "", "$HOME", "a'b\"c", "--check", "--", "*"]
        result = self.run_words(self.cluster("-k", "2", "--", "./a script", *words), {"PLAIT_SOME_SETTING": "x  y"})
        self.assertEqual(result.status, 0, result.stderr)
        expected = "".join(f"<{word}>" for word in [str(self.folder), "x  y", *words])
        self.assertEqual(result.stdout.splitlines(), [expected] * 2)

    def test_a_command_is_told_the_rate_of_its_links(self):
        command = ["sh", "-c", 'echo "$PLAIT_CLUSTER_RATE"']
        result = self.run_words(self.cluster("-k", "2", "-r", "2.5gbit", "--", *command))
        self.assertEqual((result.status, result.stdout.splitlines()), (0, ["2500000000"] * 2), result.stderr)

    def test_the_exit_status_is_the_commands(self):
        self.assertEqual(self.run_on(2, 1, "sh", "-c", "exit 0")[0], 0)
        self.assertEqual(self.run_on(1, 1, "sh", "-c", "exit 7")[0], 7)

    def test_every_node_has_a_hostname_and_shared_memory_of_its_own(self):
        script = """touch "/dev/shm/plait-$(hostname).$$" "ready.$(hostname).$$"
            until [ "$(ls | grep -c ^ready)" = 6 ]; do sleep 0.01; done
            echo $(hostname) $(ls /dev/shm | grep -c ^plait-n)"""
        status, output = self.run_on(3, 2, "sh", "-c", script)
        self.assertEqual((status, sorted(output.splitlines())), (0, [f"n{node} 2" for node in (0, 0, 1, 1, 2, 2)]))

    def test_a_node_sees_its_own_network_only(self):
        status, output = self.run_on(2, 1, "sh", "-c", "echo $(ls /sys/class/net)")
        self.assertEqual((status, output.splitlines()), (0, ["eth0 lo"] * 2))

    def test_two_clusters_at_once_do_not_meet(self):
        words = self.cluster("-k", "2", "--", "sh", "-c", "sleep 1; hostname")
        both = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            output, _ = process.communicate()
            self.assertEqual((process.returncode, sorted(output.splitlines())), (0, ["n0", "n1"]))
