"""Clips for the tests of the plug-in, and the results of the command for them."""

import os
import pathlib
import subprocess

import numpy as np
import vapoursynth as vs

core = vs.core
PLUGIN = os.environ["LULL_PLUGIN"]
COMMAND = os.environ["LULL_COMMAND"]

if not hasattr(core, "lull"):
    core.std.LoadPlugin(PLUGIN)


def scene(width, height, seed):
    """Blocks, ramps and texture with values from 0 to 1."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    blocks = rng.random((height // 16 + 2, width // 16 + 2))
    picture = np.kron(blocks, np.ones((16, 16)))[:height, :width]
    return 0.1 + 0.6 * picture + 0.15 * (1 + np.sin(x / 3 + y / 7)) * (x / width)


def moving(frames, width, height, kinds="f", seed=1):
    """Noisy frames of a moving picture. `kinds` has one letter per frame and is repeated: f is a
    new frame, r repeats the previous frame, c begins another scene."""
    rng = np.random.default_rng(seed)
    wide = scene(width + 2 * frames, height, seed)
    clips, clean, cuts = [], [], 0
    for k in range(frames):
        kind = kinds[k % len(kinds)] if k > 0 else "f"
        if kind == "r":
            clips.append(clips[-1])
            clean.append(clean[-1])
            continue
        if kind == "c":
            cuts += 1
            wide = scene(width + 2 * frames, height, seed + 100 * cuts)
        picture = wide[:, 2 * k : 2 * k + width]
        clean.append(picture)
        clips.append(picture + rng.normal(0, 20 / 255, picture.shape))
    return np.clip(np.stack(clips), 0, 1), np.stack(clean)


def source(planes, format):
    """A VapourSynth clip with these planes: a list of arrays for each frame."""
    height, width = planes[0][0].shape
    blank = core.std.BlankClip(
        width=width, height=height, length=len(planes), format=format, fpsnum=25, fpsden=1, keep=True
    )

    def fill(n, f):
        frame = f.copy()
        for i, plane in enumerate(planes[n]):
            np.copyto(np.asarray(frame[i]), plane)
        frame.props["Number"] = n
        return frame

    return core.std.ModifyFrame(blank, blank, fill)


def planes_of(frame):
    return [np.asarray(frame[i]).copy() for i in range(frame.format.num_planes)]


def command(planes, tag, tmp_path: pathlib.Path, *options):
    """Returns the result of the command for frames in Y4M with the colour space `tag`."""
    height, width = planes[0][0].shape
    wide = planes[0][0].dtype == np.uint16
    noisy, clean = tmp_path / "in.y4m", tmp_path / "out.y4m"
    with open(noisy, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag}\n".encode())
        for frame in planes:
            file.write(b"FRAME\n")
            for plane in frame:
                file.write(plane.astype("<u2" if wide else "u1").tobytes())
    subprocess.run(
        [COMMAND, "denoise", noisy, clean, "-y", "-q", "--device", "cpu", *options], check=True
    )
    data = clean.read_bytes()
    at = data.index(b"\n") + 1
    results = []
    for frame in planes:
        at = data.index(b"\n", at) + 1
        result = []
        for plane in frame:
            size = plane.nbytes
            result.append(np.frombuffer(data[at : at + size], plane.dtype).reshape(plane.shape))
            at += size
        results.append(result)
    return results
