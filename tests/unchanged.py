#!/usr/bin/env python3
"""unchanged.py select BUILD FILE: writes the tests that must run to FILE, in the format of `ctest -I`.
unchanged.py record BUILD JUNIT: records which tests of a run passed.
unchanged.py forget BUILD JUNIT: records that all tests of a run must run again.

A test need not run again if nothing that it depends on has changed since it passed: its program, the
programs that it starts or files that it compiles (REQUIRED_FILES in ctest), its arguments and
environment, the shared libraries, and the data files of the project. Tests without one of the LABELS
always run, because this script does not know what they depend on."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = ("samples", "tests", "docs/reference")  # folders from which suites read files
SCHEMAS = "docs/*.json"
COMPILED = {".h", ".cpp", ".cu", ".cuh"}
LABELS = {"suite", "simd", "fuzz", "headers"}  # tests whose dependencies are known
VARIABLES = ("LULL_TEST_DATA", "LULL_SKIPS_GPU", "CUDA_VISIBLE_DEVICES")


def machine():
    """Returns what decides on this machine whether tests are skipped."""
    variables = [f"{name}={os.environ.get(name)}" for name in VARIABLES]
    driver = pathlib.Path("/proc/driver/nvidia/version")
    gpu = driver.read_text() if driver.exists() else "no GPU"
    return [*variables, gpu, f"user {os.geteuid()}", f"ffmpeg {shutil.which('ffmpeg')}"]


def is_data(path):
    return (
        path.is_file()
        and path.suffix not in COMPILED
        and path.name != "CMakeLists.txt"
        and path.parent.name != "__pycache__"
    )


class Fingerprints:
    """Hashes of everything that a suite depends on. Each file is read once."""

    def __init__(self):
        self.files, self.libraries = {}, {}
        data = hashlib.sha256()
        for folder in DATA:
            for path in sorted((SOURCE / folder).rglob("*")):
                if is_data(path):
                    data.update(f"{path} {self.file(path)}\n".encode())
        for path in sorted(SOURCE.glob(SCHEMAS)):
            data.update(f"{path} {self.file(path)}\n".encode())
        data.update("\n".join(machine()).encode())
        self.data = data.hexdigest()

    def file(self, path):
        if path not in self.files:
            self.files[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        return self.files[path]

    def libraries_of(self, program):
        """Returns the shared libraries that the loader finds for a program, with size and date."""
        if program not in self.libraries:
            output = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
            found = [line.split(" => ")[1].split(" (")[0] for line in output.splitlines() if " => /" in line]
            stats = [(path, os.stat(path)) for path in found]
            self.libraries[program] = " ".join(f"{p} {s.st_size} {s.st_mtime_ns}" for p, s in stats)
        return self.libraries[program]

    def of(self, test):
        """Returns the fingerprint of a test, or None if the test must always run."""
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if not LABELS & set(properties.get("LABELS", [])):
            return None
        parts = [self.data, *test["command"], *properties.get("ENVIRONMENT", [])]
        for program in (test["command"][0], *properties.get("REQUIRED_FILES", [])):
            if not os.path.isfile(program):
                return None
            parts += [self.file(program), self.libraries_of(program)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def tests_of(build):
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True
    )
    return json.loads(listing.stdout)["tests"]


def passed_before(build):
    try:
        return json.loads((pathlib.Path(build) / "Testing/passed.json").read_text())
    except (OSError, ValueError):
        return {}


def select(build, file):
    fingerprints, passed = Fingerprints(), passed_before(build)
    tests = tests_of(build)
    numbers = [
        number
        for number, test in enumerate(tests, 1)
        if "command" not in test or passed.get(test["name"], "") != fingerprints.of(test)
    ]
    pathlib.Path(file).write_text(",".join(["0,0,0", *map(str, numbers)]) + "\n")
    if len(numbers) < len(tests):
        print(
            f"run: {len(tests) - len(numbers)} of {len(tests)} tests are not repeated, because nothing"
            " that they depend on has changed since they passed (./run test --all repeats them)",
            file=sys.stderr,
        )


def statuses(junit):
    cases = xml.etree.ElementTree.parse(junit).iter("testcase")
    return {case.get("name"): case.get("status") for case in cases}


def write_passed(build, passed):
    (pathlib.Path(build) / "Testing/passed.json").write_text(json.dumps(passed, indent=0))


def record(build, junit):
    fingerprints, passed, status = Fingerprints(), passed_before(build), statuses(junit)
    for test in tests_of(build):
        name = test["name"]
        if name not in status:
            continue
        passed.pop(name, None)
        if status[name] == "run" and (fingerprint := fingerprints.of(test)):
            passed[name] = fingerprint
    write_passed(build, passed)


def forget(build, junit):
    status = statuses(junit)
    write_passed(build, {k: v for k, v in passed_before(build).items() if k not in status})


if __name__ == "__main__":
    {"select": select, "record": record, "forget": forget}[sys.argv[1]](*sys.argv[2:])
