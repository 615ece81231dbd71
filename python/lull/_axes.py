"""The axes of arrays: time or volumes of a series, depth and channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._values import whole_number


@dataclass(frozen=True)
class Axes:
    """The roles of the axes of an array with `ndim` axes; None: the array has no such axis.

    If `series` is true, `time` is the axis of the volumes of a series.
    """

    ndim: int
    time: int | None
    z: int | None
    channel: int | None
    series: bool = False

    def view(self, array: np.ndarray) -> np.ndarray:
        """Returns a view with axes (time, z, channel, y, x) that shares the samples."""
        order: list[int] = []
        index: list[Any] = []
        for axis in (self.time, self.z, self.channel):
            if axis is None:
                index.append(np.newaxis)
            else:
                order.append(axis)
                index.append(slice(None))
        return array.transpose([*order, *self.picture_axes()])[tuple(index)]

    def picture_axes(self) -> list[int]:
        """Returns the axes y and x."""
        return [i for i in range(self.ndim) if i not in (self.time, self.z, self.channel)]


def _axis(name: str, axis: int | None, ndim: int) -> int | None:
    if axis is None:
        return None
    place = whole_number(name, axis)
    if not -ndim <= place < ndim:
        raise ValueError(f"{name} = {axis} (the array has {ndim} axes); give an existing axis")
    return place % ndim


def axes_of(
    shape: tuple[int, ...],
    channel_axis: int | None,
    time_axis: int | None,
    z_axis: int | None,
    volume_axis: int | None = None,
) -> Axes:
    """Assigns the axes. Two axes without names form a picture, and three form a volume."""
    ndim = len(shape)
    if volume_axis is not None and time_axis is not None:
        raise ValueError("volume_axis and time_axis (the volumes are the times); leave one out")
    named = {
        "channel_axis": _axis("channel_axis", channel_axis, ndim),
        "time_axis": _axis("time_axis", time_axis, ndim),
        "z_axis": _axis("z_axis", z_axis, ndim),
        "volume_axis": _axis("volume_axis", volume_axis, ndim),
    }
    given = [axis for axis in named.values() if axis is not None]
    if len(set(given)) < len(given):
        raise ValueError("one axis has two roles; give each axis once")
    left = [axis for axis in range(ndim) if axis not in given]
    z = named["z_axis"]
    if z is None and len(left) == 3:
        if not given and shape[-1] in (3, 4):
            raise ValueError(
                f"an array of shape {shape} (a colour picture, or a volume?); "
                "give channel_axis=-1, or z_axis for a volume"
            )
        z = left.pop(0)
    if len(left) != 2:
        raise ValueError(
            f"an array of shape {shape} (without the named axes, a picture has two, a "
            "volume three); name the others with channel_axis, time_axis, z_axis or volume_axis"
        )
    if volume_axis is not None:
        if z is None:
            raise ValueError("volume_axis without slices (a volume has three axes); give a z_axis")
        return Axes(ndim, named["volume_axis"], z, named["channel_axis"], series=True)
    return Axes(ndim, named["time_axis"], z, named["channel_axis"])
