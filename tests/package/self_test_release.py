#!/usr/bin/env python3
"""self_test_release.py ROOT SCRATCH: check_release.py finds each planted error, and sbom.py lists
every file, with equal bytes for equal files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])
CHECK = ROOT / "tests/package/check_release.py"
NEEDED = (
    "CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "run", "farm/boutiques/lull.json",
    "python/pyproject.toml", "vapoursynth/pyproject.toml", "packaging", ".github/workflows", ".ci/run", "cmake",
)
# File, what to replace, by what, and a part of the expected error.
PLANTED = (
    ("CITATION.cff", "\nversion: ", "\nversion: 9", "CITATION.cff: version"),
    ("CHANGELOG.md", "## [0", "## [8", "CHANGELOG.md: version"),
    ("farm/boutiques/lull.json", '"tool-version": "', '"tool-version": "7', "lull.json: version"),
    ("python/pyproject.toml", 'dynamic = ["version"]', 'version = "1"', "python/pyproject.toml"),
    ("packaging/portable/sources.txt", "LGPL-2.1-or-later", "GPL-2.0-or-later", "under the GPL"),
    ("packaging/portable/sources.txt", "BSD-3-Clause AND MIT", "MIT AND GPL-2.0-only", "under the MIT AND GPL"),
    ("packaging/portable/sources.txt", "\nzlib ", "\nunknown 1 MIT\nzlib ", "no build_unknown()"),
    ("packaging/portable/libraries.sh", "--enable-shared", "--enable-gpl", "--enable-gpl"),
    ("packaging/deb/copyright", "nlohmann-json", "another", "does not name nlohmann-json"),
    ("packaging/deb/packages.sh", "liblull.so.*)", "other.so.*)", "belongs to liblull-dev, not to liblull1"),
    (".github/workflows/ci.yml", "./run test", "./run nothing", "no verb nothing"),
    (".github/workflows/ci.yml", "./run demo", "./run build", "does not call ./run demo"),
    ("cmake/LullInstall.cmake", "if(NOT is_in_src)", 'if(NOT folder MATCHES "^${PROJECT_SOURCE_DIR}/src")',
     "PROJECT_SOURCE_DIR is a part of a regular expression"),
)


def copy_needed(target):
    shutil.rmtree(target, ignore_errors=True)
    for name in NEEDED:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name)
        else:
            shutil.copy(ROOT / name, target / name)


def run_check(target):
    return subprocess.run([sys.executable, str(CHECK), str(target)], capture_output=True, text=True)


def test_planted_errors():
    tree = SCRATCH / "tree"
    copy_needed(tree)
    clean = run_check(tree)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    for name, old, new, expected in PLANTED:
        file = tree / name
        text = file.read_text()
        assert old in text, f"{name} lacks {old!r}"
        file.write_text(text.replace(old, new, 1))
        result = run_check(tree)
        assert result.returncode == 1 and expected in result.stdout, (name, expected, result.stdout)
        file.write_text(text)


def write_sbom(folder, order, *sources):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in order:
        (folder / name).write_text(name)
    script = ROOT / "packaging/sbom.py"
    subprocess.run([sys.executable, str(script), str(folder), "1.2.3", "1700000000", *sources], check=True)
    return (folder / "lull-1.2.3.spdx.json").read_text()


def test_sbom():
    names = ["lull-1.2.3.tar.xz", "lull-1.2.3-linux-x86_64.tar.xz", "lull_1.2.3_amd64.deb", "lull-1.2.3-x.whl"]
    text = write_sbom(SCRATCH / "first", names)
    assert text == write_sbom(SCRATCH / "second", names[::-1]), "the order of files changes the SBOM"
    document = json.loads(text)
    assert document["spdxVersion"] == "SPDX-2.3" and document["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    by_id = {package["SPDXID"]: package for package in document["packages"]}
    assert sorted(p["packageFileName"] for p in by_id.values() if "packageFileName" in p) == sorted(names)
    inside = {}
    for relation in document["relationships"]:
        assert relation["relatedSpdxElement"] in by_id, relation
        if relation["relationshipType"] == "CONTAINS":
            file = by_id[relation["spdxElementId"]]["packageFileName"]
            inside.setdefault(file, set()).add(by_id[relation["relatedSpdxElement"]]["name"])
    assert {"ffmpeg", "tiff", "CLI11"} <= inside["lull-1.2.3-linux-x86_64.tar.xz"]
    assert inside["lull_1.2.3_amd64.deb"] == {"CLI11", "nlohmann-json"}
    assert "lull-1.2.3.tar.xz" not in inside
    sources = SCRATCH / "sources.txt"
    sources.write_text("zlib 9.9 Zlib\nhighway 1 Apache-2.0\nonetbb 2 Apache-2.0\n")
    document = json.loads(write_sbom(SCRATCH / "third", names, str(sources)))
    assert [p["versionInfo"] for p in document["packages"] if p["name"] == "zlib"] == ["9.9"]
    assert not [p for p in document["packages"] if p["name"] == "ffmpeg"], "not among the sources that were built"
    assert "cuda-runtime" not in text and "LicenseRef-NVIDIA-CUDA-EULA" not in text
    document = json.loads(write_sbom(SCRATCH / "fourth", [*names, ".cuda-tarball"]))
    runtime = next(p["SPDXID"] for p in document["packages"] if p["name"] == "cuda-runtime")
    holders = [r["spdxElementId"] for r in document["relationships"] if r["relatedSpdxElement"] == runtime]
    assert holders == ["SPDXRef-file-lull-1.2.3-linux-x86-64.tar.xz"], holders
    assert document["hasExtractedLicensingInfos"][0]["licenseId"] == "LicenseRef-NVIDIA-CUDA-EULA"


test_planted_errors()
test_sbom()
