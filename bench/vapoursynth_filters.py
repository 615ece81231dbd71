#!/usr/bin/env python3
"""Frames per second and PSNR of the VapourSynth filters that are installed: lull and BM3DCUDA (its
wheel requires VapourSynth below R80, so the two need different Python environments). The clip is
synthetic: grey floats with noise of sigma 20 that move by two samples per frame. Its frames are
created before the measurement and are cached; the first line of the output is the rate of the clip
alone. Every script runs once without measurement to warm up memory. Then all scripts run in turn for
several rounds, and the median is printed. The first quarter of each run is not measured."""

import argparse
import os
import statistics
import time

import numpy as np
import vapoursynth as vs

core = vs.core
SIGMA = 20
PREFETCH = 8


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="*", type=int, metavar="WIDTH HEIGHT FRAMES")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="only scripts whose name contains this text")
    parser.add_argument(
        "--plugin",
        action="append",
        default=[path for path in os.environ.get("LULL_BENCH_PLUGINS", "").split(":") if path],
        help="file of a plug-in that is not installed; may be given several times "
        "(LULL_BENCH_PLUGINS: a list separated by colons)",
    )
    given = parser.parse_args()
    if len(given.size) not in (0, 3):
        parser.error("WIDTH HEIGHT FRAMES, or none of them")
    return given


def clip(width, height, frames):
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:height, : width + 2 * frames]
    waves = np.sin(x / 9 + np.sin(y / 40)) + np.sin(y / 7 + x / 31) * np.cos(x / 90)
    noise = rng.normal(0, 1, x.shape)
    for _ in range(6):  # coarse structure with edges
        noise = (noise + np.roll(noise, 2, 0) + np.roll(noise, 2, 1)) / 1.8
    wide = (0.5 + 0.12 * waves + 0.15 * np.sign(noise)).astype(np.float32)
    clean = [wide[:, 2 * k : 2 * k + width] for k in range(frames)]
    noisy = [c + rng.normal(0, SIGMA / 255, c.shape).astype(np.float32) for c in clean]
    blank = core.std.BlankClip(None, width, height, vs.GRAYS, frames, 25, 1, keep=True)

    def fill(n, f):
        frame = f.copy()
        np.copyto(np.asarray(frame[0]), noisy[n])
        return frame

    # All frames must stay in the cache, because creating them in Python is slower than filtering.
    core.max_cache_size = max(core.max_cache_size, 3 * frames * width * height * 4 >> 20)
    source = core.std.ModifyFrame(blank, blank, fill)
    core.std.SetVideoCache(source, mode=1, fixedsize=1, maxsize=frames, maxhistory=0)
    for _ in source.frames():
        pass
    return clean, source


def run(result):
    """Returns the frames per second and the middle frame, which is evaluated after the measurement."""
    frames, begin, middle = result.num_frames, 0.0, None
    first = frames // 4
    for n, frame in enumerate(result.frames(prefetch=PREFETCH)):
        if n == first:
            begin = time.perf_counter()
        if n == frames // 2:
            middle = frame
    return (frames - first - 1) / (time.perf_counter() - begin), middle


def psnr(frame, clean):
    return -10 * np.log10(float(np.mean((np.asarray(frame[0]) - clean) ** 2)))


def scripts(source):
    """Yields names and functions that create a filter, a new one for each run (nothing is cached)."""
    yield "no filter", lambda: core.std.CopyFrameProps(source, source)
    if hasattr(core, "lull"):
        for profile in ("fast", "balanced", "high"):
            for radius in (0, 1, 2):
                settings = dict(sigma=SIGMA, profile=profile, temporal=radius)
                yield f"lull {profile} R {radius}", lambda s=settings: core.lull.Denoise(source, **s)
    if hasattr(core, "bm3dcuda"):

        def both_phases(settings):
            basic = core.bm3dcuda.BM3Dv2(source, **settings)
            return core.bm3dcuda.BM3Dv2(source, ref=basic, **settings)

        for step, search in ((8, 9), (4, 9), (3, 19)):
            for radius in (0, 1, 2):
                settings = dict(sigma=SIGMA, block_step=step, bm_range=search, radius=radius)
                name = f"bm3dcuda step {step} range {search} R {radius}"
                yield name, lambda s=settings: both_phases(s)


def main():
    given = arguments()
    for path in given.plugin:
        core.std.LoadPlugin(os.path.abspath(path))
    width, height, frames = given.size or (1920, 1080, 96)
    clean, source = clip(width, height, frames)
    chosen = [(name, make) for name, make in scripts(source) if given.only in name]
    version = getattr(core, "core_version", "VapourSynth")
    print(f"{version}; {width}x{height}, {frames} frames, sigma {SIGMA}, {given.rounds} rounds")
    for _, make in chosen:
        for n, _ in enumerate(make().frames(prefetch=PREFETCH)):
            if n == frames // 4:
                break
    rates, quality = {}, {}
    for _ in range(given.rounds):
        for name, make in chosen:
            rate, middle = run(make())
            rates.setdefault(name, []).append(rate)
            if name not in quality:
                quality[name] = psnr(middle, clean[frames // 2])
    for name, found in rates.items():
        spread = f"({min(found):.1f} .. {max(found):.1f})"
        print(f"{name:40} {statistics.median(found):8.1f} fps {spread:20} {quality[name]:6.2f} dB")


if __name__ == "__main__":
    main()
