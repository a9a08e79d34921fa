"""inside.py SETTINGS LIFELINE: the first process of a cluster's namespaces, which builds it and runs the command."""

import json
import signal
import subprocess
import sys

import isolation
import launch
import network
import tools
from settings import Settings

CANNOT_BUILD = 125


def main() -> int:
    settings = Settings(**json.loads(sys.argv[1]))
    isolation.end_with(int(sys.argv[2]))
    # The terminal's signals come to everyone: the command is to end by them, and the launcher cuts the lifeline.
    for number in isolation.ENDING_SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    try:
        network.build(settings.nodes, settings.rate)
    except tools.Failed as failure:
        print(f"cluster: error: can't be built: {failure}", file=sys.stderr)
        return CANNOT_BUILD
    status = subprocess.run(launch.command_line(settings), env=launch.environment(settings), check=False).returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
