"""Denoising of a series of volumes by its principal components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import _core
from ._axes import Axes
from ._noise import Kind, NoiseEstimate, Sigma, models_of
from ._values import Values

MIN_SERIES_VOLUMES = 8  # with fewer volumes, the gain is small; the same number as in the command


def may_be_series(axes: Axes, shape: tuple[int, ...], method: str) -> bool:
    """Returns whether the array is a series of enough volumes and has no channel axis."""
    if not axes.series or axes.channel is not None or method not in ("auto", "bm4d"):
        return False
    return axes.time is not None and shape[axes.time] >= MIN_SERIES_VOLUMES


def denoise_series(
    view: np.ndarray,
    out: np.ndarray,
    values: Values,
    sigma: Sigma,
    kind: Kind,
    profile: str,
    device: str,
) -> bool:
    """Writes the denoised series into `out`; both are (volume, z, 1, y, x) views.

    Returns False, and writes nothing, if the volumes have too little in common.
    """
    # Factor from the core's samples to its 0..255 scale
    factor = np.float32(255 if values.bits == 32 else 1 / values.unit)
    samples = np.empty([view.shape[i] for i in (0, 1, 3, 4)], np.float32)
    for volume, target in zip(view, samples):
        target[...] = values.to_samples(volume[:, 0]) * factor
    strength = 1.0
    if isinstance(sigma, NoiseEstimate):
        strength, sigma = sigma._strength, replace(sigma, _strength=1.0)
    known = models_of(sigma, view, values, [(0,)], True, kind)
    given = not (isinstance(sigma, str) and sigma == "auto")
    if not _core.denoise_series(
        samples, known[0] if given else None, kind, strength, profile, device, values.zero
    ):
        return False
    for result, volume, target in zip(samples, view, out):
        before = values.to_samples(volume[:, 0])
        now = result / factor
        if values.bits != 32:
            now = np.clip(np.rint(now), 0, (1 << values.bits) - 1).astype(values.sample_type)
        target[:, 0] = values.from_samples(now, before, volume[:, 0])
    return True
