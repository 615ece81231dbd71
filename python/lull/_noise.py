"""The noise of arrays: estimated or given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Literal, Sequence, Union

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._axes import Axes, axes_of
from ._values import Values, values_of

Kind = Literal["auto", "gaussian", "rician"]
Group = tuple[int, ...]

# The excerpts of `lull noise`: positions in a clip, frames at each position, slices of a stack.
_POSITIONS, _FRAMES_PER_EXCERPT, _SLICES = 8, 3, 12
MIN_VOLUME_SLICES = 8  # volumes with fewer slices are filtered as pictures


@dataclass(frozen=True)
class NoiseEstimate:
    """A noise estimate, which can be passed as `sigma` to the functions of lull.

    `estimate * 0.7` reduces the strength of denoising.
    """

    sigma: Union[float, tuple[float, ...]]
    """Standard deviation in the units of the array; one value per channel if there are several."""
    kind: str
    """"gaussian", or "rician" (magnitudes of an MRI scan)."""
    white: bool
    """Whether the noise of neighbouring samples is uncorrelated."""
    certain: bool
    """False: texture and noise cannot be distinguished in this array; `sigma` is a safe choice."""
    why: str
    """The reason for the uncertainty; empty if the estimate is certain."""
    _found: tuple[Any, ...] = field(repr=False)
    _unit: float = field(repr=False)
    _shape: tuple[int, ...] = field(repr=False)
    _strength: float = field(default=1.0, repr=False)

    def __float__(self) -> float:
        return float(np.mean(self.sigma)) * self._strength

    def __mul__(self, strength: float) -> "NoiseEstimate":
        if not strength > 0:
            raise ValueError(
                f"{strength} times the noise (the factor must be above 0); give a larger one"
            )
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return NoiseEstimate(**{**fields, "_strength": self._strength * float(strength)})

    __rmul__ = __mul__

    def _models(self, groups: Sequence[Group], values: Values, shape: tuple[int, ...]) -> list[Any]:
        if len(self._found) != len(groups):
            raise ValueError(
                f"an estimate of {len(self._found)} groups of channels (the array has "
                f"{len(groups)}); use an estimate of an array of the same kind"
            )
        if any(found.noise.varies for found in self._found) and shape != self._shape:
            raise ValueError(
                f"noise that varies over a volume of shape {self._shape} (this one has {shape}); "
                "estimate the noise of this volume"
            )
        factor = self._unit / values.unit
        models = [found.noise.rescaled(factor, values.zero) for found in self._found]
        return [model.strengthened(self._strength) for model in models]


Sigma = Union[float, Sequence[float], NoiseEstimate, Literal["auto"]]


def groups_of(channels: int) -> list[Group]:
    """Returns the groups of channels that lull filters together: RGB, or single channels."""
    return [(0, 1, 2)] if channels == 3 else [(channel,) for channel in range(channels)]


def layout_of(group: Group) -> str:
    return "rgb" if len(group) == 3 else "gray"


def samples_at(
    view: np.ndarray, values: Values, place: tuple[int, int], group: Group
) -> list[np.ndarray]:
    """Returns the planes of a frame of a (time, z, channel, y, x) view as samples."""
    t, z = place
    return [values.to_samples(view[t, z, channel]) for channel in group]


def _excerpts(times: int, slices: int) -> list[list[tuple[int, int]]]:
    """Returns excerpts as lists of pairs (time, z): successive frames, or slices of a stack."""
    if slices > 1:
        count = times * slices
        number = min(_SLICES, count)
        positions = [(2 * i + 1) * count // (2 * number) for i in range(number)]
        return [[divmod(place, slices)] for place in positions]
    if times <= _POSITIONS * _FRAMES_PER_EXCERPT:
        starts: Iterable[int] = range(0, times, _FRAMES_PER_EXCERPT)
    else:
        starts = [
            min(round(times * (i + 0.5) / _POSITIONS), times - _FRAMES_PER_EXCERPT)
            for i in range(_POSITIONS)
        ]
    return [[(t, 0) for t in range(s, min(s + _FRAMES_PER_EXCERPT, times))] for s in starts]


def _format(view: np.ndarray, values: Values, group: Group) -> Any:
    _, _, _, height, width = view.shape
    return _core.Format.of(width, height, layout_of(group), values.bits)


def _read_excerpts(view: np.ndarray, values: Values, group: Group) -> list[list[list[np.ndarray]]]:
    return [
        [samples_at(view, values, place, group) for place in excerpt]
        for excerpt in _excerpts(*view.shape[:2])
    ]


def _find(view: np.ndarray, values: Values, group: Group, volume: bool, kind: Kind) -> Any:
    times, slices = view.shape[:2]
    format = _format(view, values, group)
    if volume:
        statistics = _core.VolumeStatistics(format, times * slices)
        for t in range(times):
            for z in range(slices):
                statistics.add(samples_at(view, values, (t, z), group), z)
        found = statistics.find(kind, values.zero)
        if found is not None:
            return found
    return _core.find_noise(_read_excerpts(view, values, group), format, slices > 1)


def _clipped(noise: Any, view: np.ndarray, values: Values, group: Group) -> Any:
    """Returns noise of a given level with the clipping that the pictures or frames show."""
    format = _format(view, values, group)
    if view.shape[1] > 1 or not noise.may_show_clipping(format):
        return noise
    return _core.clipped_noise(noise, _read_excerpts(view, values, group), format)


def find_noise(
    view: np.ndarray, values: Values, groups: Sequence[Group], volume: bool, kind: Kind
) -> NoiseEstimate:
    found = [_find(view, values, group, volume, kind) for group in groups]
    levels = [
        level * values.unit
        for one, group in zip(found, groups)
        for level in list(one.level)[: len(group)]
    ]
    return NoiseEstimate(
        sigma=levels[0] if len(levels) == 1 else tuple(levels),
        kind="rician" if any(one.noise.kind == "rician" for one in found) else "gaussian",
        white=all(one.noise.white_only for one in found),
        certain=all(one.certain for one in found),
        why="; ".join(one.why for one in found if one.why),
        _found=tuple(found),
        _unit=values.unit,
        _shape=view.shape,
    )


def given_sigmas(sigma: Any, channels: int) -> list[float]:
    """Returns the standard deviation for each channel."""
    try:
        levels = np.asarray(sigma, np.float64)
    except (TypeError, ValueError):
        levels = np.asarray(np.nan)
    if isinstance(sigma, str) or levels.ndim > 1 or not np.all(np.isfinite(levels)):
        raise ValueError(f"sigma = {sigma!r} (must be a number, one for each channel, or 'auto')")
    if np.any(levels < 0):
        raise ValueError(f"sigma = {sigma!r} (must be at least 0); give a standard deviation")
    if levels.ndim == 1 and levels.size not in (1, channels):
        raise ValueError(f"{levels.size} sigmas for {channels} channels; give one, or one for each")
    return [float(level) for level in np.broadcast_to(levels.reshape(-1), (channels,))]


def models_of(
    sigma: Sigma,
    view: np.ndarray,
    values: Values,
    groups: Sequence[Group],
    volume: bool,
    kind: Kind,
) -> list[Any]:
    """Returns the noise model of each group of channels."""
    if kind not in ("auto", "gaussian", "rician"):
        raise ValueError(f"noise = {kind!r} (must be 'auto', 'gaussian' or 'rician')")
    if kind == "rician" and view.shape[1] == 1:
        raise ValueError("noise='rician' for pictures (it requires a volume); give a z_axis")
    shape = view.shape
    if isinstance(sigma, NoiseEstimate):
        return sigma._models(groups, values, shape)
    if isinstance(sigma, str) and sigma == "auto":
        return find_noise(view, values, groups, volume, kind)._models(groups, values, shape)
    levels = [level / values.unit for level in given_sigmas(sigma, shape[2])]
    models = []
    for group in groups:
        of_group = [levels[channel] for channel in group]
        rician = kind == "rician"
        if kind == "auto" and volume and of_group[0] > 0:
            rician = _find(view, values, group, volume, kind).noise.kind == "rician"
        if rician:
            models.append(_core.Noise.rician(of_group[0], values.zero))
        else:
            noise = _core.Noise.white((of_group * 3)[:3])
            models.append(_clipped(noise, view, values, group))
    return models


def is_volume(method: str, slices: int, has_z: bool) -> bool:
    """Returns whether slices are filtered as volumes, not one by one."""
    if method == "bm4d" and not has_z:
        raise ValueError("method='bm4d' for pictures (it filters volumes); give a z_axis")
    if method == "nlm":
        return has_z
    return method == "bm4d" or (method == "auto" and has_z and slices >= MIN_VOLUME_SLICES)


def estimate_noise(
    image: Any,
    *,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    z_axis: int | None = None,
    volume_axis: int | None = None,
    noise: Kind = "auto",
    preserve_range: bool = False,
) -> NoiseEstimate:
    """Estimates the noise of a picture, a clip, a volume or a series from its samples.

    Parameters
    ----------
    image : array of integers or floats
        (y, x), and additional axes for channels, time or z if they are named; three axes without
        names are a volume, (z, y, x).
    channel_axis, time_axis, z_axis, volume_axis : int, optional
        See :func:`lull.denoise`. The estimate of a series is the noise of all its volumes together.
    noise : 'auto', 'gaussian' or 'rician'
        For volumes: the kind of the noise; 'auto': the background decides.
    preserve_range : bool
        See :func:`lull.denoise`.

    Returns
    -------
    NoiseEstimate
        Its `sigma` is in the units of the array. It can be passed as `sigma` to other functions.

    Raises
    ------
    ValueError
        The array has no samples, or an axis does not exist.
    """
    array, _ = to_numpy(image)
    axes = axes_of(array.shape, channel_axis, time_axis, z_axis, volume_axis)
    if array.size == 0:
        raise ValueError(f"an array of shape {array.shape} (it is empty); give samples")
    view = axes.view(array)
    volume = is_volume("auto", view.shape[1], axes.z is not None)
    values = values_of(array, preserve_range, axes.z is not None)
    return find_noise(view, values, groups_of_axes(axes, view, volume), volume, noise)


def groups_of_axes(axes: Axes, view: np.ndarray, volume: bool) -> list[Group]:
    """Returns the groups of channels; each channel of a volume is a volume of its own."""
    channels = view.shape[2]
    return [(channel,) for channel in range(channels)] if volume else groups_of(channels)
