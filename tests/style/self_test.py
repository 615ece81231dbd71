#!/usr/bin/env python3
"""Checks that check_phrases.py finds a phrase in comments and prose, and ignores it elsewhere."""

import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).with_name("check_phrases.py")

# Name, text, expected line of the phrase or None.
CASES = [
    ("comment.h", "int a;\n// The frame is used in place of the guide.\n", 2),
    ("block.cpp", "/* one\n * in place of two */\n", 2),
    ("continued.cu", "// The frame is used in\n// place of the guide.\n", 1),
    ("string.cpp", 'const char* text = "// in place of";\n', None),
    ("code.h", "int in_place_of = 0;\n", None),
    ("comment.py", "a = 1  # in place of b\n", 1),
    ("docstring.py", 'def f():\n    """In place of g."""\n', 2),
    ("string.py", 'text = "in place of"\n', None),
    ("prose.md", "# Title\n\nUse it in place of the guide.\n", 3),
    ("fence.md", "```sh\necho in place of\n```\n", None),
    ("code.md", "The text `in place of` is printed.\n", None),
]


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, line in CASES:
            path = pathlib.Path(folder, name)
            path.write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, CHECK, path], capture_output=True, text=True)
            expected = "" if line is None else f'{path}:{line}: "in place of"; instead: instead of\n'
            if run.stdout.lower() != expected.lower() or run.returncode != (line is not None):
                print(f"{name}: exit code {run.returncode}, output {run.stdout!r}{run.stderr}")
                failures += 1
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
