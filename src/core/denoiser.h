#pragma once
// The interface of all filters: a session for frames of one format.

#include <optional>

#include "core/frame.h"

namespace lull {

enum class BackendKind {
  /// The reference backend: slow scalar code in double precision that follows the papers directly.
  /// Tests compare the other backends with the reference backend.
  reference,
  cpu,   // SIMD and threads
  cuda,  // one GPU
};

/// Format of the integer samples of a session's results. The session rounds its float results
/// directly to this format. For float input, results are also floats.
struct ResultSamples {
  int bits = 0;  // 8..16; 0: the input's bit depth
  /// If true, the session converts luma, grey and RGB samples to another bit depth as FFmpeg does:
  /// the maximum of the input's bit depth becomes the maximum of the output's bit depth. If false,
  /// it multiplies these samples by a power of two, as it always does with chroma samples.
  bool full_range = false;
  Dither dither = Dither::none;
  bool operator==(const ResultSamples&) const = default;
};

/// Returns the format of a session's results. `input` is the format of the frames.
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

/// Returns a 16-bit format for results that the caller later converts to the format `samples`.
[[nodiscard]] constexpr ResultSamples precise_samples(const ResultSamples& samples) {
  return {.bits = 16, .full_range = samples.full_range};
}

/// The device on which a session runs (CPU or GPU), and options of the session. Device and options
/// cannot change while the session exists.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;   // cuda: index of the GPU among the visible ones
  int threads = 0;  // cpu: number of threads; 0: one per core
  /// Only for the backend `cuda`. If true, results remain in GPU memory (Frame::on_device), and are
  /// complete when the session returns them. The session reuses the memory of a result after the
  /// caller has released the last reference to it.
  bool results_on_device = false;
  ResultSamples results = {};  // samples of results
};

/// The result of a frame depends on `before` earlier frames and on `after` later frames. Repeated
/// frames do not count.
struct Margin {
  int before = 0, after = 0;
  bool operator==(const Margin&) const = default;
};

/// A session returns one result for each pushed frame, in order, delayed by up to latency() frames.
/// Only one thread at a time may use a session.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  /// Returns the maximum number of pushed frames before the first result. Repeated frames do not
  /// count in sessions with temporal filtering.
  virtual int latency() const noexcept = 0;
  /// Pushes a frame of the session's format. Its samples must not change until the session returns
  /// its result. Sessions on a GPU also accept frames in GPU memory. Returns the next finished
  /// frame, if there is one, in host memory unless Backend::results_on_device is true.
  /// @throws Error  after an error, the caller can only destroy the session
  [[nodiscard]] virtual std::optional<Frame> push(Frame noisy) = 0;
  /// Returns a further finished frame after push(), if there is one. The caller must call next()
  /// until it returns nothing, because a push may finish several frames.
  [[nodiscard]] virtual std::optional<Frame> next() { return std::nullopt; }
  /// Returns the remaining frames one by one after the last push, then std::nullopt. After
  /// std::nullopt, the session accepts another clip.
  [[nodiscard]] virtual std::optional<Frame> drain() = 0;
};

}  // namespace lull
