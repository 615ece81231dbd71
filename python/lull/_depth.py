"""Depth maps."""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._axes import axes_of
from ._denoise import Work, checked_method, chosen_device, write_out
from ._noise import samples_at
from ._values import Values, number, whole_number

_MAPS_FOR_NOISE = 12  # number of maps for the analysis, the same as in the command
_GREY = (0,)


def _values_for(array: np.ndarray) -> Values:
    """Returns a scale that does not convert the depths, so that holes keep their values."""
    if array.dtype == np.uint8:
        return Values(8, 0.0, 1.0)
    if array.dtype.kind == "f":
        return Values(32, 0.0, 1.0)
    if array.size and (array.min() < 0 or array.max() > 0xFFFF):
        raise ValueError(
            f"depths of {array.dtype} (integers must be from 0 to 65535); convert them to floats"
        )
    return Values(16, 0.0, 1.0)


def _marker(invalid: float | None, values: Values) -> float | None:
    """Returns the value that marks holes, in the sample type."""
    if invalid is None:
        return None
    marker = float(values.sample_type.type(invalid)) if values.bits == 32 else float(invalid)
    if values.bits != 32 and not (marker.is_integer() and 0 <= marker < 1 << values.bits):
        raise ValueError(
            f"invalid = {invalid} (samples of {values.bits} bits are integers from 0 to "
            f"{(1 << values.bits) - 1}); give one of these"
        )
    return marker


def denoise_depth(
    depth: Any,
    sigma: Union[float, Literal["auto"]] = "auto",
    *,
    time_axis: int | None = None,
    invalid: float | None = None,
    model: Literal["constant", "depth2"] = "constant",
    reference: float | None = None,
    profile: Literal["fast", "balanced", "high"] = "high",
    temporal: int = 0,
    method: Literal["bm3d", "nlm"] = "bm3d",
    device: str = "auto",
    out: Any = None,
) -> Any:
    """Denoises a map of depths, distances or disparities and preserves its holes.

    Holes are samples that are not finite or have the value `invalid`. They are preserved bit for
    bit, no other sample becomes a hole, and their values do not affect other samples.

    Parameters
    ----------
    depth : array of floats, or integers from 0 to 65535
        (y, x), or a sequence of maps with `time_axis`; in any unit.
    sigma : float or 'auto'
        Standard deviation of the noise in the unit of the depths; 'auto': estimate it from the
        first maps.
    time_axis : int, optional
    invalid : float, optional
        Samples with this value are holes.
    model : 'constant' or 'depth2'
        How the noise depends on depth: not at all, or it grows with the square of the depth, as in
        triangulation (stereo, structured light); then depths of 0 and below are holes.
    reference : float, optional
        For 'depth2': the depth at which the noise is `sigma`; None: the median depth.
    profile : 'fast', 'balanced' or 'high'
    temporal : int from 0 to 8
        For sequences: number of maps before and after each map that are searched as well.
    method : 'bm3d' or 'nlm'
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
    out : array of the shape and type of `depth`, optional
        Receives the result. It may be `depth`.

    Returns
    -------
    array
        Has the library, shape, type and unit of `depth`; it is `out` if that is given.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`; ValueError also if the maps contain only holes.
    """
    checked_method(method, ("bm3d", "nlm"))
    if model not in ("constant", "depth2"):
        raise ValueError(f"model = {model!r} (must be constant or depth2)")
    if reference is not None and (model == "constant" or not number("reference", reference) > 0):
        raise ValueError(f"reference = {reference} (must be a depth above 0, with model='depth2')")
    if not isinstance(sigma, str) and not (np.isscalar(sigma) and 0 <= float(sigma) < np.inf):
        raise ValueError(f"sigma = {sigma!r} (must be one number from 0, or 'auto')")
    if isinstance(sigma, str) and sigma != "auto":
        raise ValueError(f"sigma = {sigma!r} (must be one number from 0, or 'auto')")
    array, back = to_numpy(depth)
    axes = axes_of(tuple(array.shape), None, time_axis, None)
    if axes.z is not None:
        raise ValueError(f"depths of shape {array.shape} (a map has two axes besides time_axis)")
    radius = whole_number("temporal", temporal)
    if radius and axes.time is None:
        raise ValueError(f"temporal = {temporal} (a single map has no neighbours); leave it out")

    def filtered(view: np.ndarray, to: np.ndarray) -> None:
        values = _values_for(array)
        format = _core.Format.of(view.shape[4], view.shape[3], "gray", values.bits)
        maps = [samples_at(view, values, (t, 0), _GREY)
                 for t in range(min(_MAPS_FOR_NOISE, view.shape[0]))]
        known = _core.analyse_depth(
            maps, format, None if isinstance(sigma, str) else float(sigma),
            _marker(invalid, values), model == "depth2", reference,
        )  # fmt: skip
        work = Work(method, profile, radius, chosen_device(device, depth), depth=known)
        work.run(view, to, values, [_GREY], [known.noise])

    return write_out(array, back, axes, out, filtered)
