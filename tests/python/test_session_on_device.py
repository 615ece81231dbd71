"""The path of session frames in GPU memory, with a simulated GPU."""

import lull
import numpy as np
import pretended_gpu
import pytest
from pictures import clip, noise_like, volume
from pretended_gpu import OnDevice

SIGMA = 20 / 255
CLIP = clip() + noise_like(clip(), SIGMA)


@pytest.fixture
def open_session(monkeypatch):
    pretended_gpu.pretend(monkeypatch)
    return lull.Session


@pytest.fixture
def session(open_session):
    with open_session(CLIP.shape[1:], CLIP.dtype, SIGMA) as session:
        yield session


EXPECTED = lull.denoise(CLIP, SIGMA, time_axis=0, device="cpu")


def results_of(session, frames, copy=False):
    results = [r for frame in frames for r in session.push(frame, copy=copy)]
    return results + list(session.drain())


def test_results_stay_on_the_device(session):
    for _ in range(2):
        results = results_of(session, [OnDevice(frame) for frame in CLIP])
        assert all(isinstance(result, OnDevice) for result in results)
        np.testing.assert_array_equal([result.there for result in results], EXPECTED)
    assert pretended_gpu.Session.opened == [False, True]


def test_each_clip_chooses_its_memory(session):
    np.testing.assert_array_equal(results_of(session, CLIP), EXPECTED)
    results = results_of(session, [OnDevice(frame) for frame in CLIP])
    np.testing.assert_array_equal([result.there for result in results], EXPECTED)
    np.testing.assert_array_equal(results_of(session, CLIP), EXPECTED)
    assert pretended_gpu.Session.opened == [False, True, False]


def test_memory_cannot_change_within_a_clip(session):
    session.push(OnDevice(CLIP[0]), copy=False)
    with pytest.raises(ValueError, match="not on cuda:0"):
        session.push(CLIP[1])


def test_unsupported_frames_are_rejected_without_copy(session):
    with pytest.raises(ValueError, match="open another session"):
        session.push(OnDevice(CLIP[0, :-1]), copy=False)
    assert pretended_gpu.Session.opened == [False]


def test_closed_session_stays_closed(session):
    session.close()
    with pytest.raises(Exception, match="closed"):
        session.push(OnDevice(CLIP[0]), copy=False)
    assert pretended_gpu.Session.opened == [False]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("copy", [False, True])
def test_other_sample_types_stay_on_the_device(open_session, dtype, copy):
    frames = np.where(CLIP > 0.9, np.inf, CLIP).astype(dtype)
    expected = lull.denoise(frames, SIGMA, time_axis=0, device="cpu")
    with open_session(frames.shape[1:], dtype, SIGMA) as session:
        results = []
        for frame in frames:
            there = OnDevice(frame.copy())
            results += session.push(there, copy=copy)
            if copy:
                there.there[...] = 0
        results += session.drain()
    np.testing.assert_array_equal([result.there for result in results], expected)


def test_slices_stay_on_the_device(open_session):
    scan = (volume() + noise_like(volume(), SIGMA)).astype(np.float32)
    with open_session(scan.shape[1:], scan.dtype, SIGMA, method="bm4d", device="cpu") as on_host:
        expected = results_of(on_host, scan)
    with open_session(scan.shape[1:], scan.dtype, SIGMA, method="bm4d") as session:
        for _ in range(2):
            results = results_of(session, [OnDevice(slice) for slice in scan])
            np.testing.assert_array_equal([result.there for result in results], expected)
    assert pretended_gpu.Session.opened == [False, False, True]
