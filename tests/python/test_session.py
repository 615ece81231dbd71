"""lull.Session: frames one by one."""

import threading
import time

import lull
import numpy as np
import pytest
from pictures import clip, noise_like, psnr, volume

SIGMA = 20 / 255
CLEAN = clip(9)
NOISY = CLEAN + noise_like(CLEAN, SIGMA)


def run(session, frames, **options):
    results = []
    for frame in frames:
        results += session.push(frame, **options)
    return np.stack(results + list(session.drain()))


def test_results_equal_those_of_the_complete_clip():
    expected = lull.denoise(NOISY, SIGMA, time_axis=0)
    with lull.Session(NOISY.shape[1:], NOISY.dtype, SIGMA) as session:
        assert session.latency > 0 and session.device in ("cpu", *(d for d, _ in lull.devices()))
        np.testing.assert_array_equal(run(session, NOISY), expected)
        # A drained session behaves like a new one.
        np.testing.assert_array_equal(run(session, NOISY, copy=False), expected)
        np.testing.assert_array_equal(np.stack(list(session.denoise(NOISY))), expected)


@pytest.mark.parametrize("dtype, bits, white", [(np.uint8, None, 255), (np.uint16, 10, 1023), (float, None, 1)])
def test_sample_types_are_kept(dtype, bits, white):
    frames = np.clip(NOISY, 0, 1) * white
    frames = (frames if dtype is float else np.rint(frames)).astype(dtype)
    with lull.Session(frames.shape[1:], dtype, SIGMA * white, bits=bits) as session:
        results = run(session, frames)
    assert results.dtype == dtype
    assert psnr(CLEAN * white, results, white) > psnr(CLEAN, NOISY) + 7


def test_a_frame_may_change_after_it_was_pushed():
    expected = lull.denoise(NOISY, SIGMA, time_axis=0)
    room = np.empty_like(NOISY[0])
    results = []
    with lull.Session(room.shape, room.dtype, SIGMA) as session:
        for frame in NOISY:
            room[...] = frame
            results += session.push(room)
            room[...] = 7
        results += session.drain()
    np.testing.assert_array_equal(np.stack(results), expected)


def test_repeated_frames_have_equal_results():
    frames = NOISY[[0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 6]]
    with lull.Session(frames.shape[1:], frames.dtype, SIGMA) as session:
        results = run(session, frames)
    np.testing.assert_array_equal(results, lull.denoise(frames, SIGMA, time_axis=0))
    results[0][...] = 0  # must not affect other results
    assert results[1].any()


def test_colours_and_slices():
    colours = np.stack([NOISY[0], NOISY[3], NOISY[5]], axis=-1)
    with lull.Session(colours.shape, colours.dtype, SIGMA, channel_axis=-1, temporal=0) as session:
        result = run(session, [colours])[0]
    np.testing.assert_array_equal(result, lull.denoise(colours, SIGMA, channel_axis=-1))
    clean = volume(20)
    noisy = clean + noise_like(clean, SIGMA)
    with lull.Session(noisy.shape[1:], noisy.dtype, SIGMA, method="bm4d") as session:
        assert psnr(clean, run(session, noisy)) > psnr(clean, noisy) + 7


@pytest.mark.parametrize(
    "shape, arguments, words",
    [
        ((40, 40), dict(sigma="auto"), "estimate_noise"),
        ((40, 40), dict(), "estimate_noise"),
        ((40, 40), dict(sigma=1, method="median"), "method"),
        ((40, 40), dict(sigma=1, dtype=np.int16), "int16"),
        ((40, 40), dict(sigma=1, dtype=np.uint16, bits=8), "bits = 8"),
        ((40, 40), dict(sigma=1, dtype=np.uint8, bits=8), "bits"),
        ((40, 0), dict(sigma=1), "they are empty"),
        ((40, 40, 40), dict(sigma=1), "two axes"),
        ((40, 40, 2), dict(sigma=1, channel_axis=-1), "2 channels"),
        ((40, 40), dict(sigma=1, temporal=9), "temporal = 9"),
        ((40, 40), dict(sigma=1, temporal=0.5), "temporal = 0.5"),
        ((40, 40), dict(sigma=1, device=None), "device = None"),
        ((40, 40), dict(sigma=1, dtype="floats"), "dtype = 'floats'"),
        ((40.0, 40), dict(sigma=1), "shape = 40.0"),
        (40, dict(sigma=1), "shape = 40"),
        ((40, 40), dict(sigma=1, threads=-1), "threads = -1"),
    ],
)
def test_invalid_arguments_are_value_errors(shape, arguments, words):
    with pytest.raises(ValueError) as error:
        lull.Session(shape, **arguments)
    assert words in str(error.value)


def test_other_byte_orders_are_accepted():
    other = NOISY[0].dtype.newbyteorder("S")
    with lull.Session((64, 80), other, SIGMA, temporal=0) as session:
        (result,) = session.denoise([NOISY[0].astype(other)])
    np.testing.assert_array_equal(result, lull.denoise(NOISY[0], SIGMA))


def test_frames_of_another_format_are_rejected():
    with lull.Session((64, 80), np.float32, SIGMA) as session:
        for frame in (NOISY[0].astype(float), NOISY[0][:-1], np.zeros((64, 80, 3), np.float32)):
            with pytest.raises(ValueError, match="another session"):
                session.push(frame)
        assert len(run(session, NOISY)) == len(NOISY)  # the session continues


def test_closed_session_rejects_frames():
    session = lull.Session((64, 80), np.float32, SIGMA)
    session.close()
    with pytest.raises(lull.Error, match="closed"):
        session.push(NOISY[0])


def test_other_threads_run_during_a_call():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    picture = np.tile(NOISY[0], (6, 6))

    def ticks_during_a_call():
        begin = time.perf_counter()
        lull.denoise(picture, SIGMA, profile="high")
        end = time.perf_counter()
        return sum(begin < t < end for t in ticks)

    # On a fast GPU or a busy machine a call may end before the other thread runs.
    went_on = any(ticks_during_a_call() > 2 for _ in range(100))
    stop.set()
    thread.join()
    assert went_on


def test_several_threads_share_a_session():
    session = lull.Session((64, 80), np.float32, SIGMA, temporal=0)
    counts = []

    def work():
        for frame in NOISY:
            counts.append(len(session.push(frame)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) + len(list(session.drain())) == 3 * len(NOISY)


def test_keyboard_interrupt_between_frames():
    import _thread

    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        lull.denoise(np.repeat(NOISY, 400, axis=0), SIGMA, time_axis=0, temporal=0)


def test_best_profile_has_its_own_latency():
    latency = {}
    for profile in ("high", "best"):
        with lull.Session(NOISY.shape[1:], NOISY.dtype, SIGMA, profile=profile, temporal=1) as session:
            latency[profile] = session.latency
    assert latency["best"] > latency["high"]
