"""`python -m lull` is the command `lull`."""

import sys

from ._command import main

sys.exit(main())
