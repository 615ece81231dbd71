"""lull.enlarge: size, types and reconstructed detail."""

import lull
import numpy as np
import pytest
from pictures import psnr

Y, X = np.mgrid[:128, :160]
LARGE = (0.5 + 0.4 * np.tanh(4 * np.sin((X + 0.35 * Y) / 6))).astype(np.float32)  # slanted stripes
SMALL = LARGE.reshape(64, 2, 80, 2).mean((1, 3))


def test_detail_is_reconstructed():
    result = lull.enlarge(SMALL)
    assert result.shape == LARGE.shape and result.dtype == SMALL.dtype
    assert psnr(LARGE, result) > psnr(LARGE, SMALL.repeat(2, 0).repeat(2, 1)) + 12
    # Reducing the result gives the input.
    assert psnr(SMALL, result.reshape(64, 2, 80, 2).mean((1, 3))) > 45


@pytest.mark.parametrize("dtype, white", [(np.uint8, 255), (np.uint16, 1023), (np.float64, 1), (np.int32, 1000)])
def test_sample_types_are_kept(dtype, white):
    stored = SMALL * white
    stored = (stored if white == 1 else np.rint(stored)).astype(dtype)
    result = lull.enlarge(stored)
    assert result.dtype == dtype
    assert psnr(LARGE * white, result, white) > psnr(LARGE, lull.enlarge(SMALL)) - 1


def test_few_very_bright_pixels_stay_bright():
    sky = np.random.default_rng(3).integers(90, 110, (256, 256))
    sky[20, 30] = 30000
    result = lull.enlarge(sky.astype(np.int32), profile="fast")
    assert result[40:42, 60:62].mean() > 15000
    assert abs(result[100:].mean() - 100) < 1


def test_axes_and_factors():
    clip = np.stack([SMALL[:32, :40], SMALL[8:40, 16:56]])
    result = lull.enlarge(clip, 1.5, time_axis=0)
    assert result.shape == (2, 48, 60)
    np.testing.assert_array_equal(result[1], lull.enlarge(clip[1], 1.5))
    colour = np.stack([SMALL[:32, :40]] * 3, axis=-1)
    assert lull.enlarge(colour, 2, channel_axis=-1, profile="fast").shape == (64, 80, 3)
    pair = np.stack([SMALL[:32, :40]] * 2)
    assert lull.enlarge(pair, channel_axis=0, profile="fast").shape == (2, 64, 80)


@pytest.mark.parametrize("options, said", [({"factor": 5}, "5"), ({"profile": "x"}, "profile = 'x'")])
def test_invalid_options_are_value_errors(options, said):
    with pytest.raises(ValueError, match=said):
        lull.enlarge(SMALL, **options)
    with pytest.raises(ValueError, match="of shape"):
        lull.enlarge(np.zeros((4, 8, 8)))
