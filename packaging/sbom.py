#!/usr/bin/env python3
"""sbom.py FOLDER VERSION TIME [SOURCES]: writes FOLDER/lull-VERSION.spdx.json, an SPDX 2.3 document
of the release files in FOLDER and of the libraries inside them. TIME: seconds since 1970. SOURCES:
the list of the libraries that were built, by default portable/sources.txt. FOLDER/.cuda-tarball and
FOLDER/.cuda-wheels exist if these files contain the CUDA runtime. Equal files give equal bytes."""

import hashlib
import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Compiled into programs from headers or as static runtime: name, version, licence, which files.
COMPILED_IN = [
    ("CLI11", "BSD-3-Clause", "command"),
    ("nlohmann-json", "MIT", "command"),
    ("nanobind", "BSD-3-Clause", "python"),
    ("gcc-runtime", "GPL-3.0-or-later WITH GCC-exception-3.1", "portable"),
    ("cuda-runtime", "LicenseRef-NVIDIA-CUDA-EULA", "cuda"),
]


def bundled_libraries(sources):
    """Returns name, version and licence of the libraries of the portable build."""
    rows = []
    for line in sources.read_text().splitlines():
        if line and not line.startswith("#"):
            rows.append(line.split(maxsplit=2))
    return rows


def kind_of(name):
    """Returns what a release file contains: source, deb, tarball, python or vapoursynth."""
    if name.endswith(".deb"):
        return "deb"
    if name.endswith(".whl"):
        return "vapoursynth" if name.startswith("vapoursynth") else "python"
    return "tarball" if "linux" in name else "source"


def package(identifier, name, version, licence, **more):
    """Returns an SPDX package."""
    return {
        "SPDXID": f"SPDXRef-{re.sub(r'[^A-Za-z0-9.-]', '-', identifier)}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        **more,
    }


def licence_of(kind):
    """Returns the licence of lull in a file: with Exiv2, that of the GPL applies to the whole."""
    return "GPL-3.0-or-later" if kind == "deb" else "Apache-2.0"


def build(folder, version, time, libraries):
    """Returns the document."""
    packages, relations = [], []
    contents = hashlib.sha256()
    inside = {}
    for name, source_version, licence in libraries:
        inside[name] = package(
            f"library-{name}", name, source_version, licence,
            sourceInfo=f"built from Debian's source package {name} {source_version}",
        )
    for name, licence, _ in COMPILED_IN:
        inside[name] = package(f"library-{name}", name, "NOASSERTION", licence)
        del inside[name]["versionInfo"]
    used = set()

    def contains(file, library):
        used.add(library)
        relations.append((file["SPDXID"], "CONTAINS", inside[library]["SPDXID"]))

    for path in sorted(folder.iterdir()):
        if path.name == "SHA256SUMS" or path.name.endswith(".spdx.json") or path.name.startswith("."):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        contents.update(f"{digest} {path.name}\n".encode())
        kind = kind_of(path.name)
        file = package(
            f"file-{path.name}", path.name, version, licence_of(kind), packageFileName=path.name,
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
        )
        packages.append(file)
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", file["SPDXID"]))
        if kind in ("tarball", "python", "vapoursynth"):
            for name, *_ in libraries:
                if kind != "vapoursynth" or name in ("highway", "onetbb"):
                    contains(file, name)
            contains(file, "gcc-runtime")
            if (folder / (".cuda-tarball" if kind == "tarball" else ".cuda-wheels")).exists():
                contains(file, "cuda-runtime")
        if kind in ("tarball", "python") or path.name.startswith("lull_"):
            contains(file, "CLI11")
            contains(file, "nlohmann-json")
        if kind == "python":
            contains(file, "nanobind")
    packages += [inside[name] for name in inside if name in used]
    created = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"lull-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/lull-{version}-{contents.hexdigest()[:32]}",
        "creationInfo": {"created": created, "creators": ["Organization: lull", "Tool: packaging/sbom.py"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
            for a, kind, b in relations
        ],
    }
    if "cuda-runtime" in used:
        document["hasExtractedLicensingInfos"] = [{
            "licenseId": "LicenseRef-NVIDIA-CUDA-EULA",
            "name": "NVIDIA CUDA Toolkit EULA",
            "extractedText": "https://docs.nvidia.com/cuda/eula/; the static runtime may be redistributed",
        }]
    return document


def main():
    folder, version, time = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    sources = Path(sys.argv[4]) if len(sys.argv) > 4 else HERE / "portable" / "sources.txt"
    document = build(folder, version, time, bundled_libraries(sources))
    target = folder / f"lull-{version}.spdx.json"
    target.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
