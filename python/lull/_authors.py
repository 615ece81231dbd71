"""Functions with the interface of the authors' packages `bm3d` and `bm4d`.

Names, arguments and conventions are those of the packages, and results are floats. The filters and
their profiles are lull's, so results are not bit-identical.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Sequence, Union

import numpy as np

from . import _core
from ._arrays import device_of, library_of, to_numpy
from ._axes import Axes
from ._denoise import Work, chosen_device
from ._noise import Group
from ._device import denoise_on_device
from ._values import Values, finite_sample, values_by_range, number

# The profiles of the authors' package, and the profiles of lull with similar speed and quality.
_PROFILES = {
    "np": "high",
    "refilter": "high",
    "vn": "high",
    "vn_old": "high",
    "high": "high",
    "lc": "balanced",
    "balanced": "balanced",
    "fast": "fast",
    "paper": "paper",
}
_REACH = 7  # maximum lag of the autocovariance that the filters use


class BM3DStages(IntEnum):
    """The stages to run: hard thresholding, or hard thresholding and the Wiener filter."""

    HARD_THRESHOLDING = 1
    WIENER_FILTERING = 2
    ALL_STAGES = 3


BM4DStages = BM3DStages


def _basic_only(stage_arg: Any) -> bool:
    if isinstance(stage_arg, np.ndarray) or hasattr(stage_arg, "__dlpack__"):
        raise ValueError("stage_arg is a picture (lull computes its basic estimate); leave it out")
    stage = getattr(stage_arg, "name", stage_arg)
    if stage in ("ALL_STAGES", 3):
        return False
    if stage in ("HARD_THRESHOLDING", 1):
        return True
    raise ValueError(f"stage_arg = {stage_arg!r} (must be HARD_THRESHOLDING or ALL_STAGES)")


def _profile(profile: Any) -> str:
    name = profile if isinstance(profile, str) else None
    if name not in _PROFILES:
        raise ValueError(
            f"profile = {profile!r} (must be one of {', '.join(_PROFILES)}); choose one of these"
        )
    return _PROFILES[name]


def _refuse_matches(blockmatches: Any) -> None:
    blockmatches = blockmatches if isinstance(blockmatches, (tuple, list)) else (blockmatches,)
    if any(not (isinstance(one, (bool, np.bool_)) and not one) for one in blockmatches):
        raise ValueError("blockmatches (lull neither accepts nor returns matches); leave it out")


def _covariance(psd: np.ndarray, unit: float) -> np.ndarray:
    """Returns the autocovariance for lags -7..7 on the 0..255 scale, from E|fft2(noise)|^2."""
    cyclic = np.fft.ifft2(psd).real / psd.size
    lags = np.arange(-_REACH, _REACH + 1)
    # The transform is cyclic: lags beyond half of a small picture are repetitions.
    rows, columns = (np.abs(lags) * 2 <= size for size in psd.shape)
    taken = cyclic[np.ix_(lags % psd.shape[0], lags % psd.shape[1])]
    taken = np.where(np.outer(rows, columns), taken, 0)
    return np.ascontiguousarray(taken / unit**2, np.float32)


def _noises(
    sigma_psd: Any, shape: tuple[int, int], channels: int, groups: Sequence[Group], unit: float
) -> list[Any]:
    several = np.ndim(sigma_psd) > 0
    given = np.asarray(
        to_numpy(sigma_psd)[0] if several else number("sigma_psd", sigma_psd), np.float64
    )
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        raise ValueError("sigma_psd (must be finite and at least 0); give a deviation or a spectrum")
    if given.size in (1, channels) and given.shape[:2] != shape:
        levels = np.broadcast_to(given.reshape(-1) / unit, (channels,))
        return [
            _core.Noise.white(([float(levels[c]) for c in group] * 3)[:3]) for group in groups
        ]
    if given.shape not in (shape, (*shape, 1), (*shape, channels)):
        raise ValueError(
            f"sigma_psd of shape {given.shape} (must be a number, one for each channel, or a "
            f"spectrum of shape {shape})"
        )
    spectra = np.broadcast_to(given.reshape(*shape, -1), (*shape, channels))
    covariances = [_covariance(spectra[..., c], unit) for c in range(channels)]
    return [_core.Noise.coloured([covariances[c] for c in group]) for group in groups]


def _float_values(array: Any) -> Values:
    """Returns the value scale: 0..1, as is usual for these packages, or the measured range."""
    some = finite_sample(array)
    fits = some.size == 0 or (float(some.max()) <= 2 and float(some.max()) > 0.1)
    return Values(32, 0.0, 1.0) if fits and np.min(some, initial=0) > -1 else values_by_range(some)


def _floats(z: Any) -> tuple[Any, Any]:
    """Returns `z` as floats, and a function that converts results back (None on a GPU)."""
    if device_of(z) is not None:
        if library_of(z) == "torch":
            return (z if z.dtype.is_floating_point else z.double()), None
        if library_of(z) == "cupy":
            return (z if z.dtype.kind == "f" else z.astype(np.float64)), None
        interface = getattr(z, "__cuda_array_interface__", {"typestr": "|V1"})
        if np.dtype(interface["typestr"]).kind == "f":
            return z, None
    array, back = to_numpy(z)
    return (array if array.dtype.kind == "f" else array.astype(np.float64)), back


def _filtered(array: Any, back: Any, axes: Axes, work: Work, make: Any) -> Any:
    """Filters `array`. `make(unit)` returns the groups of channels and the noise of each."""
    if back is None:
        if device_of(array) == work.device:
            result = denoise_on_device(
                array, axes, work, _float_values, lambda _, values: make(values.unit)
            )
            if result is not None:
                return result
        array, back = to_numpy(array)
    values = _float_values(array)
    result = np.empty(array.shape, array.dtype)
    groups, noises = make(values.unit)
    work.run(axes.view(array), axes.view(result), values, groups, noises)
    return back(result)


def _pictures(
    z: Any, sigma_psd: Any, profile: Any, stage_arg: Any, blockmatches: Any, layout: str, device: str
) -> Any:
    _refuse_matches(blockmatches)
    array, back = _floats(z)
    shape = tuple(array.shape)
    if len(shape) not in (2, 3) or 0 in shape:
        raise ValueError(f"z of shape {shape} (must be (y, x) or (y, x, channels))")
    channels = shape[2] if len(shape) == 3 else 1
    groups: list[Group] = [(0, 1, 2)] if channels == 3 else [(c,) for c in range(channels)]
    if layout == "rgb" and channels != 3:
        raise ValueError(f"z of {channels} channels (bm3d_rgb filters red, green and blue)")
    device = chosen_device(device, z)
    work = Work("bm3d", _profile(profile), 0, device, _basic_only(stage_arg), layout)
    return _filtered(
        array,
        back,
        Axes(len(shape), None, None, 2 if len(shape) == 3 else None),
        work,
        lambda unit: (groups, _noises(sigma_psd, shape[:2], channels, groups, unit)),
    )


def bm3d(
    z: Any,
    sigma_psd: Union[float, Sequence[float], Any],
    profile: str = "np",
    stage_arg: Any = BM3DStages.ALL_STAGES,
    blockmatches: tuple = (False, False),
    *,
    device: str = "auto",
) -> Any:
    """BM3D for a picture, with the interface of `bm3d.bm3d` of the authors' package.

    Parameters
    ----------
    z : array, (y, x) or (y, x, channels)
        The noisy picture; the function converts integers to floats. With three channels, it
        matches patches in the first channel.
    sigma_psd : float, one for each channel, or array
        Standard deviation in the units of `z`, or the power spectral density of the noise with
        shape (y, x) or (y, x, channels): the expected value of `abs(fft2(noise)) ** 2`.
    profile : str
        'np', 'high', 'refilter', 'vn': lull's profile `high`; 'lc': `balanced`; or the name of a
        profile of lull.
    stage_arg : BM3DStages of either package
        HARD_THRESHOLDING or ALL_STAGES.
    blockmatches : tuple
        Must be (False, False): lull neither accepts nor returns matches.
    device : str
        See :func:`lull.denoise`.

    Returns
    -------
    array of floats with the library and shape of `z`

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """
    return _pictures(z, sigma_psd, profile, stage_arg, blockmatches, "yuv", device)


def bm3d_rgb(
    z: Any,
    sigma_psd: Union[float, Sequence[float], Any],
    profile: str = "np",
    colorspace: str = "opp",
    *,
    device: str = "auto",
) -> Any:
    """BM3D for a colour picture (y, x, 3), with the interface of `bm3d.bm3d_rgb`.

    The parameters are those of :func:`lull.bm3d`.

    The function filters the picture in the opponent colour space, the only supported `colorspace`.
    """
    if colorspace != "opp":
        raise ValueError(f"colorspace = {colorspace!r} (lull supports only 'opp')")
    stages, matches = BM3DStages.ALL_STAGES, (False, False)
    return _pictures(z, sigma_psd, profile, stages, matches, "rgb", device)


def bm4d(
    z: Any,
    sigma_psd: float,
    profile: str = "np",
    stage_arg: Any = BM4DStages.ALL_STAGES,
    blockmatches: tuple = (False, False),
    *,
    device: str = "auto",
) -> Any:
    """BM4D for a volume, with the interface of `bm4d.bm4d` of the authors' package.

    Parameters
    ----------
    z : array of three axes
        The noisy volume; the function converts integers to floats.
    sigma_psd : float
        Standard deviation of the noise in the units of `z`. The noise must be white and
        Gaussian; :func:`lull.denoise` supports Rician noise.
    profile, stage_arg, blockmatches, device
        See :func:`lull.bm3d`.

    Returns
    -------
    array of floats with the library and shape of `z`

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """
    _refuse_matches(blockmatches)
    array, back = _floats(z)
    shape = tuple(array.shape)
    if len(shape) != 3 or 0 in shape:
        raise ValueError(f"z of shape {shape} (must be a volume with three axes)")
    if np.size(sigma_psd) != 1:
        raise ValueError("sigma_psd with several values (must be white noise); give one value")
    device = chosen_device(device, z)
    work = Work("bm4d", _profile(profile), 0, device, _basic_only(stage_arg))
    return _filtered(
        array,
        back,
        Axes(3, None, 0, None),
        work,
        lambda unit: ([(0,)], _noises(sigma_psd, (-1, -1), 1, [(0,)], unit)),
    )
