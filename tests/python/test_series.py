"""lull.denoise of series of volumes."""

import lull
import numpy as np
import pytest
from pictures import noise_like, psnr, volume

SIGMA = 0.04


def series(volumes=12, size=20):
    """Volumes of one object whose contrast changes, as in diffusion MRI."""
    first, second = volume(size), volume(size, seed=6)[::-1]
    angles = np.arange(volumes) * 2 * np.pi / volumes
    return np.stack([first * (1 + 0.3 * np.cos(a)) + second * np.sin(a) ** 2 for a in angles])


CLEAN = series().astype(np.float32)
NOISY = CLEAN + noise_like(CLEAN, SIGMA)


def test_series_is_better_than_its_volumes_alone():
    alone = lull.denoise(NOISY, SIGMA, time_axis=0, device="cpu")
    together = lull.denoise(NOISY, SIGMA, volume_axis=0, device="cpu")
    assert psnr(CLEAN, together) > psnr(CLEAN, alone) + 2


def test_estimated_noise_is_nearly_as_good():
    given = lull.denoise(NOISY, SIGMA, volume_axis=0, device="cpu")
    found = lull.denoise(NOISY, volume_axis=0, device="cpu")
    assert psnr(CLEAN, found) > psnr(CLEAN, given) - 0.3


def test_axis_may_be_anywhere():
    last = np.moveaxis(NOISY, 0, 3)
    result = lull.denoise(last, SIGMA, volume_axis=3, z_axis=0, device="cpu")
    expected = lull.denoise(NOISY, SIGMA, volume_axis=0, device="cpu")
    np.testing.assert_array_equal(np.moveaxis(result, 3, 0), expected)


def test_integers_keep_type_and_units():
    stored = np.rint(NOISY * 1000).astype(np.int16)
    result = lull.denoise(stored, SIGMA * 1000, volume_axis=0, device="cpu")
    assert result.dtype == stored.dtype
    assert psnr(CLEAN * 1000, result, 1000) > psnr(CLEAN, NOISY) + 10
    small = np.rint(np.clip(NOISY, 0, 2.1) * 120).astype(np.uint8)
    result = lull.denoise(small, SIGMA * 120, volume_axis=0, device="cpu")
    assert result.dtype == np.uint8
    assert psnr(CLEAN * 120, result, 120) > psnr(CLEAN, NOISY) + 9


def test_samples_that_are_not_finite_stay():
    holes = NOISY.copy()
    holes[:, :3] = np.nan
    result = lull.denoise(holes, SIGMA, volume_axis=0, device="cpu")
    assert np.isnan(result[:, :3]).all() and np.isfinite(result[:, 3:]).all()


def test_an_estimate_can_be_given_and_weakened():
    estimate = lull.estimate_noise(NOISY, volume_axis=0)
    assert estimate.sigma == pytest.approx(SIGMA, rel=0.15)
    weak = lull.denoise(NOISY, estimate * 0.5, volume_axis=0, device="cpu")
    full = lull.denoise(NOISY, estimate, volume_axis=0, device="cpu")
    assert psnr(NOISY, weak) > psnr(NOISY, full)


def test_short_series_are_denoised_by_volume():
    np.testing.assert_array_equal(
        lull.denoise(NOISY[:4], SIGMA, volume_axis=0, device="cpu"),
        lull.denoise(NOISY[:4], SIGMA, time_axis=0, device="cpu"),
    )


def test_wrong_axes_are_refused():
    with pytest.raises(ValueError, match="leave one out"):
        lull.denoise(NOISY, SIGMA, volume_axis=0, time_axis=1)
    with pytest.raises(ValueError, match="give a z_axis"):
        lull.denoise(NOISY[:, 0], SIGMA, volume_axis=0)
