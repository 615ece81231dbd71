"""Whole arrays."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Literal, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Back, device_of, host_view, put, to_numpy
from ._axes import Axes, axes_of
from ._device import denoise_on_device
from ._noise import (
    Group,
    Kind,
    Sigma,
    groups_of_axes,
    is_volume,
    layout_of,
    models_of,
    samples_at,
)
from ._values import Values, checked_names, values_of, whole_number

METHODS = ("auto", "bm3d", "bm4d", "nlm")
FRAMES_ASIDE = 2  # that patches of a clip come from, as of the command
MOST_FRAMES_ASIDE = 4  # of the profile best


@dataclass(frozen=True)
class Work:
    """What becomes of a (time, z, channel, y, x) view."""

    method: str  # bm3d, bm4d, nlm or nlm_volumes
    profile: str
    temporal: int
    device: str
    basic_alone: bool = False  # the basic estimate is the result
    layout: str | None = None  # of groups of three; None: rgb
    on_device: bool = False  # frames come from a GPU's memory, and results stay there
    guide: Any = None  # a view as that of the frames, in whose patches they are matched
    matcher: str = "window"
    clusters: str = ""
    render: Any = None  # _core.RenderNoise: frames are renders,
    features: dict[str, np.ndarray] = field(default_factory=dict)  # whose views go with theirs
    depth: Any = None  # _core.Depth: frames are depth maps

    def __post_init__(self) -> None:
        checked_names(
            profile=self.profile, device=self.device, matcher=self.matcher, cluster=self.clusters
        )

    @property
    def volumes(self) -> bool:
        return self.method in ("bm4d", "nlm_volumes")

    def session(self, format: Any, noise: Any) -> Any:
        return _core.Session(
            format, noise, self.method, self.profile, self.device, self.temporal,
            self.basic_alone, 0, self.on_device, self.guide is not None, self.matcher,
            self.clusters, self.render, self.depth,
        )  # fmt: skip

    def format(self, shape: tuple[int, ...], group: Group, values: Values) -> Any:
        """Of frames of a view of this shape."""
        layout = self.layout if self.layout and len(group) == 3 else layout_of(group)
        return _core.Format.of(shape[4], shape[3], layout, values.bits)

    def place(self, place: tuple[int, int]) -> int:
        """Of a slice in its volume."""
        return place[1] if self.volumes else -1

    def features_at(self, place: tuple[int, int]) -> dict[str, list[np.ndarray]]:
        return {name: [plane.astype(np.float32) for plane in view[place]]
                for name, view in self.features.items()}

    def sequences(self, times: int, slices: int) -> list[list[tuple[int, int]]]:
        """Frames that a session sees one after the other, as (time, z)."""
        if self.volumes:
            return [[(t, z) for z in range(slices)] for t in range(times)]
        return [[(t, z) for t in range(times)] for z in range(slices)]

    def run(
        self,
        view: np.ndarray,
        out: np.ndarray,
        values: Values,
        groups: Sequence[Group],
        noises: Sequence[Any],
    ) -> None:
        """Writes the results of `view` into `out`, a view of the same shape."""
        copy = np.may_share_memory(view, out)
        times, slices = view.shape[:2]
        for group, noise in zip(groups, noises):
            session = self.session(self.format(view.shape, group, values), noise)
            for sequence in self.sequences(times, slices):
                pending: deque[tuple[tuple[int, int], list[np.ndarray]]] = deque()
                # (Between two frames Python looks whether somebody wants it to stop.)
                for place in sequence:
                    samples = samples_at(view, values, place, group)
                    pending.append((place, samples))
                    guide = [] if self.guide is None else samples_at(self.guide, values, place, group)
                    features = self.features_at(place)
                    for result in session.push(samples, self.place(place), copy, guide, features):
                        _store(result, *pending.popleft(), view, out, values, group)
                while (result := session.drain()) is not None:
                    _store(result, *pending.popleft(), view, out, values, group)


def _store(
    result: Any,
    place: tuple[int, int],
    samples: list[np.ndarray],
    view: np.ndarray,
    out: np.ndarray,
    values: Values,
    group: Group,
) -> None:
    targets = [out[place][channel] for channel in group]
    if values.are_samples(out.dtype):
        result.copy_to(targets)
        return
    filtered = [np.empty(one.shape, values.sample_type) for one in samples]
    result.copy_to(filtered)
    for channel, target, new, old in zip(group, targets, filtered, samples):
        target[...] = values.from_samples(new, old, view[place][channel])


def method_name(method: str, volume: bool) -> str:
    """As the core names it."""
    if method == "nlm":
        return "nlm_volumes" if volume else "nlm"
    return "bm4d" if volume else "bm3d"


def chosen_device(device: str, array: Any) -> str:
    """An array in the memory of a GPU is denoised there, unless another device is named."""
    here = device_of(array)
    known = any(here == name for name, _ in _core.devices())
    return here if device == "auto" and here and known else device


def chosen_temporal(temporal: Union[int, str], clip: bool, profile: str) -> int:
    """As of the command: `fast` and `paper` filter each frame for itself, `best` looks far."""
    if isinstance(temporal, str):
        if temporal != "auto":
            raise ValueError(f"temporal = {temporal!r} (must be 'auto', or frames from 0 to 8)")
        if clip and profile == "best":
            return MOST_FRAMES_ASIDE
        return FRAMES_ASIDE if clip and profile in ("balanced", "high") else 0
    radius = whole_number("temporal", temporal)
    if radius and not clip:
        raise ValueError(f"temporal = {temporal} (these are no frames of a clip); leave it out")
    return radius


def checked_method(method: str, methods: Sequence[str]) -> None:
    if method not in methods:
        raise ValueError(f"method = {method!r} (must be one of {', '.join(methods)})")


def checked_out(out: Any, shape: tuple[int, ...]) -> None:
    if not hasattr(out, "shape"):
        raise ValueError(f"out of type {type(out).__name__} (must be an array as the image is)")
    if tuple(out.shape) != shape:
        raise ValueError(f"out of shape {tuple(out.shape)} (the image's is {shape})")


def checked_guide(guide: Any, array: np.ndarray) -> np.ndarray:
    shown = to_numpy(guide)[0]
    if shown.shape != array.shape or shown.dtype != array.dtype:
        raise ValueError(
            f"guide of shape {shown.shape} and type {shown.dtype} (the image has {array.shape} and "
            f"{array.dtype})"
        )
    return shown


def write_out(
    array: np.ndarray,
    back: Back,
    axes: Axes,
    out: Any,
    filtered: Callable[[np.ndarray, np.ndarray], None],
) -> Any:
    """What `filtered` makes of the (time, z, channel, y, x) view of `array`, in `out` if given."""
    target, in_place = None, False
    if out is not None:
        checked_out(out, array.shape)
        target, in_place = host_view(out)
        if target is not None and target.dtype != array.dtype:
            raise ValueError(f"out of type {target.dtype} (the image's is {array.dtype})")
    result = target if in_place and target is not None else np.empty(array.shape, array.dtype)
    if array.size > 0:
        filtered(axes.view(array), axes.view(result))
    if out is None:
        return back(result)
    if not in_place:
        put(out, result)
    return out


def denoise(
    image: Any,
    sigma: Sigma = "auto",
    *,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    z_axis: int | None = None,
    profile: Literal["fast", "balanced", "high", "best", "paper"] = "balanced",
    temporal: Union[int, Literal["auto"]] = "auto",
    method: Literal["auto", "bm3d", "bm4d", "nlm"] = "auto",
    noise: Kind = "auto",
    device: str = "auto",
    matcher: Literal["window", "cluster"] = "window",
    cluster: str | None = None,
    preserve_range: bool = False,
    guide: Any = None,
    out: Any = None,
) -> Any:
    """The array without its noise: a picture, a clip, or a volume.

    Parameters
    ----------
    image : array of integers or floats, numpy's, PyTorch's, CuPy's or JAX's
        (y, x), with axes for channels, time or z where these are named. Three axes of which none is
        named are a volume, (z, y, x), as in scikit-image. Views are taken as they lie; samples that
        are not finite come out as they are.
    sigma : float, one for each channel, NoiseEstimate, or 'auto'
        Standard deviation of the noise, in the units of the array; 0 leaves a channel as it is.
        Clipping is modelled whenever samples of pictures or clips lie at the limits of their range.
        'auto': what :func:`lull.estimate_noise` finds.
    channel_axis : int, optional
        Three channels are red, green and blue and filtered together; of other numbers each is
        filtered for itself.
    time_axis : int, optional
        Frames of a clip, or volumes of a series.
    z_axis : int, optional
        Slices of a volume.
    profile : 'fast', 'balanced', 'high', 'best' (of bm3d over time) or 'paper' (not of
        bm4d)
    temporal : int from 0 to 8, or 'auto'
        Of clips: how many frames before and after one help. 'auto': 2 of the profiles balanced and
        high, 4 of best, 0 of the others.
    method : 'auto', 'bm3d', 'bm4d' or 'nlm'
        'auto': volumes of 8 slices and more in cubes (bm4d), all else as pictures (bm3d). Non-local
        means filter pictures, clips and volumes.
    noise : 'auto', 'gaussian' or 'rician'
        Of volumes: the kind of their noise, as magnitudes of MRI have Rician noise; 'auto' asks the
        background.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
        'auto': the GPU whose memory has the array, or else the first one, or else the CPU.
    matcher : 'window' or 'cluster'
        Of bm3d, and of nlm in pictures and clips: similar patches are all those of a search window,
        or those of the clusters that a patch belongs to, which nlm then averages by groups.
    cluster : str, optional
        Of the matcher 'cluster': 'TILE:LEAF:TILINGS', or 'paper', as the command's --cluster.
    preserve_range : bool
        Floats are pictures as in scikit-image, where 1 is white, unless most of them are greater.
        True: they are measurements of any range, which is found. (Values are never rescaled in the
        result; filters want to know where they lie.)
    guide : array of the shape, type and units of `image`, optional
        Patches that are alike here are filtered together, whatever `image` shows there: a result of
        another filter, or a picture of the same thing with less noise. Of bm3d and nlm.
    out : array of the shape and type of `image`, optional
        Where the result goes. It may be `image`.

    Returns
    -------
    array
        Of the kind, the shape, the type and the units of `image`; `out` if that is given.

    Raises
    ------
    ValueError
        What was asked makes no sense.
    MemoryError
        The memory of the host or the device is too small.
    lull.Error
        All else: there is no such device, or it failed.
    """
    checked_method(method, METHODS)
    on_gpu = device_of(image)
    array, back = to_numpy(image) if on_gpu is None else (image, None)
    shape = tuple(array.shape)
    axes = axes_of(shape, channel_axis, time_axis, z_axis)
    slices = 1 if axes.z is None else shape[axes.z]
    volume = is_volume(method, slices, axes.z is not None)
    radius = chosen_temporal(temporal, axes.time is not None and not volume, profile)
    work = Work(
        method=method_name(method, volume),
        profile=profile,
        temporal=radius,
        device=chosen_device(device, image),
        matcher=matcher,
        clusters=cluster or "",
    )

    def values_for(seen: Any) -> Values:
        return values_of(seen, preserve_range, axes.z is not None)

    def models(seen: Any, values: Values) -> Any:
        groups = groups_of_axes(axes, seen, volume)
        return groups, models_of(sigma, seen, values, groups, volume, noise)

    if out is not None:
        checked_out(out, shape)
    if on_gpu is not None and on_gpu == work.device and 0 not in shape:
        result = denoise_on_device(image, axes, work, values_for, models, guide, out)
        if result is not None:
            return result
    if on_gpu is not None:
        array, back = to_numpy(image)
    if guide is not None:
        work = replace(work, guide=axes.view(checked_guide(guide, array)))

    def filtered(view: np.ndarray, to: np.ndarray) -> None:
        values = values_for(array)
        groups, noises = models(view, values)
        work.run(view, to, values, groups, noises)

    return write_out(array, back, axes, out, filtered)


def nlm(image: Any, sigma: Sigma = "auto", **options: Any) -> Any:
    """Non-local means (Marques and Pardo 2013, Cuomo 2014): :func:`lull.denoise` with that method.

    Parameters
    ----------
    image, sigma, **options
        As of :func:`lull.denoise`.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        As :func:`lull.denoise`.
    """
    return denoise(image, sigma, method="nlm", **options)
