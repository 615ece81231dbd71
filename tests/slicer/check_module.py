#!/usr/bin/env python3
"""check_module.py MODULE COMMAND: checks the description that the module prints for 3D Slicer, and
runs the module as Slicer does."""

import gzip
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

MODULE, COMMAND = sys.argv[1:3]
SCRATCH = pathlib.Path(tempfile.mkdtemp())
ENVIRONMENT = dict(os.environ, LULL=COMMAND)


def volume(side=20):
    """Returns a NIfTI file with 16-bit samples: a ball with noise."""
    rng = random.Random(1)
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, side, side, side, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 4, 16)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<f", header, 112, 1)
    header[344:348] = b"n+1\0"
    samples = [int(rng.gauss(600 if sum((c - side / 2) ** 2 for c in (x, y, z)) < 50 else 200, 20))
               for z in range(side) for y in range(side) for x in range(side)]
    return bytes(header) + struct.pack(f"<{len(samples)}h", *samples)


run = subprocess.run([MODULE, "--xml"], check=True, capture_output=True, text=True)
root = ElementTree.fromstring(run.stdout)
assert root.tag == "executable" and root.find("title") is not None
help_text = subprocess.run([COMMAND, "denoise", "--help-all"], check=True, capture_output=True,
                           text=True).stdout
source, result, direct = (SCRATCH / name for name in ("in.nii.gz", "out.nii.gz", "direct.nii.gz"))
source.write_bytes(gzip.compress(volume()))
defaults, others, indices = [], ["--sigma", "30", "--device", "cpu"], {}
for parameter in root.iter():
    flag, index = parameter.find("longflag"), parameter.find("index")
    if flag is not None:
        assert flag.text + " " in help_text, f"{flag.text} is no option of the command"
        default = parameter.find("default").text
        words = [element.text for element in parameter.findall("element")]
        assert not words or default in words
        for word in words:  # the command knows each word
            check = subprocess.run([COMMAND, source, SCRATCH / "x.nii.gz", flag.text, word, "-y",
                                    "--device", "cpu", "-q"], capture_output=True, text=True)
            assert check.returncode == 0, check.stderr
        defaults += [flag.text, default]
        others += [flag.text, next(word for word in words if word != default)] if words else []
    if index is not None:
        indices[int(index.text)] = parameter.find("channel").text
assert indices == {0: "input", 1: "output"}
results = [gzip.decompress(source.read_bytes())]
for given, equal in (defaults, []), (others, others):
    result.write_bytes(b"")  # Slicer may create the file first
    subprocess.run([MODULE, *given, source, result], check=True, env=ENVIRONMENT,
                   capture_output=True)
    subprocess.run([COMMAND, source, direct, "-y", *equal], check=True, capture_output=True)
    results.append(gzip.decompress(result.read_bytes()))
    assert results[-1] == gzip.decompress(direct.read_bytes())
assert len(set(results)) == 3, "the options of the panel change the result"
