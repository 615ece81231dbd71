"""Arrays whose results must be equal in GPU and host memory: name, array, sigma, options."""

import numpy as np
from pictures import clip, noise_like, scene, volume

SIGMA = 20 / 255
NOISY = scene() + noise_like(scene(), SIGMA)
COLOURS = np.stack([NOISY, NOISY[::-1], NOISY[:, ::-1]])
CLIP = clip() + noise_like(clip(), SIGMA)
SCAN = volume() + noise_like(volume(), SIGMA)
TIME, CHANNELS, SLICES = {"time_axis": 0}, {"channel_axis": 0}, {"z_axis": 0}
NLM = {"method": "nlm"}


def scaled(array, most, dtype):
    return np.clip(np.rint(np.asarray(array, float) * most), 0, np.iinfo(dtype).max).astype(dtype)


def with_ends(array):
    """Inserts NaN, infinities and values far out of range."""
    array = array.copy()
    array.reshape(-1)[[5, 77, 140, 900]] = np.nan, np.inf, -np.inf, 1e4
    return array


def types_of(array, name, options):
    unit = SIGMA * 4000
    return [
        (f"{name} of uint8", scaled(array, 255, np.uint8), 20, options),
        (f"{name} of uint16", scaled(array, 4000, np.uint16), unit, options),
        (f"{name} of int16", scaled(array, 4000, np.int16) - np.int16(700), unit, options),
        (f"{name} of int8", (scaled(array, 160, np.int16) - 90).astype(np.int8), 12, options),
        (f"{name} of uint32", scaled(array, 4000, np.uint32), unit, options),
        (f"{name} of int64", scaled(array, 4e15, np.int64), SIGMA * 4e15, options),
        (f"{name} of uint64", scaled(array, 4e15, np.uint64), SIGMA * 4e15, options),
        (f"{name} of float16", with_ends(array).astype(np.float16), SIGMA, options),
        (f"{name} of float32", with_ends(array), SIGMA, options),
        (f"{name} of float64", with_ends(array).astype(float), SIGMA, options),
        (f"{name} of any range", array * 5000 - 800, SIGMA * 5000, options),
        (f"{name} of a kept range", array, SIGMA, {**options, "preserve_range": True}),
        (f"{name} of doubles", with_ends(array.astype(float) * 1e6), SIGMA * 1e6, options),
    ]


def magnitudes():
    """Magnitudes of a ball in air, as in MRI."""
    real, imaginary = (noise_like(SCAN, SIGMA, seed) for seed in (3, 4))
    return np.hypot(np.where(volume() > 0.45, volume(), 0) + real, imaginary).astype(np.float32)


def varying():
    """Noise that grows along x."""
    x = np.mgrid[:48, :48, :48][2] / 48
    return 0.3 * volume(48) + noise_like(x, 1) * (0.02 + 0.1 * x).astype(np.float32)


def everything():
    found = "auto"
    last, z_last = COLOURS.transpose(1, 2, 0).copy(), SCAN.transpose(1, 2, 0).copy()
    series = np.stack([SCAN, SCAN[::-1]])
    gaussian = {**SLICES, "noise": "gaussian"}
    return [
        *types_of(NOISY, "picture", {}),
        *types_of(SCAN, "volume", {**gaussian, "profile": "fast"}),
        ("found", NOISY, found, {}),
        ("found in a clip", CLIP, found, TIME),
        ("found in a volume", SCAN, found, SLICES),
        ("found in 16 bits", scaled(CLIP, 900, np.uint16), found, TIME),
        ("colours", COLOURS, SIGMA, CHANNELS),
        ("some colours", COLOURS, [SIGMA, 0, SIGMA], CHANNELS),
        ("no noise", COLOURS, 0, CHANNELS),
        ("two channels", COLOURS[:2], SIGMA, CHANNELS),
        ("channels last", last, SIGMA, {"channel_axis": -1}),
        ("bytes, channels last", scaled(last, 255, np.uint8), 20, {"channel_axis": -1}),
        ("16 bits, channels last", scaled(last, 999, np.uint16), 70, {"channel_axis": -1}),
        ("columns", NOISY.T, SIGMA, {}),
        ("every other", np.tile(NOISY, (2, 2))[::2, ::2], SIGMA, {}),
        ("backwards", NOISY[::-1, ::-1], SIGMA, {}),
        ("a part", NOISY[5:99, 7:60], SIGMA, {}),
        ("one row", NOISY[:1], SIGMA, {}),
        ("clip", CLIP, SIGMA, TIME),
        ("clip of doubles", CLIP.astype(float), SIGMA, TIME),
        ("clip of 16 bits", scaled(CLIP, 4000, np.uint16), SIGMA * 4000, TIME),
        ("clip, time last", CLIP.transpose(1, 2, 0).copy(), SIGMA, {"time_axis": -1}),
        ("frames alone", CLIP, SIGMA, {**TIME, "temporal": 0}),
        ("slices as pictures", CLIP, SIGMA, {"z_axis": 0, "method": "bm3d"}),
        ("few slices", SCAN[:3], SIGMA, SLICES),
        ("volume, z last", z_last, SIGMA, {"z_axis": -1, "noise": "gaussian"}),
        ("series of volumes", series, SIGMA, {"z_axis": 1, "time_axis": 0, "noise": "gaussian"}),
        ("volume of channels", series, SIGMA, {"z_axis": 1, "channel_axis": 0}),
        ("volume without noise", SCAN, 0, gaussian),
        ("volume thinner than a cube", SCAN[:2], SIGMA, {**gaussian, "method": "bm4d"}),
        ("rician noise", magnitudes(), SIGMA, {**SLICES, "noise": "rician"}),
        ("rician noise of 16 bits", scaled(magnitudes(), 900, np.uint16), "auto", {**SLICES, "noise": "rician"}),
        ("rician noise for nlm", magnitudes(), SIGMA, {**SLICES, **NLM, "noise": "rician"}),
        ("noise that varies", varying(), "auto", {**SLICES, "profile": "fast"}),
        ("nlm", NOISY, SIGMA, NLM),
        ("nlm of 16 bits", scaled(NOISY, 4000, np.uint16), SIGMA * 4000, NLM),
        ("nlm of colours", last, SIGMA, {**NLM, "channel_axis": -1}),
        ("nlm over time", CLIP, SIGMA, {**NLM, **TIME}),
        ("nlm without noise", NOISY, 0, NLM),
        ("nlm of a volume", SCAN, SIGMA, {**NLM, **gaussian}),
        ("nlm of slices of doubles", with_ends(SCAN).astype(float), SIGMA, {**NLM, **gaussian}),
    ]


CASES = everything()
NAMES = [case[0] for case in CASES]


def stays(monkeypatch):
    """From here on, a conversion to host memory is an error."""
    for module in ("_denoise", "_authors", "_session"):
        monkeypatch.setattr(f"lull.{module}.to_numpy", None)
