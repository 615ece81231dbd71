"""Enlarging of pictures."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._axes import axes_of
from ._denoise import chosen_device
from ._noise import groups_of, layout_of
from ._values import checked_names, number, values_of


def enlarge(
    image: Any,
    factor: float = 2,
    *,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    profile: Literal["fast", "balanced", "high"] = "balanced",
    device: str = "auto",
) -> Any:
    """Enlarges a clean picture or clip `factor` times in width and height.

    Lanczos interpolation blurs detail. The function restores the detail from similar patches, and
    corrects the result so that its local means match those of the input. The function would also
    enlarge noise, so use :func:`lull.denoise` first.

    Parameters
    ----------
    image : array of integers or floats
        (y, x), and additional axes for channels or time if they are named.
    factor : float from 1 to 4
    channel_axis : int, optional
        Three channels are red, green and blue; other numbers of channels are enlarged separately.
    time_axis : int, optional
        Frames of a clip; each is enlarged separately.
    profile : 'fast', 'balanced' or 'high'
        Effort for the restoration of detail.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'

    Returns
    -------
    array
        Has the library and the type of `image`.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """
    checked_names(profile=profile, device=device)
    array, back = to_numpy(image)
    axes = axes_of(tuple(array.shape), channel_axis, time_axis, None)
    if axes.z is not None or array.size == 0:
        raise ValueError(
            f"an image of shape {array.shape} (a picture has two axes besides the named ones)"
        )
    view = axes.view(array)
    values = values_of(array, False, False)
    result = None
    for group in groups_of(view.shape[2]):
        format = _core.Format.of(view.shape[4], view.shape[3], layout_of(group), values.bits)
        enlarger = _core.Enlarger(format, number("factor", factor), profile, chosen_device(device, image))
        if result is None:
            wide = dict(zip(axes.picture_axes(), (enlarger.height, enlarger.width)))
            result = np.empty([wide.get(i, n) for i, n in enumerate(array.shape)], array.dtype)
        to = axes.view(result)
        for t in range(view.shape[0]):
            large = [np.empty(to.shape[3:], values.sample_type) for _ in group]
            # Unlike a denoiser, an upscaler cannot keep values far outside of the range unchanged.
            samples = [values.to_unlimited_samples(view[t, 0, channel]) for channel in group]
            enlarger.enlarged(samples).copy_to(large)
            for channel, result_samples in zip(group, large):
                to[t, 0, channel] = values.to_values(result_samples, array.dtype)
    return back(result)
