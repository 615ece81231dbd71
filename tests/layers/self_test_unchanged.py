#!/usr/bin/env python3
"""Tests tests/unchanged.py: a suite runs again exactly if something that it depends on has changed."""

import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).parent.parent / "unchanged.py"
JUNIT = '<testsuite>{}</testsuite>'


def script(verb, build, file, **environment):
    subprocess.run(
        [sys.executable, SCRIPT, verb, build, file], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def selected(build, **environment):
    """Returns the numbers of the tests that must run."""
    script("select", build, build / "selected", **environment)
    return [int(number) for number in (build / "selected").read_text().split(",")[3:]]


def record(build, verb="record", **status):
    cases = "".join(f'<testcase name="{name}" status="{s}"/>' for name, s in status.items())
    (build / "results.xml").write_text(JUNIT.format(cases))
    script(verb, build, build / "results.xml")


def expect(found, wanted, case):
    if found != wanted:
        sys.exit(f"{case}: tests {found} are selected, not {wanted}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        (build / "Testing").mkdir()
        for name in ("suite", "runs", "other", "command"):
            (build / name).write_text(name)
        (build / "CTestTestfile.cmake").write_text(
            f'add_test(suite "{build}/suite")\n'
            f'add_test(runs "{build}/runs")\n'
            f'add_test(other "{build}/other")\n'
            "set_tests_properties(suite PROPERTIES LABELS suite)\n"
            f'set_tests_properties(runs PROPERTIES LABELS "suite;x" REQUIRED_FILES "{build}/command")\n'
        )
        expect(selected(build), [1, 2, 3], "nothing has run")
        record(build, suite="run", runs="run", other="run")
        expect(selected(build), [3], "all tests passed")
        (build / "command").write_text("changed")
        expect(selected(build), [2, 3], "the program that a suite starts has changed")
        record(build, runs="run")
        expect(selected(build), [3], "the suite passed again")
        (build / "suite").write_text("changed")
        expect(selected(build), [1, 3], "the program of a suite has changed")
        record(build, suite="fail")
        (build / "suite").write_text("suite")
        expect(selected(build), [1, 3], "the suite failed afterwards")
        record(build, suite="run")
        record(build, "forget", runs="run")
        expect(selected(build), [2, 3], "a run without a valid result")
        record(build, runs="run")
        (build / "suite").write_text("new")
        expect(selected(build), [1, 3], "the program has changed again")
        (build / "suite").write_text("changed during the run")
        record(build, suite="run")
        expect(selected(build), [1, 3], "the program changed during the run")
        record(build, suite="run")
        expect(selected(build, LULL_TEST_DATA="elsewhere"), [1, 2, 3], "other data")
        (build / "suite").unlink()
        expect(selected(build), [1, 3], "the program is missing")


if __name__ == "__main__":
    main()
