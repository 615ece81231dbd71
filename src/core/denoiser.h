#pragma once
// The interface of all filters: a session for frames of one format.

#include <optional>

#include "core/frame.h"

namespace lull {

enum class BackendKind {
  /// Slow scalar code in double precision that follows the papers directly. Tests compare the other
  /// backends with it.
  reference,
  cpu,   // SIMD and threads
  cuda,  // one GPU
};

/// The integer samples of a session's results, which may differ from those of the input. The
/// session rounds floats only once, to these samples. If the input has float samples, the results
/// also have float samples.
struct ResultSamples {
  int bits = 0;  // 8..16; 0: the input's bit depth
  /// If true, 255 in 8 bits becomes the maximum of the output's bit depth, for luma, grey and RGB.
  /// If false, samples are multiplied by a power of two, as chroma samples always are. FFmpeg
  /// converts samples in the same way.
  bool full_range = false;
  Dither dither = Dither::none;
  bool operator==(const ResultSamples&) const = default;
};

/// Returns the format of a session's results for frames of the format `input`.
[[nodiscard]] constexpr FrameFormat result_format(const FrameFormat& input,
                                                  const ResultSamples& samples) {
  FrameFormat format = input;
  if (input.sample == SampleType::f32) return format;
  format.dither = samples.dither;
  if (samples.bits == 0 || samples.bits == input.bits) return format;
  format.bits = samples.bits;
  format.sample = samples.bits == 8 ? SampleType::u8 : SampleType::u16;
  const auto multiple = [&](int plane) {
    return static_cast<float>(input.full_scale(plane) * (1 << samples.bits) /
                              static_cast<double>(1 << input.bits));
  };
  format.luma_scale = samples.full_range ? 0 : multiple(0);
  format.chroma_scale = input.layout == Layout::yuv ? multiple(1) : 0;
  return format;
}

/// Returns the 16-bit format in which a session must return samples if a later step converts the
/// results to `samples`.
[[nodiscard]] constexpr ResultSamples precise_samples(const ResultSamples& samples) {
  return {.bits = 16, .full_range = samples.full_range};
}

/// The place where a session runs. It cannot change while the session exists.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;   // cuda: index of the GPU among the visible ones
  int threads = 0;  // cpu: number of threads; 0: one per core
  /// Only for the backend `cuda`. If true, results remain in GPU memory (Frame::on_device) and are
  /// complete when the session returns them. The session reuses the memory of a result after the
  /// last reference to it is released.
  bool results_on_device = false;
  ResultSamples results = {};  // samples of results
};

/// Numbers of frames before and after a frame on which the result of the frame depends, not
/// counting frames that repeat their predecessor.
struct Margin {
  int before = 0, after = 0;
  bool operator==(const Margin&) const = default;
};

/// A session returns one result for each pushed frame, in the same order, delayed by up to
/// latency() frames. One thread at a time may use a session.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  /// Returns the number of frames that a program may push before the session returns the first
  /// result. A session that uses neighbouring frames does not count frames that repeat their
  /// predecessor.
  virtual int latency() const noexcept = 0;
  /// Pushes a frame, and returns the next finished frame, if there is one. The frame must have the
  /// format of the session, and its samples must not change until the session returns its result.
  /// They may be in GPU memory if the session runs on a GPU. Results are in host memory, unless
  /// Backend::results_on_device is set.
  /// @throws Error  after an error, a program can only destroy the session
  [[nodiscard]] virtual std::optional<Frame> push(Frame noisy) = 0;
  /// Returns a further finished frame after push(), if there is one. The caller must call next()
  /// until it returns nothing, because one push may finish several frames if frames are repeated.
  [[nodiscard]] virtual std::optional<Frame> next() { return std::nullopt; }
  /// Returns the remaining frames one by one after the last push, then nullopt. After nullopt, the
  /// session accepts another clip.
  [[nodiscard]] virtual std::optional<Frame> drain() = 0;
};

}  // namespace lull
