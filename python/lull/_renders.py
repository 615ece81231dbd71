"""Renders, with what the renderer knows of them beside their colour."""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._axes import Axes, axes_of
from ._denoise import FRAMES_ASIDE, Work, checked_method, chosen_device, write_out
from ._noise import groups_of
from ._values import Values, number, whole_number

_LIGHT = Values(32, 0.0, 1.0)


def _feature_view(name: str, feature: Any, axes: Axes, shape: tuple[int, ...]) -> np.ndarray:
    """As (time, z, channel, y, x); without an axis for channels it has one channel."""
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
            f"{shape[0]} frames); give one that fits"
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
    """A render without its noise: light of any range, and features of the same size.

    The picture is divided by its albedo, whose texture has no noise; the variance says the level,
    pixel by pixel; nlm also fits what is left to normal, depth and albedo, as far as that helps.

    Parameters
    ----------
    image : array of floats
        (y, x, channel), linear light; with `channel_axis=None` (y, x). Pixels that are not finite
        come out as they are.
    albedo : array, optional
        What surfaces reflect, 0 to 1: three channels or one.
    normal : array of three channels, optional
    depth : array of one channel, optional
        Distance from the eye.
    variance : array, optional
        Of each pixel's mean: three channels or one.
    half_a, half_b : arrays as `image`, optional
        The picture made of either half of its samples, which say the variance too.
    sigma : float, optional
        Standard deviation of the noise everywhere, in the picture's unit. Left out: `variance` says
        it, or the halves, or else the picture's high frequencies.
    strength : float
        How much is taken for noise: so many times what is known or found.
    channel_axis, time_axis : int, optional
        Of `image`. Features have their axes in the same order; those of one channel may lack that.
    profile : 'fast', 'balanced' or 'high'
    temporal : int from 0 to 8, or 'auto'
        Of sequences: how many frames before and after one help. 'auto': 2.
    method : 'nlm' or 'bm3d'
        Of few samples a pixel nlm makes the better results by far.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
    out : array of the shape and type of `image`, optional
        Where the result goes. It may be `image`.

    Returns
    -------
    array
        Of the kind, the shape, the type and the unit of `image`; `out` if that is given.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        As :func:`lull.denoise`.
    """
    checked_method(method, ("nlm", "bm3d"))
    if sigma is not None and not 0 < number("sigma", sigma) < np.inf:
        raise ValueError(f"sigma = {sigma} (must be above 0)")
    if not 0 < number("strength", strength) < np.inf:
        raise ValueError(f"strength = {strength} (must be above 0)")
    array, back = to_numpy(image)
    if array.dtype.kind != "f":
        raise ValueError(f"a render of {array.dtype} (light is floats); convert it first")
    axes = axes_of(tuple(array.shape), channel_axis, time_axis, None)
    if axes.z is not None:
        raise ValueError(
            f"a render of shape {array.shape} (a picture has two axes, and those that are named)"
        )
    given = {"albedo": albedo, "normal": normal, "depth": depth, "variance": variance,
             "halfA": half_a, "halfB": half_b}  # fmt: skip
    if temporal == "auto":
        radius = FRAMES_ASIDE if axes.time is not None else 0
    else:
        radius = whole_number("temporal", temporal)
    if radius and axes.time is None:
        raise ValueError(f"temporal = {temporal!r} (one frame has no time); leave it out")

    def filtered(view: np.ndarray, to: np.ndarray) -> None:
        channels = view.shape[2]
        if channels not in (1, 3):
            raise ValueError(f"a render of {channels} channels (must be 1 or 3); take them apart")
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
