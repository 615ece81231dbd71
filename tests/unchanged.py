#!/usr/bin/env python3
"""unchanged.py select BUILD FILE: before a run, records what the tests depend on, and writes the tests
that must run to FILE, in the format of `ctest -I`.
unchanged.py record BUILD JUNIT: after the run, records which tests passed.
unchanged.py forget BUILD JUNIT: records that all tests of the run must run again.

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
    programs = [stamp(shutil.which(name)) for name in ("ffmpeg", "ffprobe")]
    return [*variables, gpu, f"user {os.geteuid()}", *programs]


def stamp(path):
    """Returns a text that changes with a file of the system: its path, size and date."""
    status = os.stat(path) if path else None
    return f"{path} {status.st_size} {status.st_mtime_ns}" if status else "missing"


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
            lines = [line for line in output.splitlines() if " => /" in line]
            found = [line.split(" => ")[1].split(" (")[0] for line in lines]
            self.libraries[program] = " ".join(map(stamp, found))
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


def load(build, name):
    try:
        return json.loads((pathlib.Path(build) / "Testing" / name).read_text())
    except (OSError, ValueError):
        return {}


def save(build, name, values):
    (pathlib.Path(build) / "Testing" / name).write_text(json.dumps(values, indent=0))


def select(build, file):
    fingerprints, passed, tests = Fingerprints(), load(build, "passed.json"), tests_of(build)
    now = {t["name"]: fingerprints.of(t) if "command" in t else None for t in tests}
    save(build, "fingerprints.json", now)
    numbers = [
        number
        for number, test in enumerate(tests, 1)
        if now[test["name"]] is None or passed.get(test["name"]) != now[test["name"]]
    ]
    pathlib.Path(file).write_text(",".join(["0,0,0", *map(str, numbers)]) + "\n")
    print(
        f"run: {len(tests) - len(numbers)} of {len(tests)} tests are not repeated, because nothing that"
        " they depend on has changed since they passed (./run test --all repeats them)"
    )


def statuses(junit):
    cases = xml.etree.ElementTree.parse(junit).iter("testcase")
    return {case.get("name"): case.get("status") for case in cases}


def record(build, junit):
    # The fingerprints are those before the run: a file may have changed during the run.
    before, status = load(build, "fingerprints.json"), statuses(junit)
    passed = {k: v for k, v in load(build, "passed.json").items() if k not in status}
    passed |= {k: before[k] for k, s in status.items() if s == "run" and before.get(k)}
    save(build, "passed.json", passed)


def forget(build, junit):
    status = statuses(junit)
    passed = load(build, "passed.json").items()
    save(build, "passed.json", {k: v for k, v in passed if k not in status})


if __name__ == "__main__":
    {"select": select, "record": record, "forget": forget}[sys.argv[1]](*sys.argv[2:])
