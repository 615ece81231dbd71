#!/usr/bin/env python3
"""check_pipelines.py COMMAND PLUGIN_FOLDER: runs gst-launch-1.0 with the element lulldenoise, and
compares its results with those of the command lull."""

import os
import pathlib
import subprocess
import sys
import tempfile

from clips import FORMATS, HEIGHT, WIDTH, denoised, noisy_frames

COMMAND, PLUGINS = sys.argv[1:3]
SCRATCH = pathlib.Path(tempfile.mkdtemp())
ENVIRONMENT = dict(os.environ, GST_PLUGIN_PATH=PLUGINS, GST_REGISTRY=str(SCRATCH / "registry"))
failures = []


def launch(*words, seconds=60):
    return subprocess.run(["gst-launch-1.0", "-q", *words], env=ENVIRONMENT, text=True,
                          capture_output=True, timeout=seconds)


def expect(condition, text):
    if not condition:
        failures.append(text)


def check_bytes(ffmpeg_format, options, properties):
    """The element gives the bytes of the command with the same options."""
    frames = noisy_frames(ffmpeg_format, 7)
    source, result = SCRATCH / "in.raw", SCRATCH / "out.raw"
    source.write_bytes(b"".join(frames))
    result.unlink(missing_ok=True)
    run = launch("filesrc", f"location={source}", f"blocksize={len(frames[0])}", "!",
                 "rawvideoparse", f"format={FORMATS[ffmpeg_format][0]}", f"width={WIDTH}",
                 f"height={HEIGHT}", "framerate=25/1", "!", "lulldenoise", "device=cpu",
                 *properties, "!", "filesink", f"location={result}")
    name = f"{ffmpeg_format} {' '.join(properties)}"
    expect(run.returncode == 0, f"{name}: {run.stderr}")
    if run.returncode == 0:
        got = result.read_bytes()
        expect(got == denoised(COMMAND, source, ffmpeg_format, options),
               f"{name}: the bytes are not those of the command")
        expect(got != b"".join(frames), f"{name}: nothing was denoised")


def check_live():
    """A live pipeline with a clock passes all frames on."""
    result = SCRATCH / "live.raw"
    for properties in (["sigma=10", "preset=faster"], ["preset=veryfast"]):
        run = launch("videotestsrc", "is-live=true", "num-buffers=24", "pattern=snow", "!",
                     f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=24/1", "!",
                     "lulldenoise", "device=cpu", *properties, "!", "filesink", "sync=true",
                     f"location={result}")
        expect(run.returncode == 0, f"live: {run.stderr}")
        expect(result.stat().st_size == 24 * WIDTH * HEIGHT * 3 // 2,
               f"live {properties}: {result.stat().st_size} bytes")


def check_refusals():
    """Errors are messages of the element, and the pipeline ends."""
    caps = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT}"
    for properties, text in (
            (["profile=fats"], "profile = 'fats' (must be fast, balanced, high, best or paper)"),
            (["temporal=9"], "temporal = '9' (must be auto, or a whole number from 0 to 8)"),
            (["sigma=1:2"], "sigma = '1:2' (must be auto, one number, or Y:Cb:Cr)"),
            (["preset=quick"], "preset = 'quick' (must be veryfast"),
            (["strength=11"], "strength = '11' (must be light")):
        run = launch("videotestsrc", "num-buffers=3", "!", caps, "!", "lulldenoise",
                     *properties, "!", "fakesink")
        expect(run.returncode != 0 and text in run.stderr, f"{properties}: {run.stderr}")


def check_formats():
    """Formats outside the list are not negotiated."""
    run = launch("videotestsrc", "num-buffers=3", "!", "video/x-raw,format=RGBA", "!",
                 "lulldenoise", "!", "fakesink")
    expect(run.returncode != 0, "RGBA was accepted")


for name in FORMATS:
    check_bytes(name, ["--sigma", "9", "--preset", "veryfast"], ["sigma=9", "preset=veryfast"])
check_bytes("yuv420p", ["--sigma", "9:4:4", "--preset", "faster", "--strength", "light"],
            ["sigma=9:4:4", "preset=faster", "strength=light"])
check_bytes("yuv420p", ["--sigma", "9"], ["sigma=9"])
check_bytes("gray", ["--sigma", "9", "--profile", "high", "--temporal", "1"],
            ["sigma=9", "profile=high", "temporal=1"])
check_bytes("yuv420p", ["--sigma", "9", "--method", "nlm", "--temporal", "1"],
            ["sigma=9", "method=nlm", "temporal=1"])
check_live()
check_refusals()
check_formats()
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
