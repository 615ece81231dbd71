#!/usr/bin/env python3
"""self_test.py CHECK SCRATCH: plants one error of each kind in a small tree. The test fails unless
the program CHECK (docs/site/check.py) reports each of them, and nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

CHECK, SCRATCH = sys.argv[1], Path(sys.argv[2])

MODULES = [f"m{i}" for i in range(20)]
TREE = {
    "ARCHITECTURE.md": "# A\n\n" + " ".join(f"`{m}`" for m in MODULES[1:]) + "\n",
    "CITATION.cff": "version: 1.2.3\n",
    "CMakeLists.txt": "project(lull VERSION 1.2.4)\n",
    "README.md": "# R\n\n[good](docs/how-to/a.md#one-two) [bad](docs/none.md)\n",
    "docs/how-to/a.md": "# One two\n" + "line\n" * 80,
    "docs/b.md": "# B\n\n[bad anchor](how-to/a.md#three) `src/x.h` `src/y.h` `z.h`\n\n"
                 "<!-- paths:src -->\n",
    "src/x.h": "// docs/b.md\n// docs/missing.md\n",
    "tests/layers/check_layers.cmake": "".join(f"module({m} core)\n" for m in MODULES),
}
EXPECTED = [
    "README.md: link to docs/none.md, which does not exist",
    "README.md: names docs/none.md, which does not exist",
    "docs/b.md: link to how-to/a.md#three, which has no such heading",
    "docs/b.md: names `src/y.h`, which does not exist",
    "docs/b.md: names `z.h`, which does not exist",
    "docs/how-to/a.md: has 81 lines, at most 80 are allowed",
    "src/x.h: names docs/missing.md, which does not exist",
    "ARCHITECTURE.md: does not name the module `m0`",
    "CITATION.cff: does not state the version of CMakeLists.txt",
]

shutil.rmtree(SCRATCH, ignore_errors=True)
for name, text in TREE.items():
    path = SCRATCH / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
run = subprocess.run([sys.executable, CHECK, SCRATCH], capture_output=True, text=True)
found = sorted(set(run.stderr.splitlines()))
if run.returncode != 1 or found != sorted(EXPECTED):
    sys.exit("expected:\n" + "\n".join(sorted(EXPECTED)) + "\nfound:\n" + "\n".join(found))
