"""gradients.py [--steps N]: what data-parallel training of AlexNet does with MPI, and nothing else of it.

Each step writes the gradients of all layers, packs those of layer after layer, last ones first, into a buffer of 64 MB, sums
each full buffer up over the ranks (MPI_Allreduce in place), and takes the mean out again; what is larger than the buffer is
summed up where it lies. Prints the seconds of each step's sums on the slowest rank, as JSON. Knows nothing of plait.
"""

import argparse
import json
import sys
import time

import numpy
from mpi4py import MPI

# Weights and biases, from the first layer to the last: 61 million in all.
LAYERS = [34848, 96, 307200, 256, 884736, 384, 663552, 384, 442368, 256, 37748736, 4096, 16777216, 4096, 4096000, 1000]
FUSED = 16 * 2**20  # floats


def fused(gradients: list[numpy.ndarray]) -> list[list[numpy.ndarray]]:
    """In the order in which back-propagation finishes them, those together that fit the buffer together."""
    groups: list[list[numpy.ndarray]] = [[]]
    for gradient in reversed(gradients):
        if sum(other.size for other in groups[-1]) + gradient.size > FUSED:
            groups.append([])
        groups[-1].append(gradient)
    return [group for group in groups if group]


def sum_up(comm: MPI.Comm, group: list[numpy.ndarray], buffer: numpy.ndarray) -> float:
    """The mean over all ranks in place of each gradient; the seconds in MPI."""
    size = sum(gradient.size for gradient in group)
    data = buffer[:size] if len(group) > 1 else group[0]
    ends = numpy.cumsum([gradient.size for gradient in group])
    if len(group) > 1:
        for gradient, end in zip(group, ends):
            data[end - gradient.size : end] = gradient
    comm.Barrier()
    begin = time.perf_counter()
    comm.Allreduce(MPI.IN_PLACE, data, MPI.SUM)
    seconds = time.perf_counter() - begin
    data /= comm.size
    if len(group) > 1:
        for gradient, end in zip(group, ends):
            gradient[:] = data[end - gradient.size : end]
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    comm = MPI.COMM_WORLD
    gradients = [numpy.empty(size, numpy.float32) for size in LAYERS]
    buffer = numpy.empty(FUSED, numpy.float32)
    groups = fused(gradients)
    steps = []
    for step in range(arguments.steps + 1):
        for layer, gradient in enumerate(gradients):
            gradient.fill(comm.rank * 2 + layer + step)
        seconds = sum(sum_up(comm, group, buffer) for group in groups)
        for layer, gradient in enumerate(gradients):
            if not (gradient == comm.size - 1 + layer + step).all():
                sys.exit(f"rank {comm.rank}: layer {layer} has wrong means")
        steps.append(comm.allreduce(seconds, MPI.MAX))
    if comm.rank == 0:
        print(json.dumps(steps[1:]))  # the first one meets fresh pages
    return 0


if __name__ == "__main__":
    sys.exit(main())
