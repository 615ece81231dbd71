#pragma once
// The interface of all filters: a session for frames of one format.

#include <optional>

#include "core/frame.h"

namespace lull {

enum class BackendKind {
  /// The reference backend, which is scalar code in double precision that follows the papers
  /// directly. It is slow; tests compare the other backends with it.
  reference,
  cpu,   // SIMD and threads
  cuda,  // one GPU
};

/// Where a session runs. The backend is chosen once for the complete session.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;   // cuda: index of the GPU among the visible ones
  int threads = 0;  // cpu: number of threads; 0: one per core
  /// Only cuda: results stay in the GPU's memory (Frame::on_device) and are complete when the
  /// session returns them. The session reuses the memory of a result after the last reference to it
  /// has been released.
  bool results_on_device = false;
};

/// Number of frames before and after a frame on which the result of the frame depends. Frames that
/// repeat their predecessor are not counted.
struct Margin {
  int before = 0, after = 0;
  bool operator==(const Margin&) const = default;
};

/// A session returns one frame for each frame pushed, in the same order. Frames in flight, double
/// buffering and a temporal radius are internal to the session; latency() states their effect. One
/// thread at a time may use a session.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  /// Returns how many frames may be pushed before the first result is returned. A session that uses
  /// neighbouring frames does not count frames that repeat their predecessor.
  virtual int latency() const noexcept = 0;
  /// Pushes a frame, and returns the next finished frame, if any. The frame must have the session's
  /// format. Its samples must not change until its result is returned. The samples may be in GPU
  /// memory if the session runs on a GPU. Results are in host memory, unless
  /// Backend::results_on_device is set.
  /// @throws Error  the session can then only be destroyed
  [[nodiscard]] virtual std::optional<Frame> push(Frame noisy) = 0;
  /// Returns a further finished frame after push(), if there is one. If frames repeat others, one
  /// push may finish several frames, so the caller must call next() until it returns nothing.
  [[nodiscard]] virtual std::optional<Frame> next() { return std::nullopt; }
  /// Returns the remaining frames one by one after the last push, then nullopt. The session is then
  /// reset and accepts another clip, whose results do not depend on the previous clip.
  [[nodiscard]] virtual std::optional<Frame> drain() = 0;
};

}  // namespace lull
