"""plugin_test.py PLUGIN LIBRARY MPIEXEC: a plug-in whose ScaLAPACK nobody else sees is served, too."""

import os
import subprocess
import sys
import unittest

PROGRAM = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).wrong_elements())"  # RTLD_LOCAL, as for modules


class Plugin(unittest.TestCase):
    plugin = library = mpiexec = ""

    def test_its_calls_are_served(self):
        done = subprocess.run(
            [self.mpiexec, "2", sys.executable, "-c", PROGRAM, self.plugin],
            env={**os.environ, "LD_PRELOAD": self.library, "PLAIT_LOG": "summary"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"pdgeadd +1 call")
        self.assertRegex(done.stderr, r"pdtran +1 call")


if __name__ == "__main__":
    Plugin.plugin, Plugin.library, Plugin.mpiexec = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
