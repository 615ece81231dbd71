"""Pictures, clips and volumes for the tests, and the PSNR of results."""

import numpy as np


def scene(height=128, width=160, seed=5):
    """Blocks, ramps and texture with values from 0 to 1."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    blocks = np.kron(rng.random((height // 16 + 1, width // 16 + 1)), np.ones((16, 16)))
    waves = 1 + np.sin(x / 3 + y / 7)
    return (0.1 + 0.6 * blocks[:height, :width] + 0.1 * waves * x / width).astype(np.float32)


def noise_like(array, sigma, seed=9):
    return np.random.default_rng(seed).normal(0, sigma, array.shape).astype(np.float32)


def clip(frames=8, height=64, width=80, seed=5):
    wide = scene(height, width + 2 * frames, seed)
    return np.stack([wide[:, 2 * k : 2 * k + width] for k in range(frames)])


def volume(size=24, seed=5):
    z, y, x = np.mgrid[:size, :size, :size] / size
    ball = (z - 0.5) ** 2 + (y - 0.5) ** 2 + (x - 0.5) ** 2 < 0.16
    return (0.2 + 0.5 * ball + 0.15 * np.sin(9 * x + 5 * z)).astype(np.float32)


def psnr(clean, result, peak=1.0):
    error = np.mean((np.asarray(clean, float) - np.asarray(result, float)) ** 2)
    return 10 * np.log10(peak**2 / error)
