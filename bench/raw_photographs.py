"""PSNR of raw photographs: raw_photographs.py LULL PROFILE GAIN[,GAIN] PICTURE[:LEFT,TOP,WIDTH,HEIGHT] ...

Clean sRGB pictures become linear, are divided by a white balance of 2, 1 and 1.6, sampled in the
pattern RGGB, and get noise of the variance GAIN x + 1e-5. lull denoises the mosaic as a DNG file, once
with a noise profile and once without. The result is balanced and gets the sRGB curve again. PSNR of R,
G and B, without 16 pixels at each border.

`reference` is the same mosaic, stabilised, demosaiced by Menon's method, denoised as a picture with
twice the noise level, and inverted without bias. Pictures are PNG files, or the .raw files of PyPI's
vc2-conformance-data (4256x2832, G B R of 16 bits). Needs numpy, scipy, pillow, tifffile and
colour-demosaicing.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import tifffile
from colour_demosaicing import demosaicing_CFA_Bayer_Menon2007 as menon
from PIL import Image
from scipy.stats import norm

lull, profile = sys.argv[1:3]
balance = np.array([2.0, 1.0, 1.6])
offset, black, white = 1e-5, 512, 65535
normal = norm.ppf((np.arange(2001) + 0.5) / 2001)


def linear(s):
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def srgb(x):
    x = np.clip(x, 0, 1)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def mosaic(rgb):
    sites = rgb[..., 1].copy()
    sites[0::2, 0::2] = rgb[0::2, 0::2, 0]
    sites[1::2, 1::2] = rgb[1::2, 1::2, 2]
    return sites


def psnr(a, b):
    return 10 * np.log10(1 / np.mean((a - b)[16:-16, 16:-16] ** 2))


def load(name):
    path, _, box = name.partition(":")
    if path.endswith(".raw"):
        planes = np.fromfile(path, "<u2").reshape(3, 2832, 4256) / 65535
        rgb = np.stack([planes[2], planes[0], planes[1]], -1)
    else:
        rgb = np.asarray(Image.open(path).convert("RGB")) / 255
    if box:
        left, top, width, height = map(int, box.split(","))
        rgb = rgb[top:top + height, left:left + width]
    return rgb[:rgb.shape[0] // 2 * 2, :rgb.shape[1] // 2 * 2]


def write_dng(path, samples, noise):
    def rational(values):
        return [part for value in values for part in (round(value * 10000), 10000)]

    stored = np.clip(np.rint(black + samples * (white - black)), 0, white).astype(np.uint16)
    matrix = [3.2, -1.5, -0.5, -1.0, 1.9, 0.04, 0.06, -0.2, 1.06]
    tags = [(33421, 3, 2, (2, 2)), (33422, 1, 4, bytes((0, 1, 1, 2))), (271, 2, 0, "Lull"),
            (272, 2, 0, "Test"), (50706, 1, 4, bytes((1, 4, 0, 0))),
            (50707, 1, 4, bytes((1, 1, 0, 0))), (50708, 2, 0, "Lull Test"), (50714, 4, 1, black),
            (50717, 4, 1, white), (50721, 10, 9, rational(matrix)),
            (50728, 5, 3, rational(1 / balance)), (50778, 3, 1, 21)]
    if noise:
        tags.append((51041, 12, 2, noise))
    tifffile.imwrite(path, stored, photometric=32803, metadata=None, software=None,
                     extratags=[(*tag, True) for tag in tags])


def read_dng(path):
    with tifffile.TiffFile(path) as file:
        page = file.pages[0].pages[0]
        level = page.tags[50714].value
        return (page.asarray() - level[0] / level[1]) / (page.tags[50717].value[0] - level[0] / level[1])


def run(source, target, *more):
    command = [lull, source, target, "-y", "--profile", profile, *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def stabilise(gain, top):
    def curve(x):
        return 2 / gain * np.sqrt(np.maximum(gain * x + 3 / 8 * gain ** 2 + offset, 0))

    low = curve(-3 * np.sqrt(offset))
    scale = 215 / (curve(top) - low)
    return (lambda x: (curve(x) - low) * scale + 20), scale


def inverse(forward, gain, offset, top):
    light = np.linspace(0, top, 1500)
    means = [forward(x + normal * np.sqrt(gain * x + offset)).mean() for x in light]
    return lambda v: np.interp(v, means, light)


def reference(balanced, gain, folder):
    forward, scale = stabilise(gain, 1.1)
    picture = np.clip(np.rint(menon(forward(balanced), "RGGB") * 257), 0, 65535).astype(np.uint16)
    tifffile.imwrite(folder / "in.tif", picture, photometric="rgb")
    sigma = ":".join(f"{2 * scale * np.sqrt(w):.3f}" for w in balance)
    run(folder / "in.tif", folder / "out.tif", "--sigma", sigma)
    result = tifffile.imread(folder / "out.tif") / 257
    return np.stack([inverse(forward, gain * w, offset * w * w, 1.25)(result[..., c])
                     for c, w in enumerate(balance)], -1)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for picture in sys.argv[4:]:
        rgb = load(picture)
        light, factors = mosaic(linear(rgb) / balance), mosaic(np.broadcast_to(balance, rgb.shape))
        for gain in map(float, sys.argv[3].split(",")):
            rng = np.random.default_rng(3)
            noisy = light + rng.normal(size=light.shape) * np.sqrt(gain * light + offset)
            results = {"noisy": psnr(srgb(menon(noisy * factors, "RGGB")), rgb)}
            for kind, noise in (("profile", (gain, offset)), ("estimated", None)):
                write_dng(folder / "in.dng", noisy, noise)
                messages = run(folder / "in.dng", folder / "out.dng")
                results[kind] = psnr(srgb(read_dng(folder / "out.dng") * balance), rgb)
            results["reference"] = psnr(srgb(reference(noisy * factors, gain, folder)), rgb)
            found = re.search("gain ([^,]*), offset ([^ ]*)", messages).groups()
            print(pathlib.Path(picture).name, gain, *(f"{k} {v:.2f}" for k, v in results.items()),
                  "found", *found, flush=True)
