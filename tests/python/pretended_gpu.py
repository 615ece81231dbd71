"""A simulated GPU for tests without one: its memory is host memory, its sessions run on the CPU.
The tests check on which path arrays travel. (test_on_gpu.py uses a real GPU.)"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from lull import _authors, _core, _denoise, _device, _session
from lull._values import Values


class OnDevice:
    """An array in simulated GPU memory, which the host cannot access."""

    def __init__(self, array):
        self.there = np.asarray(array)
        self.shape, self.dtype = self.there.shape, self.there.dtype

    def copy_to_host(self):  # the interface of numba
        return self.there

    def get_into(self, array):
        array[...] = self.there

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.there.ctypes.data, not self.there.flags.writeable),
            "strides": self.there.strides,
            "version": 3,
        }


def at_address(address, shape, strides, typestr):
    interface = {
        "data": (address, False),
        "shape": tuple(shape),
        "strides": tuple(strides),
        "typestr": typestr,
        "version": 3,
    }
    return np.asarray(SimpleNamespace(__array_interface__=interface))


class DeviceArray:
    @staticmethod
    def empty(shape, typestr, device):
        assert device == 0
        return OnDevice(np.empty(shape, typestr))

    @staticmethod
    def gathered(address, shape, strides, step, typestr, device):
        assert device == 0
        return OnDevice(at_address(address, shape, strides, typestr).reshape(-1)[::step].copy())


def max_u16(address, shape, strides, device):
    assert device == 0
    return int(at_address(address, shape, strides, "<u2").max())


@dataclass
class DeviceImage:
    device: int
    typestr: str
    low: float
    span: float
    places: list

    def planes(self, format):
        return [
            at_address(address, (format.height, format.width), strides, self.typestr)
            for address, *strides in self.places
        ]

    def values(self, format):
        return Values(format.bits, self.low, self.span)


@dataclass
class Format:
    width: int
    height: int
    layout: str
    bits: int

    @classmethod
    def of(cls, *options):
        return cls(*options)


class Result:
    def __init__(self, result, format):
        self.result, self.format = result, format

    def copy_to_device(self, to, original):
        values, targets = to.values(self.format), to.planes(self.format)
        olds = original.planes(self.format)
        news = [np.empty(old.shape, values.sample_type) for old in olds]
        self.result.copy_to(news)
        for target, new, old in zip(targets, news, olds):
            target[...] = values.from_samples(new, values.to_samples(old), old)


class Session:
    opened = []  # for each session, whether its results stay on the GPU

    def __init__(self, format, noise, method, profile, device, *options):
        self.on_device = options[3]
        Session.opened.append(self.on_device)
        self.format = format
        real = _core.Format.of(format.width, format.height, format.layout, format.bits)
        options = [*options[:3], False, *options[4:]]
        self.session = _core.Session(real, noise, method, profile, "cpu", *options)
        self.device, self.latency = "cuda:0", self.session.latency

    def push(self, *frame):
        assert not self.on_device
        return self.session.push(*frame)

    def push_on_device(self, image, slice, copy, guide=None):
        assert self.on_device and image.device == 0
        samples, shown = (
            []
            if one is None
            else [one.values(self.format).to_samples(p).copy() for p in one.planes(self.format)]
            for one in (image, guide)
        )
        ready = self.session.push(samples, slice, True, shown)
        return [Result(r, self.format) for r in ready]

    def drain(self):
        result = self.session.drain()
        return Result(result, self.format) if self.on_device and result is not None else result

    def close(self):
        self.session.close()


def device_of(array):
    return "cuda:0" if isinstance(array, OnDevice) else None


def pretend(monkeypatch):
    names = {name: getattr(_core, name) for name in dir(_core) if not name.startswith("_")}
    core = SimpleNamespace(
        **{
            **names,
            "DeviceArray": DeviceArray,
            "DeviceImage": DeviceImage,
            "Format": Format,
            "Session": Session,
            "devices": lambda: [("cuda:0", "a pretended GPU")],
            "max_u16": max_u16,
        }
    )
    for module in (_denoise, _device, _session):
        monkeypatch.setattr(module, "_core", core)
    for module in (_authors, _denoise, _device, _session):
        monkeypatch.setattr(module, "device_of", device_of)
    Session.opened = []
