#!/usr/bin/env python3
"""Counts which flipped bits in the compressed data of OpenEXR files lull detects.

    pip install numpy OpenEXR
    bench/exr_damage.py [--lull build/bin/lull] [--flips 300] [COMPRESSION ...]

The script writes a picture of 256x256 half floats with each compression, flips one bit behind the header
and the table of chunks, and reads the file with lull. A flip counts as detected if lull ends with exit
code 65, and as harmless if lull reads the samples of the intact file.
"""

import argparse
import random
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import OpenEXR

SIDE = 256


def write_picture(path, compression):
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    channels = {}
    for phase, name in enumerate("RGB"):
        light = 0.3 + 0.2 * np.sin(x / 20 + phase) * np.cos(y / 17) + rng.normal(0, 0.02, x.shape)
        channels[name] = light.astype("float16")
    header = {"compression": getattr(OpenEXR, f"{compression}_COMPRESSION")}
    OpenEXR.File(header, channels).write(str(path))


def start_of_data(data):
    """Returns the position of the first chunk's compressed bytes."""
    at = 8
    while data[at]:
        at = data.index(0, data.index(0, at) + 1) + 1  # behind the name and the type
        at += 4 + struct.unpack_from("<I", data, at)[0]
    return struct.unpack_from("<Q", data, at + 1)[0] + 8


def read(lull, path):
    """Returns the exit code of lull, and the digest of the samples."""
    command = [lull, "denoise", str(path), "hash", "--sigma", "0", "--device", "cpu", "-q"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lull", default="build/bin/lull")
    parser.add_argument("--flips", type=int, default=300)
    parser.add_argument("compressions", nargs="*", default=["ZIP", "PIZ", "RLE", "B44", "DWAA"])
    options = parser.parse_args()
    print("| compression | detected | harmless | undetected | other exit codes |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.exr"
        for compression in options.compressions:
            write_picture(path, compression)
            intact = path.read_bytes()
            code, expected = read(options.lull, path)
            assert code == 0, code
            start = start_of_data(intact)
            rng = random.Random(1)
            detected = harmless = undetected = other = 0
            for _ in range(options.flips):
                damaged = bytearray(intact)
                damaged[rng.randrange(start, len(intact))] ^= 1 << rng.randrange(8)
                path.write_bytes(damaged)
                code, digest = read(options.lull, path)
                detected += code == 65
                other += code not in (0, 65)
                harmless += code == 0 and digest == expected
                undetected += code == 0 and digest != expected
            print(f"| {compression} | {detected} | {harmless} | {undetected} | {other} |", flush=True)


main()
