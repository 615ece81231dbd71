"""The code of docs/how-to/dask.md: dask arrays are denoised block by block, with overlap."""

import pathlib
import re

import lull
import numpy as np
import pytest
from pictures import noise_like, psnr, volume

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
skimage_data = pytest.importorskip("skimage.data")

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "dask.md"
BLOCK = 64
SIGMA = 0.1


def function_of_page():
    names = {}
    exec(re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1], names)
    return names["denoise_blocks"]


def denoised(array, chunks, sigma, **options):
    blocks = function_of_page()(da.from_array(array, chunks=chunks), sigma, device="cpu", **options)
    with dask.config.set(scheduler="single-threaded"):
        return blocks.compute()


def at_edges(array):
    """The samples beside the edges of the blocks of a picture."""
    near = np.zeros(array.shape, bool)
    for edge in range(BLOCK, max(array.shape), BLOCK):
        near[edge - 4 : edge + 4] = near[:, edge - 4 : edge + 4] = True
    return array[near]


CLEAN = (skimage_data.camera()[128:320, 96:288] / 255).astype(np.float32)
NOISY = CLEAN + noise_like(CLEAN, SIGMA)


def test_overlap_makes_edges_as_good_as_without_blocks():
    whole = lull.denoise(NOISY, SIGMA, device="cpu")
    blocks = denoised(NOISY, BLOCK, SIGMA)
    apart = denoised(NOISY, BLOCK, SIGMA, depth=0)
    assert psnr(at_edges(CLEAN), at_edges(blocks)) > psnr(at_edges(CLEAN), at_edges(whole)) - 0.1
    assert psnr(at_edges(CLEAN), at_edges(apart)) < psnr(at_edges(CLEAN), at_edges(whole)) - 0.3


def test_sample_of_the_noise_serves_all_blocks():
    sample = lull.estimate_noise(NOISY[:, :BLOCK])
    blocks = denoised(NOISY, BLOCK, sample)
    assert psnr(CLEAN, blocks) > psnr(CLEAN, denoised(NOISY, BLOCK, SIGMA)) - 0.3


def test_integers_and_volumes_keep_type_and_shape():
    clean = volume(32)
    noisy = np.round(60000 * (clean + noise_like(clean, SIGMA)).clip(0, 1)).astype(np.uint16)
    result = denoised(noisy, (16, 24, 32), SIGMA * 60000, depth=8, z_axis=0)
    assert result.dtype == noisy.dtype and result.shape == noisy.shape
    assert psnr(clean, result / 60000) > psnr(clean, noisy / 60000) + 6


def test_axes_without_overlap_keep_channels_apart():
    both = np.stack([NOISY, NOISY[::-1]])
    result = denoised(both, (1, BLOCK, BLOCK), SIGMA, depth={0: 0, 1: 16, 2: 16}, channel_axis=0)
    np.testing.assert_array_equal(result[0], denoised(NOISY, BLOCK, SIGMA))
