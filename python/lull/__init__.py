"""Denoises pictures, clips and volumes with BM3D, BM4D and NLM, on NVIDIA GPUs or the CPU.

    import lull

    clean = lull.denoise(photo, channel_axis=-1)              # estimates the noise
    clean = lull.denoise(photo, sigma=0.08, profile="high")   # in the units of the array
    clean = lull.denoise(clip, time_axis=0)                   # uses neighbouring frames
    clean = lull.denoise(scan, z_axis=0)                      # a volume, with cubes

    with lull.Session(frame.shape, frame.dtype, sigma=12) as session:
        for frame in camera:
            for clean in session.push(frame):
                show(clean)
        for clean in session.drain():
            show(clean)

Arrays of numpy, PyTorch, CuPy and JAX are accepted. Results are arrays of the same library, type
and shape. Errors are a ValueError, a MemoryError or a lull.Error with a message of one sentence.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._core import DeviceArray, Error
from ._core import devices as devices
from ._core import version as __version__

if TYPE_CHECKING:
    from ._authors import BM3DStages, BM4DStages, bm3d, bm3d_rgb, bm4d
    from ._denoise import denoise, nlm
    from ._depth import denoise_depth
    from ._enlarge import enlarge
    from ._noise import NoiseEstimate, estimate_noise
    from ._renders import denoise_render
    from ._session import Session

__all__ = [
    "BM3DStages",
    "BM4DStages",
    "DeviceArray",
    "Error",
    "NoiseEstimate",
    "Session",
    "__version__",
    "bm3d",
    "bm3d_rgb",
    "bm4d",
    "denoise",
    "denoise_depth",
    "denoise_render",
    "devices",
    "enlarge",
    "estimate_noise",
    "nlm",
]

# The modules below import NumPy, whose threads would receive the signals of the command. They are
# therefore imported when a program first uses one of their names.
_MODULES = {
    "_authors": ("BM3DStages", "BM4DStages", "bm3d", "bm3d_rgb", "bm4d"),
    "_denoise": ("denoise", "nlm"),
    "_depth": ("denoise_depth",),
    "_enlarge": ("enlarge",),
    "_noise": ("NoiseEstimate", "estimate_noise"),
    "_renders": ("denoise_render",),
    "_session": ("Session",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
