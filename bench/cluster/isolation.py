"""A private world for a cluster: namespaces that vanish, with all that is in them, once their first process has ended.

That process ends at the latest when its lifeline is cut: the reading end of a pipe whose writing end only the launcher
holds. So nothing outlives the launcher, however it ends; a signal that can't be caught included.
"""

import os
import signal
import subprocess
import threading
from pathlib import Path

import tools

NAMESPACES = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
AS_ROOT: list[str] = []
AS_USER = ["--user", "--map-root-user"]
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

# All that the kernel has to allow and to know. Deliberately not how a cluster is built: that it can't be built where
# this works is a mistake of ours.
TRIAL = """set -e
ip link add trial0 type bridge
ip link add trial1 type veth peer name trial2
tc qdisc add dev trial1 root handle 1: htb
tc class add dev trial1 parent 1: classid 1:1 htb rate 1gbit quantum 60000
tc filter add dev trial1 parent 1: protocol ip u32 match u16 0 0xff80 at 2 flowid 1:1
tc qdisc add dev trial1 parent 1:1 bfifo limit 100000
mount -t tmpfs tmpfs /dev/shm
mount -t sysfs sysfs /sys
"""

# Settings of the kernel that forbid namespaces to ordinary users, and the value that does.
FORBIDDING = {
    "/proc/sys/user/max_user_namespaces": "0",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
}


class Impossible(Exception):
    """There can be no cluster here; the text says why."""


def find_way() -> list[str]:
    """The options of `unshare` by which namespaces can be made here; throws Impossible if there are none."""
    if lacking := tools.missing():
        packages = " ".join(sorted(set(lacking.values())))
        raise Impossible(f"there is no {', no '.join(lacking)}: apt-get install --no-install-recommends {packages}")
    ways = [AS_ROOT, AS_USER] if os.geteuid() == 0 else [AS_USER]
    refusals = []
    for way in ways:
        refusal = refusal_of(way)
        if refusal is None:
            return way
        refusals.append(f"{'as a user' if way else 'as root'}: {refusal}")
    advice = [f"{path} is {value}" for path, value in FORBIDDING.items() if content_of(path) == value]
    if not advice:
        advice = ["a container needs more rights for it, such as those of docker run --privileged"]
    raise Impossible("\n  ".join(["this system doesn't let network namespaces be made and shaped", *refusals, *advice]))


def refusal_of(way: list[str]) -> str | None:
    words = [tools.path_of("unshare"), *way, *NAMESPACES, "sh", "-c", TRIAL]
    trial = subprocess.run(
        words, env=os.environ | {"PATH": tools.PATH, "LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    return None if trial.returncode == 0 else trial.stderr.strip() or f"exit status {trial.returncode}"


def content_of(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


class Ended(BaseException):
    """A signal asks the launcher to end."""


def run_isolated(way: list[str], words: list[str]) -> int:
    """Runs a program, whose last argument will be its lifeline, in namespaces of its own; returns its exit status."""
    lifeline, held_end = os.pipe()

    def end(number, _frame):
        raise Ended(number)

    process = None
    try:
        for number in ENDING_SIGNALS:
            # As `nohup` has it: what is ignored remains so.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, end)
        unshare = [tools.path_of("unshare"), *way, *NAMESPACES]
        process = subprocess.Popen([*unshare, *words, str(lifeline)], pass_fds=[lifeline])
        status = process.wait()
    except Ended as ended:
        status = -ended.args[0]
    finally:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # the end is near already
        os.close(held_end)
        if process is not None:
            process.wait()
    return status if status >= 0 else 128 - status


def end_with(lifeline: int) -> None:
    """Ends this process, and with it the namespaces whose first one it is, as soon as the lifeline is cut."""
    os.set_inheritable(lifeline, False)

    def watch():
        os.read(lifeline, 1)
        os._exit(128 + signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
