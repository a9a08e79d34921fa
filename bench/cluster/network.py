"""The nodes and the switch between them, built inside of the private namespaces.

A node is a network, UTS, IPC and mount namespace: an address, a hostname, shared memory that no other node sees. Its
link, a pair of virtual devices, ends at a bridge; both ends are shaped, so that a node neither sends nor receives
faster. The head, where mpiexec runs, is at the same bridge, with a link that is not shaped.
"""

import subprocess
from pathlib import Path

import tools

SUBNET = "10.77.0.0/24"
SWITCH = "switch"
HEAD_ADDRESS = "10.77.0.254"
JUMBO_FRAME = 9000  # bytes; fewer packets for the few cores that emulate everything
STATE = Path("/dev/shm/cluster")  # the head's own; node_shell.sh finds the nodes' processes there

# The first process of a node. sysfs shows the devices of the network namespace it was mounted in, and UCX looks there.
NODE = """set -e
hostname "$1"
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t sysfs sysfs /sys
echo 0 2>/dev/null >/proc/sys/net/ipv4/tcp_slow_start_after_idle || true  # ranks that computed for a while
echo ready
exec sleep infinity >/dev/null
"""


def name_of(node: int) -> str:
    return f"n{node}"


def address_of(node: int) -> str:
    return f"10.77.0.{node + 1}"


def build(nodes: int, rate: int) -> None:
    """`rate` is in bits per second."""
    build_head(nodes)
    processes = [start_node(name_of(node)) for node in range(nodes)]
    for node, process in enumerate(processes):
        connect(node, wait_until_ready(node, process), rate)


def build_head(nodes: int) -> None:
    tools.run("hostname", "head")
    tools.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")
    STATE.mkdir()
    hosts = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} head", *(f"{address_of(i)} {name_of(i)}" for i in range(nodes))]
    (STATE / "hosts").write_text("\n".join(hosts) + "\n")
    tools.run("mount", "--bind", str(STATE / "hosts"), "/etc/hosts")
    commands = [
        "link set lo up",
        f"link add {SWITCH} type bridge stp_state 0 forward_delay 0",
        f"link set {SWITCH} mtu {JUMBO_FRAME} up",
        f"addr add {HEAD_ADDRESS}/24 dev {SWITCH}",
    ]
    tools.run("ip", "-batch", "-", lines=commands)


def start_node(name: str) -> subprocess.Popen:
    namespaces = ["--net", "--uts", "--ipc", "--mount"]
    return subprocess.Popen(
        [tools.path_of("unshare"), *namespaces, "sh", "-c", NODE, "sh", name], env={"PATH": tools.PATH},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_until_ready(node: int, process: subprocess.Popen) -> int:
    """The node's process, by whose number its namespaces are entered."""
    if process.stdout.readline() != "ready\n":
        raise tools.Failed(f"node {name_of(node)}: {process.stderr.read().strip()}")
    (STATE / name_of(node)).write_text(f"{process.pid}\n")
    return process.pid


def connect(node: int, process: int, rate: int) -> None:
    port = f"port{node}"
    tools.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(process))
    tools.run("ip", "link", "set", port, "mtu", str(JUMBO_FRAME), "master", SWITCH, "up")
    inside = ["nsenter", f"--target={process}", "--net"]
    commands = [
        "link set lo up",
        f"link set eth0 mtu {JUMBO_FRAME} up",
        f"addr add {address_of(node)}/24 dev eth0",
    ]
    tools.run(*inside, tools.path_of("ip"), "-batch", "-", lines=commands)
    tools.run(*inside, tools.path_of("tc"), "-batch", "-", lines=shaping("eth0", rate))
    tools.run("tc", "-batch", "-", lines=shaping(port, rate))


def shaping(device: str, rate: int) -> list[str]:
    """Commands of `tc` that let a device send `rate` bits per second.

    Small packets, such as TCP's acknowledgements, overtake the queue of large ones: behind them, the traffic of one
    direction would slow down that of the other, which full-duplex links don't do.
    """
    # The bucket takes at least one packet as TCP hands it over, of up to 64 KB; half a millisecond's worth, for the
    # kernel's timers, if that is more.
    bucket = max(70_000, rate // 8 // 2000)
    queue = max(4_000_000, rate // 8 // 50)  # bytes; deep enough that TCP hardly ever loses a packet
    buckets = f"burst {bucket} cburst {bucket} quantum 60000"
    add = f"dev {device} parent"
    return [
        f"qdisc add dev {device} root handle 1: htb default 3",
        f"class add {add} 1: classid 1:1 htb rate {rate}bit {buckets}",
        # Both may use the whole rate when the other does not; their shares add up to it.
        f"class add {add} 1:1 classid 1:2 htb rate {rate // 10}bit ceil {rate}bit prio 0 {buckets}",
        f"class add {add} 1:1 classid 1:3 htb rate {rate - rate // 10}bit ceil {rate}bit prio 1 {buckets}",
        f"qdisc add {add} 1:2 bfifo limit {queue}",
        f"qdisc add {add} 1:3 bfifo limit {queue}",
        # Less than 128 bytes by the length in the header of IPv4.
        f"filter add {add} 1: protocol ip prio 1 u32 match u16 0 0xff80 at 2 flowid 1:2",
    ]
