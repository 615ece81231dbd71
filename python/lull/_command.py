"""The command `lull` of the wheels of a release."""

import os
import signal
import sys

from . import _core

EXIT_UNAVAILABLE = 69


def main():
    """Runs the command with the arguments of this process, and returns its exit code."""
    if not hasattr(_core, "run_command"):
        print(
            "lull: the command is not installed (this wheel was built without it); "
            "install a wheel of a release, or build the command from source",
            file=sys.stderr,
        )
        return EXIT_UNAVAILABLE
    # Python's handler would only set a flag, which Python code reads after the command.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command([os.fsencode(argument) for argument in sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
