"""Which way frames of a session go, where a GPU would keep them: its memory is the host's here, its
session one of the CPU. (test_on_gpu.py has the real one.)"""

import ctypes
from types import SimpleNamespace

import lull
import numpy as np
import pytest
from lull import _core, _device, _session
from pictures import clip, noise_like

SIGMA = 20 / 255
CLIP = clip() + noise_like(clip(), SIGMA)


class OnDevice:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.shape, self.dtype = self.array.shape, self.array.dtype

    def copy_to_host(self):
        return self.array

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.array.ctypes.data, False),
            "version": 3,
        }


class Result:
    def __init__(self, result, shape, dtype):
        self.result, self.shape, self.dtype = result, shape, dtype

    def copy_to_device(self, planes):
        targets = [np.empty(self.shape, self.dtype) for _ in planes]
        self.result.copy_to(targets)
        for (address, _), target in zip(planes, targets):
            ctypes.memmove(address, target.ctypes.data, target.nbytes)


class DeviceSession:
    opened = []

    def __init__(self, *options):
        self.on_device = options[8]
        DeviceSession.opened.append(self.on_device)
        self.session = _core.Session(*options[:4], "cpu", *options[5:8], False, *options[9:])
        self.device, self.latency = "cuda:0", self.session.latency
        self.shape, self.dtype = CLIP.shape[1:], CLIP.dtype

    def push(self, *frame):
        assert not self.on_device
        return self.session.push(*frame)

    def push_on_device(self, planes, device):
        assert self.on_device and device == 0
        samples = []
        for address, _ in planes:
            samples.append(np.empty(self.shape, self.dtype))
            ctypes.memmove(samples[-1].ctypes.data, address, samples[-1].nbytes)
        return [Result(r, self.shape, self.dtype) for r in self.session.push(samples, -1, True)]

    def drain(self):
        result = self.session.drain()
        on_device = self.on_device and result is not None
        return Result(result, self.shape, self.dtype) if on_device else result

    def close(self):
        self.session.close()


@pytest.fixture
def session(monkeypatch):
    core = SimpleNamespace(Session=DeviceSession, Format=_core.Format, Noise=_core.Noise)
    monkeypatch.setattr(_session, "_core", core)
    monkeypatch.setattr(
        _session, "device_of", lambda array: "cuda:0" if isinstance(array, OnDevice) else None
    )
    monkeypatch.setattr(_device, "_ordinal", lambda array: 0)
    monkeypatch.setattr(
        _device, "_empty_like", lambda array, device: OnDevice(np.empty(array.shape, array.dtype))
    )
    DeviceSession.opened = []
    with lull.Session(CLIP.shape[1:], CLIP.dtype, SIGMA) as session:
        yield session


EXPECTED = lull.denoise(CLIP, SIGMA, time_axis=0, device="cpu")


def results_of(session, frames):
    results = [r for frame in frames for r in session.push(frame, copy=False)]
    return results + list(session.drain())


def test_results_stay(session):
    for _ in range(2):
        results = results_of(session, [OnDevice(frame) for frame in CLIP])
        assert all(isinstance(result, OnDevice) for result in results)
        np.testing.assert_array_equal([result.array for result in results], EXPECTED)
    assert DeviceSession.opened == [False, True]


def test_each_clip_goes_its_own_way(session):
    np.testing.assert_array_equal(results_of(session, CLIP), EXPECTED)
    results = results_of(session, [OnDevice(frame) for frame in CLIP])
    np.testing.assert_array_equal([result.array for result in results], EXPECTED)
    np.testing.assert_array_equal(results_of(session, CLIP), EXPECTED)
    assert DeviceSession.opened == [False, True, False]


def test_a_clip_stays_where_it_is(session):
    session.push(OnDevice(CLIP[0]), copy=False)
    with pytest.raises(ValueError, match="not on cuda:0"):
        session.push(CLIP[1])


def test_other_samples_go_through_the_host(session):
    with pytest.raises(ValueError, match="open another session"):
        session.push(OnDevice(CLIP[0, :-1]), copy=False)
    assert DeviceSession.opened == [False]


def test_a_closed_session_stays_closed(session):
    session.close()
    with pytest.raises(Exception, match="closed"):
        session.push(OnDevice(CLIP[0]), copy=False)
    assert DeviceSession.opened == [False]
