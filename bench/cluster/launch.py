"""How each MPI starts the ranks on the nodes: the first ones on the first node, and so on."""

import os
from pathlib import Path

import network
from settings import Settings

NODE_SHELL = str(Path(__file__).resolve().parent / "node_shell.sh")  # in place of ssh


def command_line(settings: Settings) -> list[str]:
    ranks = str(settings.nodes * settings.ranks_per_node)
    hosts = ",".join(f"{network.name_of(node)}:{settings.ranks_per_node}" for node in range(settings.nodes))
    return [settings.mpiexec, *LAUNCHERS[settings.family](settings, hosts), "-n", ranks, *settings.command]


def openmpi_options(settings: Settings, hosts: str) -> list[str]:
    parameters = {
        "plm_rsh_agent": NODE_SHELL,
        "plm_rsh_no_tree_spawn": "1",  # only the head can enter the nodes
        "orte_tmpdir_base": "/dev/shm",  # what is left of an aborted job vanishes with the node
        "oob_tcp_if_include": network.SUBNET,
        "btl_tcp_if_include": network.SUBNET,
        "pml": "ob1",
        "btl": "tcp,vader,self",
        "osc": "^ucx",
        "btl_base_warn_component_unused": "0",
        "mpi_yield_when_idle": "1",  # where the preloaded library meets idle ranks
        "odls_base_sigkill_timeout": "0",
    }
    words = ["--host", hosts, "--map-by", "slot", "--bind-to", "none"]
    for name, value in parameters.items():
        words += ["--mca", name, value]
    return words + (["-x", f"LD_PRELOAD={preloaded(settings)}"] if settings.preload else [])


def mpich_options(settings: Settings, hosts: str) -> list[str]:
    words = ["-launcher", "ssh", "-launcher-exec", NODE_SHELL, "-iface", network.SWITCH, "-hosts", hosts]
    words += ["-bind-to", "none"]
    return words + (["-genv", "LD_PRELOAD", preloaded(settings)] if settings.preload else [])


LAUNCHERS = {"Open MPI": openmpi_options, "MPICH": mpich_options}


def preloaded(settings: Settings) -> str:
    return ":".join(filter(None, [settings.preload, os.environ.get("LD_PRELOAD")]))


def environment(settings: Settings) -> dict[str, str]:
    """Of mpiexec and of the ranks, since node_shell.sh hands everything on."""
    ours = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ours["PLAIT_CLUSTER_RATE"] = str(settings.rate)
    # The nodes share the cores, so each rank computes in one thread, unless the caller knows better.
    ours.setdefault("OMP_NUM_THREADS", "1")
    ours.setdefault("OPENBLAS_NUM_THREADS", "1")
    if settings.family == "MPICH":
        ours = {"UCX_TLS": "tcp,sm,self", "UCX_NET_DEVICES": "eth0"} | ours
    return ours
