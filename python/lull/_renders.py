"""Renders with feature layers, such as albedo and normal."""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._axes import Axes, axes_of
from ._denoise import TEMPORAL_RADIUS, Work, checked_method, chosen_device, write_out
from ._noise import groups_of
from ._values import Values, number, whole_number

_LIGHT = Values(32, 0.0, 1.0)


def _feature_view(name: str, feature: Any, axes: Axes, shape: tuple[int, ...]) -> np.ndarray:
    """Returns a (time, z, channel, y, x) view; a feature without a channel axis has one channel."""
    array = to_numpy(feature)[0]
    own = axes
    if axes.channel is None and array.ndim == axes.ndim + 1:
        own = Axes(axes.ndim + 1, axes.time, None, axes.ndim)
    elif axes.channel is not None and array.ndim == axes.ndim - 1:
        time = axes.time
        if time is not None and time > axes.channel:
            time -= 1
        own = Axes(axes.ndim - 1, time, None, None)
    view = own.view(array) if array.ndim == own.ndim else None
    if view is None or view.shape[:2] + view.shape[3:] != shape[:2] + shape[3:]:
        raise ValueError(
            f"{name} of shape {array.shape} (the picture has {shape[4]} x {shape[3]} pixels and "
            f"{shape[0]} frames); give a feature of the same size"
        )
    return view


def denoise_render(
    image: Any,
    *,
    albedo: Any = None,
    normal: Any = None,
    depth: Any = None,
    variance: Any = None,
    half_a: Any = None,
    half_b: Any = None,
    sigma: float | None = None,
    strength: float = 1.0,
    channel_axis: int | None = -1,
    time_axis: int | None = None,
    profile: Literal["fast", "balanced", "high"] = "balanced",
    temporal: Union[int, Literal["auto"]] = "auto",
    method: Literal["nlm", "bm3d"] = "nlm",
    device: str = "auto",
    out: Any = None,
) -> Any:
    """Denoises a render: linear light of any range, and features of the same size.

    The function divides the picture by its albedo, whose texture has no noise. `variance` states
    the noise of each pixel. nlm also fits the quotient to normal, depth and albedo where this
    reduces the error.

    Parameters
    ----------
    image : array of floats
        (y, x, channel), linear light; (y, x) with `channel_axis=None`. Pixels that are not finite
        are preserved unchanged.
    albedo : array, optional
        Reflectance of the surfaces, 0 to 1: three channels or one.
    normal : array of three channels, optional
    depth : array of one channel, optional
        Distance from the camera.
    variance : array, optional
        Variance of each pixel's mean: three channels or one.
    half_a, half_b : arrays like `image`, optional
        The pictures from the two halves of the render's samples; an alternative to `variance`.
    sigma : float, optional
        Standard deviation of the noise of all pixels, in the unit of the picture. None: it comes
        from `variance`, from the halves, or from the high frequencies of the picture.
    strength : float
        Factor on the noise level.
    channel_axis, time_axis : int, optional
        Axes of `image`. Features have their axes in the same order; the channel axis of features
        with one channel may be missing.
    profile : 'fast', 'balanced' or 'high'
    temporal : int from 0 to 8, or 'auto'
        For sequences: number of frames before and after each frame that are searched as well.
        'auto': 2.
    method : 'nlm' or 'bm3d'
        nlm gives much better results for renders with few samples per pixel.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
    out : array of the shape and type of `image`, optional
        Receives the result. It may be `image`.

    Returns
    -------
    array
        Has the library, shape, type and unit of `image`; it is `out` if that is given.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """
    checked_method(method, ("nlm", "bm3d"))
    if sigma is not None and not 0 < number("sigma", sigma) < np.inf:
        raise ValueError(f"sigma = {sigma} (must be above 0)")
    if not 0 < number("strength", strength) < np.inf:
        raise ValueError(f"strength = {strength} (must be above 0)")
    array, back = to_numpy(image)
    if array.dtype.kind != "f":
        raise ValueError(f"a render of {array.dtype} (must be floats); convert it first")
    axes = axes_of(tuple(array.shape), channel_axis, time_axis, None)
    if axes.z is not None:
        raise ValueError(
            f"a render of shape {array.shape} (a picture has two axes besides the named ones)"
        )
    given = {"albedo": albedo, "normal": normal, "depth": depth, "variance": variance,
             "halfA": half_a, "halfB": half_b}  # fmt: skip
    if temporal == "auto":
        radius = TEMPORAL_RADIUS if axes.time is not None else 0
    else:
        radius = whole_number("temporal", temporal)
    if radius and axes.time is None:
        raise ValueError(f"temporal = {temporal!r} (a single frame has no neighbours); leave it out")

    def filtered(view: np.ndarray, to: np.ndarray) -> None:
        channels = view.shape[2]
        if channels not in (1, 3):
            raise ValueError(f"a render of {channels} channels (must be 1 or 3); split them")
        features = {
            name: _feature_view(name, feature, axes, view.shape)
            for name, feature in given.items()
            if feature is not None
        }
        work = Work(
            method, profile, radius, chosen_device(device, image), features=features,
            render=_core.RenderNoise(255 * (sigma or 0.0), strength),
        )  # fmt: skip
        work.run(view, to, _LIGHT, groups_of(channels), [_core.Noise.white([0.0] * 3)])

    return write_out(array, back, axes, out, filtered)
