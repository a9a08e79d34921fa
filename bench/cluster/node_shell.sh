#!/bin/bash
# node_shell.sh [OPTIONS] NODE COMMAND...: an ssh into a node of the emulated cluster, for mpiexec to start daemons by.
# As with ssh, a shell there gets the words of the command, joined by blanks. Environment and folder are the caller's.
set -euo pipefail
while [[ ${1:-} == -* ]]; do shift; done
node=${1:?no node is given}
shift
exec nsenter --target="$(<"/dev/shm/cluster/$node")" --net --uts --ipc --mount --wdns="$PWD" /bin/sh -c "$*"
