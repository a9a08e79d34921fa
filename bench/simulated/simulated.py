"""Runs plait's schedules on a network that SimGrid simulates: ranks are coroutines of one process, the time is computed.

What it tells is the model's: volume, latency and contention of links, no cost of software and none of computing. Results
are labelled "simulated".
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Of SimGrid: nothing takes time but the network, whose links give what they are rated at, in both directions at once.
SETTINGS = [
    "smpi/simulate-computation:0",
    "network/crosstraffic:0",
    "smpi/test:0",
    "smpi/grow-injected-times:0",
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
    "smpi/send-is-detached-thresh:4096",  # longer sends end when the message has come, so that windows count them
]
LINKS = {"switch": 2, "fat-tree": 4}  # that a message passes, at most
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
OPERATIONS = ["reduce", "broadcast", "allreduce", "reduce-broadcast", "mat-vec"]
SQUARE_CUBES = ["algorithm-3", "algorithm-4", "algorithm-5", "algorithm-6", "own"]
RATES = {"mbit": 1e6, "gbit": 1e9}


def byte_count(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}', expected a number above 0 such as 64K or 16M")
    return int(match[1]) * UNITS[match[2]]


def bits_per_second(text: str) -> float:
    match = re.fullmatch(r"(\d+)(mbit|gbit)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}', expected a rate such as 100gbit")
    return int(match[1]) * RATES[match[2]]


def platform(topology: str, ranks: int, rate: float, latency: float, operations: float) -> str:
    """A cluster of hosts n0, n1, … with a core each: at one switch, or the leaves of a fat tree of 8 a switch."""
    links = f'bw="{rate / 8:.0f}Bps" lat="{latency:.9f}s" sharing_policy="SPLITDUPLEX"'
    hosts, tree = ranks, ""
    if topology == "fat-tree":
        leaves = -(-ranks // 8)
        hosts = 8 * leaves
        tree = f'topology="FAT_TREE" topo_parameters="2;8,{leaves};1,8;1,1"'
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-{hosts - 1}" speed="{operations:.0f}f" {links} {tree}/>
</platform>
"""


def words_of_job(arguments: argparse.Namespace) -> list:
    """What bench_simulated is told of the job."""
    if arguments.job == "collective":
        return ["collective", arguments.operation.replace("reduce-broadcast", "reduce>broadcast"),
                arguments.algorithm or "chosen", arguments.bytes, arguments.segment, arguments.strands,
                arguments.sends, int(arguments.check)]
    if arguments.job == "square-cube":
        return ["square-cube", arguments.algorithm or "own", arguments.backend, arguments.n or 7645, arguments.edge,
                arguments.layers, arguments.segment, arguments.strands]
    return ["scaling", arguments.form, arguments.way, arguments.meanwhile, arguments.n or 61440, arguments.memory * 1e9]


def quick_communicators(arguments: argparse.Namespace) -> list[str]:
    """To make a communicator takes a broadcast, and those of the selectors (but default) first look up which rank is
    where, in a time that grows with the third power of the ranks: 9 s for 512 of them, hours for 4096."""
    broadcasts = arguments.job == "collective" and arguments.operation not in ["reduce", "allreduce"]
    is_wanted = broadcasts and arguments.algorithm == "library" or (
        arguments.job == "square-cube" and arguments.algorithm in ["algorithm-3", "algorithm-4"])
    return [] if is_wanted else ["--cfg=smpi/bcast:binomial_tree"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulated", description=__doc__.splitlines()[0])
    parser.add_argument("--smpirun", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("job", nargs="?", choices=["collective", "square-cube", "scaling"], default="collective")
    parser.add_argument("--ranks", type=int, default=64, help="how many, each on a host of its own (default 64)")
    parser.add_argument("--rate", type=bits_per_second, default="100gbit", help="of a link (default 100gbit)")
    parser.add_argument("--latency", type=float, default=1e-6, help="of a link, in seconds (default 1e-6)")
    parser.add_argument("--topology", choices=["switch", "fat-tree"], default="fat-tree")
    parser.add_argument("--gigaflops", type=float, default=1560, help="of a rank's products of matrices (default 1560)")
    parser.add_argument("--selector", choices=["ompi", "mpich", "mvapich2", "impi", "default"], default="ompi",
                        help="like which MPI the library's own collectives choose (default ompi)")
    algorithm = ("of a collective operation: one of plait's, chosen by its model, or library, SMPI's own, blocking "
                 f"(default chosen); of squares and cubes: {', '.join(SQUARE_CUBES)} (default own)")
    parser.add_argument("--algorithm", help=algorithm)
    parser.add_argument("--segment", type=byte_count, default=0, help="of a message (default: chosen)")
    parser.add_argument("--strands", type=int, default=0, help="how many (default: chosen)")
    parser.add_argument("--verbose", action="store_true", help="show what SimGrid says")

    group = parser.add_argument_group("collective")
    group.add_argument("--operation", choices=OPERATIONS, default="broadcast")
    group.add_argument("--bytes", type=byte_count, default="16M", help="of the operation (default 16M)")
    group.add_argument("--sends", type=int, default=2, help="how many messages a rank has under way (default 2)")
    group.add_argument("--check", action="store_true", help="give ranks memory of their own, and compare the data")

    group = parser.add_argument_group("square-cube and scaling")
    group.add_argument("--n", type=int, help="rows and columns of the matrix (default 7645, and 61440 for scaling)")
    group.add_argument("--backend", choices=["plait", "mpi"], default="plait",
                       help="by which Algorithms 5 and 6 communicate (default plait)")
    group.add_argument("--edge", type=int, default=0, help="of the mesh (default: as long as there are ranks for)")
    group.add_argument("--layers", type=int, default=0, help="of Algorithm 6's mesh (default: chosen)")
    group.add_argument("--form", choices=["fused", "blocked"], default="fused",
                       help="of an iteration: one pass over the matrix, or Algorithm 3's two (default fused)")
    group.add_argument("--way", choices=["chosen", "mpi", "ring", "two-level", "coffee"], default="chosen",
                       help="in which columns are summed up over ranks (default chosen)")
    group.add_argument("--meanwhile", choices=["wait", "rescale"], default="wait")
    group.add_argument("--memory", type=float, default=100, help="GB/s of a rank's passes over its rows (default 100)")
    arguments = parser.parse_args()
    operations = arguments.gigaflops * 1e9

    with tempfile.TemporaryDirectory() as folder:
        xml, hosts = Path(folder, "platform.xml"), Path(folder, "hosts")
        xml.write_text(platform(arguments.topology, arguments.ranks, arguments.rate, arguments.latency, operations))
        hosts.write_text("".join(f"n{rank}\n" for rank in range(arguments.ranks)))
        # plait has no global state, so that ranks need no copies of it.
        command = [arguments.smpirun, "-no-privatize", "-np", arguments.ranks, "-platform", xml, "-hostfile", hosts]
        command += [f"--cfg={setting}" for setting in [*SETTINGS, f"smpi/coll-selector:{arguments.selector}"]]
        command += quick_communicators(arguments)
        command += [] if arguments.verbose else ["--log=root.thresh:critical"]
        command += [arguments.program, arguments.rate / 8, LINKS[arguments.topology] * arguments.latency, operations]
        command += words_of_job(arguments)
        return subprocess.run([str(word) for word in command], check=False, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
