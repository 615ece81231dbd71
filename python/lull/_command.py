"""The command `lull` of the wheels of a release."""

import os
import sys
from pathlib import Path

EXIT_UNAVAILABLE = 69


def main():
    """Replaces this process by the program of the wheel, with the same arguments.

    Returns an exit code if the wheel was built without the program.
    """
    program = Path(__file__).parent / "bin" / "lull"
    if not program.is_file():
        print(
            "lull: the command is not installed (this wheel was built without it); "
            "install a wheel of a release, or build the command from source",
            file=sys.stderr,
        )
        return EXIT_UNAVAILABLE
    os.execv(program, ["lull", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
