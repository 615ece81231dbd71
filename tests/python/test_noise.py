"""lull.estimate_noise, and the functions that accept its result."""

import pickle

import lull
import numpy as np
import pytest
from pictures import clip, noise_like, psnr, scene, volume

CLEAN = scene(256, 256)


@pytest.mark.parametrize("scale, dtype", [(1, np.float32), (255, np.uint8), (4095, np.uint16), (1, float)])
def test_the_level_is_in_the_arrays_units(scale, dtype):
    noisy = np.clip(CLEAN + noise_like(CLEAN, 0.05), 0, 1) * scale
    found = lull.estimate_noise(noisy.astype(dtype))
    assert float(found) == pytest.approx(0.05 * scale, rel=0.1)
    assert found.kind == "gaussian" and found.white
    assert isinstance(found.sigma, float)


def test_clips_and_colours():
    clean = clip(12, 128, 160)
    assert float(lull.estimate_noise(clean + noise_like(clean, 0.06), time_axis=0)) == pytest.approx(
        0.06, rel=0.12
    )
    colours = np.stack([CLEAN, 1 - CLEAN, CLEAN * 0.7], axis=-1)
    found = lull.estimate_noise(colours + noise_like(colours, 0.05), channel_axis=-1)
    assert len(found.sigma) == 3 and np.mean(found.sigma) == pytest.approx(0.05, rel=0.25)


def test_gaussian_volumes():
    clean = volume(32) * 900 - 100
    noisy = clean + noise_like(clean, 30)
    found = lull.estimate_noise(noisy)
    assert float(found) == pytest.approx(30, rel=0.1) and found.kind == "gaussian"
    np.testing.assert_allclose(lull.denoise(noisy, found), lull.denoise(noisy), atol=1e-3)


def test_rician_volumes():
    inside = volume(40)
    inside[:, :14], inside[:, -8:] = 0, 0
    real, imaginary = (noise_like(inside, 0.05, seed) for seed in (1, 2))
    noisy = np.hypot(inside + real, imaginary) * 1000
    found = lull.estimate_noise(noisy)
    assert found.kind == "rician" and float(found) == pytest.approx(50, rel=0.12)
    rician = lull.denoise(noisy, 50, noise="rician")
    gaussian = lull.denoise(noisy, 50, noise="gaussian")
    # Magnitudes of air have a mean of 1.25 sigma. A filter for Gaussian noise preserves it.
    assert rician[:, :10].mean() < 0.5 * gaussian[:, :10].mean()
    np.testing.assert_array_equal(lull.denoise(noisy, 50), rician)


def dark_scene():
    """A quarter of the brightness of a scene; the left third is black."""
    clean = 0.25 * scene(192, 256)
    clean[:, :85] = 0
    return clean


@pytest.mark.parametrize("dtype, white", [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_a_given_sigma_models_clipping_as_an_estimate_does(dtype, white):
    clean = dark_scene()
    noisy = np.clip(clean + noise_like(clean, 0.15), 0, 1) * white
    noisy = (noisy if white == 1 else np.rint(noisy)).astype(dtype)
    given, found = (lull.denoise(noisy, sigma) / white for sigma in (0.15 * white, "auto"))
    assert psnr(clean, given) > psnr(clean, found) - 0.1
    assert given[:, :64].mean() < 0.01  # the mean of clipped noise is 0.06
    # In colour each channel is clipped separately. In a clip all frames are clipped.
    colours = np.stack([noisy, noisy, np.full_like(noisy, white // 2 or 0.5)], axis=-1)
    result = lull.denoise(colours, 0.15 * white, channel_axis=-1) / white
    assert result[:, :64, :2].mean() < 0.01
    frames = lull.denoise(np.stack([noisy] * 5), 0.15 * white, time_axis=0) / white
    assert frames[:, :, :64].mean() < 0.01


def test_a_given_sigma_of_what_is_not_clipped():
    clean = dark_scene()
    noisy = clean + noise_like(clean, 0.15)  # with samples below 0
    with lull.Session(noisy.shape, noisy.dtype, 0.15, temporal=0) as session:
        results = session.push(noisy) + list(session.drain())  # no samples beforehand
    np.testing.assert_array_equal(lull.denoise(noisy, 0.15), results[0])
    # Slices of a stack are not clipped.
    stack = np.clip(np.stack([noisy] * 4), 0, 1)
    assert lull.denoise(stack, 0.15, method="bm3d")[:, :, :64].mean() > 0.04


def test_estimate_can_be_used_as_sigma():
    noisy = CLEAN + noise_like(CLEAN, 0.08)
    found = lull.estimate_noise(noisy)
    np.testing.assert_array_equal(lull.denoise(noisy, found), lull.denoise(noisy))
    less = lull.denoise(noisy, 0.5 * found)
    assert psnr(noisy, less) > psnr(noisy, lull.denoise(noisy, found)) + 1
    with lull.Session(noisy.shape, noisy.dtype, found, temporal=0) as session:
        results = session.push(noisy) + list(session.drain())
    np.testing.assert_array_equal(results[0], lull.denoise(noisy))


def test_estimate_can_be_rescaled():
    noisy = np.clip(CLEAN + noise_like(CLEAN, 0.05), 0, 1)
    found = lull.estimate_noise((noisy * 255).round().astype(np.uint8))
    # A sigma of 12.75 in bytes is 12.75 / 255 in 0..1; the estimate here is in bytes.
    result = lull.denoise(noisy * 4095, found * (4095 / 255), preserve_range=True)
    assert psnr(CLEAN, result / 4095) > psnr(CLEAN, noisy) + 8


def test_invalid_inputs_are_value_errors():
    with pytest.raises(ValueError, match="it is empty"):
        lull.estimate_noise(np.zeros((0, 5)))
    found = lull.estimate_noise(CLEAN)
    with pytest.raises(ValueError):
        found * 0
    with pytest.raises(ValueError, match="groups"):
        lull.denoise(np.zeros((2, 20, 20), np.float32), found, channel_axis=0)


@pytest.mark.parametrize("kind", ["picture", "clipped", "colours", "rician"])
def test_estimates_can_be_pickled(kind):
    noisy, axes = CLEAN + noise_like(CLEAN, 0.08), {}
    if kind == "clipped":
        noisy = np.clip(CLEAN / 4 + noise_like(CLEAN, 0.15), 0, 1)
    elif kind == "colours":
        noise = noise_like(CLEAN, 0.08)  # in all channels: lull reports it in the opponent space
        noisy, axes = np.stack([CLEAN + noise, 1 - CLEAN + noise, noise + 0.5], -1), {"channel_axis": -1}
    elif kind == "rician":
        inside = volume(40)
        inside[:, :14], inside[:, -8:] = 0, 0
        noisy = np.hypot(inside + noise_like(inside, 0.05, 1), noise_like(inside, 0.05, 2)) * 1000
    found = lull.estimate_noise(noisy, **axes)
    again = pickle.loads(pickle.dumps(0.9 * found))
    assert (again.sigma, again.kind, again.why) == (found.sigma, found.kind, found.why)
    np.testing.assert_array_equal(
        lull.denoise(noisy, again, **axes), lull.denoise(noisy, 0.9 * found, **axes)
    )
