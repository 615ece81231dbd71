#!/usr/bin/env python3
"""vapoursynth_filters.py [WIDTH HEIGHT FRAMES]: frames a second and PSNR of one script with the
filters that VapourSynth finds here: lull's, BM3DCUDA's (its wheel wants VapourSynth below R80, so
that the two are run by two Pythons). The clip is synthetic, grey floats with noise of sigma 20,
moving by two samples a frame; its frames are made before the clock starts. The first quarter warms
up and does not count."""

import sys
import time

import numpy as np
import vapoursynth as vs

core = vs.core
SIGMA = 20


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

    source = core.std.ModifyFrame(blank, blank, fill)
    source = core.std.Cache(source, size=frames) if hasattr(core.std, "Cache") else source
    for _ in source.frames():
        pass
    return clean, source


def measure(name, clean, result):
    frames = len(clean)
    first, error, begin = frames // 4, 0.0, 0.0
    for n, frame in enumerate(result.frames(prefetch=8)):
        if n == first:
            begin = time.perf_counter()
        if n == frames // 2:
            error = float(np.mean((np.asarray(frame[0]) - clean[n]) ** 2))
    seconds = time.perf_counter() - begin
    print(f"{name:40} {(frames - first - 1) / seconds:8.2f} fps {-10 * np.log10(error):7.2f} dB")


def scripts(source):
    if hasattr(core, "lull"):
        for profile in ("fast", "balanced", "high"):
            for radius in (0, 1, 2):
                settings = dict(sigma=SIGMA, profile=profile, temporal=radius)
                yield f"lull {profile} R {radius}", core.lull.Denoise(source, **settings)
    if hasattr(core, "bm3dcuda"):
        for step, search in ((8, 9), (4, 9), (3, 19)):
            for radius in (0, 1, 2):
                settings = dict(sigma=SIGMA, block_step=step, bm_range=search, radius=radius)
                basic = core.bm3dcuda.BM3Dv2(source, **settings)
                name = f"bm3dcuda step {step} range {search} R {radius}"
                yield name, core.bm3dcuda.BM3Dv2(source, ref=basic, **settings)


def main():
    width, height, frames = (int(a) for a in sys.argv[1:4]) if len(sys.argv) > 3 else (1920, 1080, 96)
    clean, source = clip(width, height, frames)
    print(f"{getattr(core, "core_version", "VapourSynth")}; {width}x{height}, {frames} frames, sigma {SIGMA}")
    for name, result in scripts(source):
        measure(name, clean, result)


if __name__ == "__main__":
    main()
