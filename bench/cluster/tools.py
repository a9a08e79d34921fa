"""The system's programs that build a cluster."""

import os
import shutil
import subprocess

PACKAGES = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "mount": "mount",
    "hostname": "hostname",
    "ip": "iproute2",
    "tc": "iproute2",
}
# The administrator's programs, which are not in every user's PATH.
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def missing() -> dict[str, str]:
    """The programs that are not there, and Debian's packages that have them."""
    return {name: package for name, package in PACKAGES.items() if shutil.which(name, path=PATH) is None}


def path_of(name: str) -> str:
    return shutil.which(name, path=PATH) or name


class Failed(Exception):
    """A program failed; the text has its command line and what it said."""


def run(*words: str, lines: list[str] | None = None) -> None:
    """Runs one of the programs; `lines` is its standard input."""
    text = "".join(f"{line}\n" for line in lines or [])
    done = subprocess.run([path_of(words[0]), *words[1:]], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.stderr.strip() or f'exit status {done.returncode}'}")
