"""What the tests on the emulated cluster share."""

import functools

import isolation
from harness import CommandTest


@functools.cache
def hindrance() -> str | None:
    """Why there can be no cluster here: only what the system forbids or lacks, never a mistake of ours."""
    try:
        isolation.find_way()
    except isolation.Impossible as reason:
        return "; ".join(line.strip() for line in str(reason).splitlines())
    return None


class ClusterTest(CommandTest):
    def setUp(self):
        super().setUp()
        if reason := hindrance():
            self.skipTest(reason)

    def cluster(self, *arguments: str) -> list[str]:
        """The command line of the launcher, which run.py was told is the mpiexec."""
        return [self.mpiexec, *arguments]
