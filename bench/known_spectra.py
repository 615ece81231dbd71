#!/usr/bin/env python3
"""Noise with a known spectrum in the centres of pictures: lull with this spectrum, lull with its own
estimate, lull with the best single level, and the authors' bm3d with the spectrum. PSNR in dB of the
luma of 256x256 float samples, which are clipped to 0..255 only for the comparison.

  python3 -m venv venv && venv/bin/pip install bm3d imageio numpy tifffile
  venv/bin/python bench/known_spectra.py build/bin/lull PICTURE ...

(The authors' bm3d is not free software; it is used for measurements only.)
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

np.trapz = getattr(np, "trapz", None) or np.trapezoid  # bm3d 4.0.3 still calls this function
import bm3d  # noqa: E402
import imageio.v3 as iio  # noqa: E402
import tifffile  # noqa: E402

SIDE = 256
BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16
IDENTITY = np.zeros((3, 3))
IDENTITY[1, 1] = 1
FACTORS = (0.6, 0.8, 1, 1.25, 1.6, 2, 2.5)  # factors on the true level, to find the best single level
REACH = 7


def unit(kernel):
    return kernel / np.sqrt((kernel**2).sum())


def power(kernel, shape):
    padded = np.zeros(shape)
    padded[: kernel.shape[0], : kernel.shape[1]] = kernel
    return np.abs(np.fft.fft2(padded)) ** 2


def filtered(noise, kernel):
    padded = np.zeros(noise.shape)
    padded[: kernel.shape[0], : kernel.shape[1]] = kernel
    return np.fft.ifft2(np.fft.fft2(noise) * np.fft.fft2(np.roll(padded, (-1, -1), (0, 1)))).real


def autocorrelation(kernel):
    lags = np.fft.ifft2(power(kernel, (32, 32))).real
    around = np.arange(-REACH, REACH + 1)
    return lags[np.ix_(around, around)]


def record(sigma, lags, curve=None):
    """Returns a noise file of lull for a grey float picture."""
    plane = {"name": "Y", "sigma": float(sigma), "autocorrelation": lags.tolist()}
    if curve is not None:
        plane["curve"] = {"sigma": curve.tolist()}
    scene = {"from": 0, "certain": True, "level": [float(sigma)], "coarse": 1.0, "planes": [plane]}
    return {"lull noise": 1, "layout": "gray", "unit": 1.0, "scenes": [scene]}


def blurred(clean, noise):
    """White noise filtered with [1 2 1] along both axes, standard deviation 10."""
    kernel = unit(BLUR)
    return clean + 10 * filtered(noise, kernel), kernel, 10, record(10, autocorrelation(kernel))


def blue(clean, noise):
    """White noise minus its blurred version, standard deviation 20."""
    kernel = unit(IDENTITY - BLUR)
    return clean + 20 * filtered(noise, kernel), kernel, 20, record(20, autocorrelation(kernel))


def photons(clean, noise):
    """Noise with variance 2 y + 9, blurred."""
    kernel, gain = unit(BLUR), np.sqrt((BLUR**2).sum())
    level = gain * np.sqrt(np.mean(2 * clean + 9))
    curve = gain * np.sqrt(2 * np.linspace(0, 255, 33) + 9)
    stabilised = gain * 255 / (np.sqrt(2 * 255 + 9) - 3)  # 255 over the integral of 1 / curve
    noisy = clean + filtered(np.sqrt(2 * clean + 9) * noise, BLUR)
    return noisy, kernel, level, record(stabilised, autocorrelation(kernel), curve)


def psnr(picture, clean):
    return 10 * np.log10(255**2 / np.mean((np.clip(picture, 0, 255) - clean) ** 2))


def middle_luma(path):
    picture = iio.imread(path).astype(float)
    if picture.ndim == 3:
        picture = picture[..., :3] @ [0.299, 0.587, 0.114]
    y, x = ((n - SIDE) // 2 for n in picture.shape)
    return picture[y : y + SIDE, x : x + SIDE]


def main():
    lull, pictures = sys.argv[1], sys.argv[2:]
    folder = pathlib.Path(tempfile.mkdtemp())
    noisy_file, result_file, noise_file = (folder / n for n in ("z.tif", "y.tif", "noise.json"))

    def denoised(*options):
        command = [lull, noisy_file, result_file, "--profile", "high", "--device", "cpu", "-y", "-q"]
        subprocess.run([*command, *options], check=True)
        return tifffile.imread(result_file)

    for kind in (blurred, blue, photons):
        rows = []
        for number, path in enumerate(pictures):
            clean = middle_luma(path)
            noise = np.random.default_rng(100 + number).standard_normal(clean.shape)
            noisy, kernel, level, known = kind(clean, noise)
            noisy = noisy.astype(np.float32)
            tifffile.imwrite(noisy_file, noisy)
            noise_file.write_text(json.dumps(known))
            single = max(psnr(denoised("--sigma", f"{f * level:.3f}"), clean) for f in FACTORS)
            begin = time.process_time()
            spectrum = power(kernel, clean.shape) * (level / 255) ** 2 * clean.size
            authors = psnr(bm3d.bm3d(noisy / 255, spectrum) * 255, clean)
            rows.append(
                (
                    psnr(noisy, clean),
                    single,
                    psnr(denoised("--noise", noise_file), clean),
                    psnr(denoised(), clean),
                    authors,
                    time.process_time() - begin,
                )
            )
        names = ("noisy", "single", "known", "blind", "authors", "authors_cpu_s")
        means = np.mean(rows, axis=0)
        print(kind.__name__, *(f"{n} {m:.3f}" for n, m in zip(names, means)), flush=True)


main()
