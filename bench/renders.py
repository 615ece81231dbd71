#!/usr/bin/env python3
"""Compares lull and Open Image Denoise on renders: PSNR, relative error, seconds.

    pip install numpy OpenEXR pyoidn          # OIDN is skipped if it is missing
    bench/renders.py [--lull build/bin/lull] NOISY.exr REFERENCE.exr [NOISY.exr REFERENCE.exr ...]

Renders are OpenEXR files with the layers albedo.RGB, normal.XYZ, depth.Z and variance.RGB, like those
of samples/render_scene.cpp. PSNR is that of clip(x, 0, 1)^(1/2.2); the relative error is the mean of
(a - r)^2 / (r^2 + 0.01). Times of lull are those of the complete command including files; times of
OIDN are those of its second call in one process, without files.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import OpenEXR

try:
    import pyoidn
except ImportError:
    pyoidn = None


def read(path):
    channels = OpenEXR.File(str(path), separate_channels=True).parts[0].channels

    def take(*names):
        return np.stack([channels[n].pixels.astype(np.float32) for n in names], -1)

    picture = {"colour": take("R", "G", "B")}
    if "albedo.R" in channels:
        picture["albedo"] = take("albedo.R", "albedo.G", "albedo.B")
    if "normal.X" in channels:
        picture["normal"] = take("normal.X", "normal.Y", "normal.Z")
    return picture


def psnr(a, r):
    shown = [np.clip(x, 0, 1) ** (1 / 2.2) for x in (a, r)]
    return -10 * np.log10(((shown[0] - shown[1]) ** 2).mean())


def relative(a, r):
    return ((a - r) ** 2 / (r**2 + 0.01)).mean()


def lull(command, noisy, options):
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / "clean.exr"
        begin = time.perf_counter()
        subprocess.run([command, "denoise", "-q", noisy, str(clean), *options], check=True)
        return read(clean)["colour"], time.perf_counter() - begin


def oidn(picture, features):
    given = {k: picture[k] for k in features if k in picture}
    for _ in range(2):  # the first call builds the network
        begin = time.perf_counter()
        result = pyoidn.denoise(picture["colour"], hdr=True, **given)
        seconds = time.perf_counter() - begin
    return np.asarray(result), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lull", default="build/bin/lull")
    parser.add_argument("--device", default="cpu", help="device of lull (default: cpu)")
    parser.add_argument("files", nargs="+", help="pairs of a noisy render and its reference")
    given = parser.parse_args()
    own = {
        "nlm": ["--guide", "auto", "--method", "nlm"],
        "nlm, divided, no other feature": ["--method", "nlm", "--feature",
                                           "albedo=:albedo,variance=:variance"],
        "bm3d": ["--guide", "auto", "--method", "bm3d"],
    }
    peers = {
        "OIDN, colour": (),
        "OIDN, albedo": ("albedo",),
        "OIDN, albedo and normal": ("albedo", "normal"),
    }
    print(f"{'':34} PSNR  rel.err. seconds")
    for noisy, reference in zip(given.files[::2], given.files[1::2]):
        picture, truth = read(noisy), read(reference)["colour"]
        rows = [("noisy", picture["colour"], 0.0)]
        for name, options in own.items():
            rows.append((f"lull {name}", *lull(given.lull, noisy, ["--device", given.device, *options])))
        for name, features in peers.items() if pyoidn else ():
            rows.append((name, *oidn(picture, features)))
        print(Path(noisy).name)
        for name, result, seconds in rows:
            print(f"  {name:32} {psnr(result, truth):5.2f} {relative(result, truth):8.4f} {seconds:7.2f}")


if __name__ == "__main__":
    main()
