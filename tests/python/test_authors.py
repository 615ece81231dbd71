"""lull.bm3d and lull.bm4d: the conventions of the authors' packages, and of scikit-image."""

import importlib.metadata
import importlib.util

import lull
import numpy as np
import pytest
from pictures import noise_like, psnr, scene, volume

SIGMA = 20 / 255
CLEAN = scene()
NOISY = (CLEAN + noise_like(CLEAN, SIGMA)).astype(float)


def coloured(shape, sigma, seed=4):
    """Noise from a kernel, and its power spectral density in the convention of the authors."""
    kernel = np.zeros(shape)
    kernel[:2, :4] = 1
    kernel *= sigma / np.sqrt((kernel**2).sum())
    spectrum = np.fft.fft2(kernel)
    white = np.random.default_rng(seed).normal(0, 1, shape)
    return np.fft.ifft2(np.fft.fft2(white) * spectrum).real, np.abs(spectrum) ** 2 * white.size


def test_standard_deviation_equals_denoise():
    result = lull.bm3d(NOISY, SIGMA)
    assert result.dtype == float and psnr(CLEAN, result) > psnr(CLEAN, NOISY) + 8
    np.testing.assert_array_equal(lull.bm3d(NOISY, np.array([SIGMA])), result)


def test_second_stage_improves():
    stages = [lull.BM3DStages.HARD_THRESHOLDING, lull.BM3DStages.ALL_STAGES]
    first, both = (psnr(CLEAN, lull.bm3d(NOISY, SIGMA, stage_arg=stage)) for stage in stages)
    assert psnr(CLEAN, NOISY) + 6 < first < both


def test_profile_names():
    fast, high = (psnr(CLEAN, lull.bm3d(NOISY, SIGMA, profile)) for profile in ("lc", "np"))
    assert fast < high


def test_spectrum_beats_standard_deviation():
    noise, psd = coloured(CLEAN.shape, SIGMA)
    by_psd, by_sigma = (lull.bm3d(CLEAN + noise, s) for s in (psd, SIGMA))
    assert psnr(CLEAN, by_psd) > psnr(CLEAN, by_sigma) + 1


def test_flat_spectrum_equals_white_noise():
    flat = np.full(CLEAN.shape, SIGMA**2 * CLEAN.size)
    np.testing.assert_allclose(lull.bm3d(NOISY, flat), lull.bm3d(NOISY, SIGMA), atol=1e-5)


def test_colour_channels():
    clean = np.stack([CLEAN, 1 - CLEAN, CLEAN[::-1]], axis=-1).astype(float)
    noisy = clean + noise_like(clean, SIGMA)
    for result in (
        lull.bm3d(noisy, SIGMA),
        lull.bm3d(noisy, [SIGMA, SIGMA, SIGMA]),
        lull.bm3d_rgb(noisy, SIGMA),
        lull.bm3d(noisy[..., :2], SIGMA),
    ):
        assert psnr(clean[..., : result.shape[-1]], result) > psnr(clean, noisy) + 4
    noise, psd = coloured(CLEAN.shape, SIGMA)
    result = lull.bm3d(clean + noise[..., None], np.repeat(psd[..., None], 3, axis=-1))
    assert psnr(clean, result) > psnr(clean, clean + noise[..., None]) + 2


def test_volumes_with_bm4d():
    clean = volume()
    noisy = clean + noise_like(clean, SIGMA)
    result = lull.bm4d(noisy, SIGMA)
    assert psnr(clean, result) > psnr(clean, noisy) + 9
    np.testing.assert_allclose(lull.bm4d(noisy * 700, SIGMA * 700) / 700, result, atol=2e-2)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: lull.bm3d(NOISY, SIGMA, "deb"), "profile = 'deb'"),
        (lambda: lull.bm3d(NOISY, SIGMA, stage_arg=NOISY), "stage_arg"),
        (lambda: lull.bm3d(NOISY, SIGMA, stage_arg=lull.BM3DStages.WIENER_FILTERING), "stage_arg"),
        (lambda: lull.bm3d(NOISY, SIGMA, blockmatches=(True, False)), "blockmatches"),
        (lambda: lull.bm3d(NOISY, np.ones((3, 5))), "sigma_psd of shape"),
        (lambda: lull.bm3d(NOISY, SIGMA, blockmatches=True), "blockmatches"),
        (lambda: lull.bm3d(NOISY, -1), "sigma_psd"),
        (lambda: lull.bm3d(NOISY, "auto"), "sigma_psd = 'auto'"),
        (lambda: lull.bm3d(np.zeros((2, 3, 4, 5)), 1), "z of shape"),
        (lambda: lull.bm3d_rgb(NOISY, 1), "1 channels"),
        (lambda: lull.bm3d_rgb(NOISY, 1, colorspace="YCbCr"), "colorspace"),
        (lambda: lull.bm4d(NOISY, 1), "volume"),
        (lambda: lull.bm4d(volume(), [1, 2]), "white"),
    ],
)
def test_unsupported_arguments_are_value_errors(call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert words in str(error.value) and "\n" not in str(error.value)


def test_quality_matches_the_authors_package():
    """Compares with the authors' package if it is installed (it is not free software)."""
    if importlib.util.find_spec("bm3d") is None:
        pytest.skip("the authors' bm3d is not installed")
    data = pytest.importorskip("skimage.data")
    import bm3d

    clean = data.camera()[100:228, 200:328] / 255
    noisy = clean + noise_like(clean, SIGMA)
    theirs = psnr(clean, bm3d.bm3d(noisy, SIGMA))
    assert psnr(clean, lull.bm3d(noisy, SIGMA)) > theirs - 0.1, importlib.metadata.version("bm3d")
    first = lull.bm3d(noisy, SIGMA, stage_arg=bm3d.BM3DStages.HARD_THRESHOLDING)
    assert psnr(clean, first) > psnr(clean, noisy) + 6


def test_conventions_of_scikit_image():
    """The conventions: channel_axis, sigma in the units of the picture, floats from 0 to 1."""
    pytest.importorskip("pywt")  # skimage needs it for wavelets only
    restoration = pytest.importorskip("skimage.restoration")
    data = pytest.importorskip("skimage.data")
    try:
        clean = data.astronaut()[:160, 160:320] / 255
    except Exception as error:  # skimage downloads some pictures
        pytest.skip(f"no picture of scikit-image's: {error}")
    noisy = clean + np.random.default_rng(2).normal(0, 0.1, clean.shape)
    theirs = restoration.denoise_nl_means(
        noisy, h=0.08, sigma=0.1, fast_mode=True, patch_size=5, patch_distance=6, channel_axis=-1
    )
    ours = lull.denoise(noisy, sigma=0.1, channel_axis=-1)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert psnr(clean, ours) > psnr(clean, theirs) + 0.5
    found = lull.estimate_noise(noisy, channel_axis=-1).sigma
    assert np.mean(found) == pytest.approx(
        np.mean(restoration.estimate_sigma(noisy, channel_axis=-1)), rel=0.35
    )
