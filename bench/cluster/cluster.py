"""The launcher of the emulated cluster, run by build/<preset>/bin/cluster and by ./dev cluster."""

import argparse
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import isolation
from inside import CANNOT_BUILD
from launch import LAUNCHERS
from settings import MOST_NODES, MOST_RANKS_PER_NODE, Settings, bits_per_second, count_up_to

USAGE = "./dev cluster [--mpi openmpi|mpich] [-k K] [-r RATE] [--ppn P] (--check | -- COMMAND ...)"
HELP = """\
Runs COMMAND under MPI on an emulated cluster: K nodes with hostnames, shared memory and links of their own, joined by a
switch, on this machine's cores. Ranks are dealt to the nodes in order. All of it is gone once the command has ended.

Needs root, or user namespaces; iproute2. What it can tell and what it can't: docs/cluster.md.
"""
EPILOG = f"""\
examples:
  ./dev cluster -k 4 -r 1gbit -- build/openmpi/bin/plait redistribute B.npy -o A.npy --op transpose
  ./dev cluster -k 2 --ppn 2 -r 200mbit --check

The exit status is that of COMMAND, 2 after a mistake in the options, {CANNOT_BUILD} if the cluster can't be made here.
PLAIT_IDLE_MICROSECONDS is how long a rank with nothing to do sleeps at a time: 20 if it is not set.
"""


def parsed(arguments: list[str]) -> argparse.Namespace:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        prog="cluster", usage=USAGE, description=HELP, epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip

    def of_type(parse):
        def checked(text: str) -> int:
            try:
                return parse(text)
            except ValueError as error:
                raise argparse.ArgumentTypeError(str(error)) from error

        return checked

    add = parser.add_argument
    add("-k", "--nodes", metavar="K", type=of_type(count_up_to(MOST_NODES)), default=2, help="nodes (2)")
    rate_help = "of every link, in each direction, as tc has it (1gbit)"
    add("-r", "--rate", type=of_type(bits_per_second), default="1gbit", help=rate_help)
    add("--ppn", metavar="P", type=of_type(count_up_to(MOST_RANKS_PER_NODE)), default=1, help="ranks per node (1)")
    add("--check", action="store_true", help="check how the ranks are grouped, and time messages against the rate")
    add("--family", choices=list(LAUNCHERS), help=argparse.SUPPRESS)
    for hidden in ("--mpiexec", "--preload", "--check-program"):
        add(hidden, default="", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments[:end])
    options.command = arguments[end + 1 :]
    if options.check == bool(options.command):
        parser.error("--check takes no command" if options.check else "no command is given; it comes after --")
    if options.check:
        expected = [options.nodes, options.ppn, options.rate]
        options.command = [options.check_program, *map(str, expected)]
    return options


def main() -> int:
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's has much to say
    options = parsed(sys.argv[1:])
    settings = Settings(
        nodes=options.nodes, ranks_per_node=options.ppn, rate=options.rate, family=options.family,
        mpiexec=options.mpiexec, preload=options.preload, command=options.command,
    )  # fmt: skip
    try:
        way = isolation.find_way()
    except isolation.Impossible as reason:
        print(f"cluster: error: {reason}", file=sys.stderr)
        return CANNOT_BUILD
    inside = str(Path(__file__).resolve().with_name("inside.py"))
    return isolation.run_isolated(way, [sys.executable, "-B", inside, json.dumps(asdict(settings))])


if __name__ == "__main__":
    sys.exit(main())
