"""Reads denoised DNG files with independent programs: check_raw.py LULL

tifffile makes a DNG file with known noise. rawpy must read and develop lull's results, which must be
closer to the clean scene than the input, developed in the same way. exiv2 must find the tags of the
input in the result. The test is skipped (77) without rawpy and tifffile.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import rawpy
    import tifffile
except ImportError as error:
    print(f"skipped: no rawpy or tifffile ({error})")
    sys.exit(77)

lull = sys.argv[1]
width, height, black, white = 192, 160, 256, 4095
gain, offset = 0.003, 1e-5


def rational(values):
    return [part for value in values for part in (round(value * 10000), 10000)]


def scene():
    """Linear R, G, B as the camera sees them: a colour chart with stripes."""
    y, x = np.mgrid[0:height, 0:width]
    light = 0.18 + 0.12 * np.sin(x / 30) * np.cos(y / 23) + 0.15 * ((x // 24 + y // 20) % 2)
    light = light * (1 - 0.3 * ((x > 120) & (x // 6 % 2 == 0)))
    tint = np.stack([1 + 0.2 * np.sin(y / 40), np.ones_like(light), 1 - 0.2 * np.sin(x / 50)], -1)
    return light[..., None] * tint / np.array([2, 1, 1.6])


def mosaic(rgb):
    result = rgb[..., 1].copy()
    result[0::2, 0::2] = rgb[0::2, 0::2, 0]
    result[1::2, 1::2] = rgb[1::2, 1::2, 2]
    return result


def write_dng(path, samples):
    stored = np.clip(np.rint(black + samples * (white - black)), 0, white).astype(np.uint16)
    tags = [
        (33421, 3, 2, (2, 2), True),
        (33422, 1, 4, bytes((0, 1, 1, 2)), True),
        (271, 2, 0, "Lull", True),
        (272, 2, 0, "Test Camera", True),
        (315, 2, 0, "an artist", True),
        (50706, 1, 4, bytes((1, 4, 0, 0)), True),
        (50707, 1, 4, bytes((1, 1, 0, 0)), True),
        (50708, 2, 0, "Lull Test Camera", True),
        (50714, 4, 1, black, True),
        (50717, 4, 1, white, True),
        (50721, 10, 9, rational([3.2, -1.5, -0.5, -1.0, 1.9, 0.04, 0.06, -0.2, 1.06]), True),
        (50728, 5, 3, rational([0.5, 1, 0.625]), True),
        (50778, 3, 1, 21, True),
        (51041, 12, 2, (gain, offset), True),
    ]
    tifffile.imwrite(path, stored, photometric=32803, extratags=tags, metadata=None, software=None)


def develop(path):
    with rawpy.imread(str(path)) as raw:
        return raw.postprocess(
            use_camera_wb=True, no_auto_bright=True, output_bps=16, output_color=rawpy.ColorSpace.raw,
            gamma=(2.4, 12.92), adjust_maximum_thr=0, user_flip=0,
        ).astype(float)


def error(picture, clean):
    inner = (slice(8, -8), slice(8, -8))
    return np.sqrt(np.mean((picture - clean)[inner] ** 2))


folder = pathlib.Path(tempfile.mkdtemp())
try:
    rng = np.random.default_rng(1)
    clean = mosaic(scene())
    write_dng(folder / "clean.dng", clean)
    write_dng(folder / "in.dng", clean + rng.normal(size=clean.shape) * np.sqrt(gain * clean + offset))
    target = develop(folder / "clean.dng")
    before = error(develop(folder / "in.dng"), target)
    for kind in ("linear", "mosaic"):
        out = folder / f"{kind}.dng"
        subprocess.run([lull, folder / "in.dng", out, "--raw", kind, "-d", "cpu"], check=True)
        with rawpy.imread(str(out)) as raw:
            sizes = raw.sizes
            assert (sizes.width, sizes.height) == (width, height), sizes
            if kind == "mosaic":
                assert raw.raw_pattern.tolist() == [[0, 1], [3, 2]], raw.raw_pattern
                assert raw.black_level_per_channel == [black * 16] * 4
                assert raw.white_level == white * 16
        after = error(develop(out), target)
        print(f"{kind}: error {before:.0f} becomes {after:.0f}")
        assert after < 0.6 * before
        if shutil.which("exiv2"):
            listed = subprocess.run(
                ["exiv2", "-pa", out], check=True, capture_output=True, text=True).stdout
            for text in ("Lull Test Camera", "an artist", "NoiseProfile", "ColorMatrix1"):
                assert text in listed, text
finally:
    shutil.rmtree(folder)
