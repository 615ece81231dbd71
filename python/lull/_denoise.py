"""Denoising of complete arrays."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Literal, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Convert, device_of, host_view, put, to_numpy
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
from ._series import denoise_series, may_be_series
from ._values import Values, checked_names, values_of, whole_number

METHODS = ("auto", "bm3d", "bm4d", "nlm")
TEMPORAL_RADIUS = 2  # frames before and after, the same default as in the command
BEST_TEMPORAL_RADIUS = 4  # for the profile best


@dataclass(frozen=True)
class Work:
    """The filter settings for a (time, z, channel, y, x) view."""

    method: str  # bm3d, bm4d, nlm or nlm_volumes
    profile: str
    temporal: int
    device: str
    basic_only: bool = False  # the basic estimate is the result
    layout: str | None = None  # for groups of three channels; None: rgb
    on_device: bool = False  # frames and results are in GPU memory
    guide: Any = None  # a view like that of the frames, in which patches are matched
    matcher: str = "window"
    clusters: str = ""
    render: Any = None  # _core.RenderNoise: the frames are renders
    features: dict[str, np.ndarray] = field(default_factory=dict)  # views of the features by name
    depth: Any = None  # _core.Depth: the frames are depth maps

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
            self.basic_only, 0, self.on_device, self.guide is not None, self.matcher,
            self.clusters, self.render, self.depth,
        )  # fmt: skip

    def format(self, shape: tuple[int, ...], group: Group, values: Values) -> Any:
        """Returns the frame format for a view of this shape."""
        layout = self.layout if self.layout and len(group) == 3 else layout_of(group)
        return _core.Format.of(shape[4], shape[3], layout, values.bits)

    def slice_number(self, place: tuple[int, int]) -> int:
        """Returns the position of a slice in its volume, -1 for frames."""
        return place[1] if self.volumes else -1

    def features_at(self, place: tuple[int, int]) -> dict[str, list[np.ndarray]]:
        return {name: [plane.astype(np.float32) for plane in view[place]]
                for name, view in self.features.items()}

    def sequences(self, times: int, slices: int) -> list[list[tuple[int, int]]]:
        """Returns the sequences of frames, as pairs (time, z), which sessions filter in turn."""
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
                # (Python handles signals between two frames, so that Ctrl-C works.)
                for place in sequence:
                    samples = samples_at(view, values, place, group)
                    pending.append((place, samples))
                    guide = [] if self.guide is None else samples_at(self.guide, values, place, group)
                    features = self.features_at(place)
                    for result in session.push(
                        samples, self.slice_number(place), copy, guide, features
                    ):
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
    """Returns the name of the method in the core."""
    if method == "nlm":
        return "nlm_volumes" if volume else "nlm"
    return "bm4d" if volume else "bm3d"


def chosen_device(device: str, array: Any) -> str:
    """Returns the array's GPU if `device` is 'auto' and lull can use this GPU, else `device`."""
    here = device_of(array)
    known = any(here == name for name, _ in _core.devices())
    return here if device == "auto" and here and known else device


def chosen_temporal(temporal: Union[int, str], clip: bool, profile: str) -> int:
    """Returns the temporal radius; 'auto' depends on the profile as in the command."""
    if isinstance(temporal, str):
        if temporal != "auto":
            raise ValueError(f"temporal = {temporal!r} (must be 'auto', or frames from 0 to 8)")
        if clip and profile == "best":
            return BEST_TEMPORAL_RADIUS
        return TEMPORAL_RADIUS if clip and profile in ("balanced", "high") else 0
    radius = whole_number("temporal", temporal)
    if radius and not clip:
        raise ValueError(f"temporal = {temporal} (the image is not a clip); leave it out")
    return radius


def checked_method(method: str, methods: Sequence[str]) -> None:
    if method not in methods:
        raise ValueError(f"method = {method!r} (must be one of {', '.join(methods)})")


def checked_out(out: Any, shape: tuple[int, ...]) -> None:
    if not hasattr(out, "shape"):
        raise ValueError(f"out of type {type(out).__name__} (must be an array like the image)")
    if tuple(out.shape) != shape:
        raise ValueError(f"out of shape {tuple(out.shape)} (the image's is {shape})")


def checked_guide(guide: Any, array: np.ndarray) -> np.ndarray:
    guide_array = to_numpy(guide)[0]
    if guide_array.shape != array.shape or guide_array.dtype != array.dtype:
        raise ValueError(
            f"guide of shape {guide_array.shape} and type {guide_array.dtype} (the image has "
            f"{array.shape} and {array.dtype})"
        )
    return guide_array


def write_out(
    array: np.ndarray,
    back: Convert,
    axes: Axes,
    out: Any,
    filtered: Callable[[np.ndarray, np.ndarray], None],
) -> Any:
    """Runs `filtered` on (time, z, channel, y, x) views; returns the result, in `out` if given."""
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
    volume_axis: int | None = None,
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
    """Denoises a picture, a clip, a volume, or a series of volumes.

    Parameters
    ----------
    image : array of integers or floats of numpy, PyTorch, CuPy or JAX
        (y, x), and additional axes for channels, time or z if they are named. Three axes without
        names are a volume, (z, y, x), as in scikit-image. Views are accepted in their memory
        layout; samples that are not finite are preserved unchanged.
    sigma : float, one for each channel, NoiseEstimate, or 'auto'
        Standard deviation of the noise in the units of the array; channels with 0 are unchanged.
        Clipping is modelled if samples of pictures or clips are at the limits of their range.
        'auto': the estimate of :func:`lull.estimate_noise`.
    channel_axis : int, optional
        Three channels are red, green and blue, and are filtered together; other numbers of
        channels are filtered separately.
    time_axis : int, optional
        Frames of a clip, or volumes that are denoised separately.
    z_axis : int, optional
        Slices of a volume.
    volume_axis : int, optional
        Volumes of a series of one object, such as diffusion or functional MRI. A series of 8
        volumes or more is denoised by its principal components over the volumes, with bm4d, as
        with the command's `--series`. Shorter series, and series with a guide or another method,
        are denoised volume by volume.
    profile : 'fast', 'balanced', 'high', 'best' (bm3d) or 'paper' (not for
        bm4d)
    temporal : int from 0 to 8, or 'auto'
        For clips: number of frames before and after each frame that are searched as well.
        'auto': 2 for the profiles balanced and high, 4 for best, 0 for the others.
    method : 'auto', 'bm3d', 'bm4d' or 'nlm'
        'auto': bm4d for volumes with at least 8 slices, bm3d for everything else. nlm filters
        pictures, clips and volumes.
    noise : 'auto', 'gaussian' or 'rician'
        For volumes: the kind of the noise. Magnitudes of MRI have Rician noise. 'auto': the
        background decides.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
        'auto': the GPU whose memory contains the array, otherwise the first GPU, otherwise the CPU.
    matcher : 'window' or 'cluster'
        For bm3d, and for nlm in pictures and clips: similar patches come from a search window, or
        from the clusters that a patch belongs to; nlm then averages such groups.
    cluster : str, optional
        For the matcher 'cluster': 'TILE:LEAF:TILINGS', or 'paper', as in the command's --cluster.
    preserve_range : bool
        False: floats are pictures in the convention of scikit-image, where 1 is white, unless most
        of them are greater. True: floats are measurements whose range is determined from the
        array. (The result has the same scale in both cases; the filters need the range.)
    guide : array of the shape, type and units of `image`, optional
        Patches are matched in the guide instead of `image`: for example a result of another filter,
        or a picture of the same scene with less noise. For bm3d and nlm.
    out : array of the shape and type of `image`, optional
        Receives the result. It may be `image`.

    Returns
    -------
    array
        Has the library, shape, type and units of `image`; it is `out` if that is given.

    Raises
    ------
    ValueError
        An argument is invalid.
    MemoryError
        The memory of the host or the device is too small.
    lull.Error
        Other errors: the device does not exist, or it failed.
    """
    checked_method(method, METHODS)
    on_gpu = device_of(image)
    array, back = to_numpy(image) if on_gpu is None else (image, None)
    shape = tuple(array.shape)
    axes = axes_of(shape, channel_axis, time_axis, z_axis, volume_axis)
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
    series = may_be_series(axes, shape, method) and guide is None
    if on_gpu is not None and on_gpu == work.device and 0 not in shape and not series:
        result = denoise_on_device(image, axes, work, values_for, models, guide, out)
        if result is not None:
            return result
    if on_gpu is not None:
        array, back = to_numpy(image)
    if guide is not None:
        work = replace(work, guide=axes.view(checked_guide(guide, array)))

    def filtered(view: np.ndarray, to: np.ndarray) -> None:
        values = values_for(array)
        if series and denoise_series(view, to, values, sigma, noise, work.profile, work.device):
            return
        groups, noises = models(view, values)
        work.run(view, to, values, groups, noises)

    return write_out(array, back, axes, out, filtered)


def nlm(image: Any, sigma: Sigma = "auto", **options: Any) -> Any:
    """Denoises with non-local means (Marques and Pardo 2013, Cuomo 2014).

    Parameters
    ----------
    image, sigma, **options
        See :func:`lull.denoise`; the method is nlm.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """
    return denoise(image, sigma, method="nlm", **options)
