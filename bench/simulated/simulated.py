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
OPERATIONS = ["reduce", "broadcast", "allreduce", "reduce-broadcast"]
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


def platform(topology: str, ranks: int, rate: float, latency: float) -> str:
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
  <cluster id="cluster" prefix="n" suffix="" radical="0-{hosts - 1}" speed="50Gf" {links} {tree}/>
</platform>
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulated", description=__doc__.splitlines()[0])
    parser.add_argument("--smpirun", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=64, help="how many, each on a host of its own (default 64)")
    parser.add_argument("--rate", type=bits_per_second, default="100gbit", help="of a link (default 100gbit)")
    parser.add_argument("--latency", type=float, default=1e-6, help="of a link, in seconds (default 1e-6)")
    parser.add_argument("--topology", choices=["switch", "fat-tree"], default="fat-tree")
    parser.add_argument("--operation", choices=OPERATIONS, default="broadcast")
    algorithm = "one of plait's, chosen by its model, or library: SMPI's own, blocking (default chosen)"
    parser.add_argument("--algorithm", default="chosen", help=algorithm)
    parser.add_argument("--selector", choices=["ompi", "mpich", "mvapich2", "impi", "default"], default="ompi",
                        help="like which MPI the library's own collectives choose (default ompi)")
    parser.add_argument("--bytes", type=byte_count, default="16M", help="of the operation (default 16M)")
    parser.add_argument("--segment", type=byte_count, default=0, help="of a message (default: chosen)")
    parser.add_argument("--strands", type=int, default=0, help="how many (default: chosen)")
    parser.add_argument("--sends", type=int, default=2, help="how many messages a rank has under way (default 2)")
    parser.add_argument("--check", action="store_true", help="give ranks memory of their own, and compare the data")
    parser.add_argument("--verbose", action="store_true", help="show what SimGrid says")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        xml, hosts = Path(folder, "platform.xml"), Path(folder, "hosts")
        xml.write_text(platform(arguments.topology, arguments.ranks, arguments.rate, arguments.latency))
        hosts.write_text("".join(f"n{rank}\n" for rank in range(arguments.ranks)))
        # plait has no global state, so that ranks need no copies of it.
        command = [arguments.smpirun, "-no-privatize", "-np", arguments.ranks, "-platform", xml, "-hostfile", hosts]
        command += [f"--cfg={setting}" for setting in [*SETTINGS, f"smpi/coll-selector:{arguments.selector}"]]
        command += [] if arguments.verbose else ["--log=root.thresh:critical"]
        command += [arguments.program, arguments.operation.replace("-", ">"), arguments.algorithm, arguments.bytes]
        command += [arguments.segment, arguments.strands, arguments.sends, arguments.rate / 8]
        command += [LINKS[arguments.topology] * arguments.latency, int(arguments.check)]
        return subprocess.run([str(word) for word in command], check=False, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
