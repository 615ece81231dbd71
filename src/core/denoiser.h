#pragma once
// What every filter looks like from outside: one session for frames of one format.

#include <optional>

#include "core/frame.h"

namespace lull {

enum class BackendKind {
  reference,  // scalar, double, straight from the papers: slow, the oracle of the tests
  cpu,        // SIMD and threads
  cuda,       // one GPU
};

/// Where a session runs: chosen once, for the whole session.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;   // cuda: index of the GPU among the visible ones
  int threads = 0;  // cpu: 0 takes every core
  /// cuda: results stay in the GPU's memory (Frame::on_device), whole when they come out. Their
  /// memory goes back to the session when the last reference to them goes.
  bool results_on_device = false;
};

/// How many frames before and after one its result depends on, those not counted that repeat the
/// one before them.
struct Margin {
  int before = 0, after = 0;
  bool operator==(const Margin&) const = default;
};

/// One frame out per frame in, in the order they went in. Frames in flight, double buffering and
/// a temporal radius are the session's own business, stated as latency().
/// A session is used from one thread at a time.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  /// Frames that may have gone in before the first comes out. A session that looks at neighbouring
  /// frames does not count those that repeat the one before them.
  virtual int latency() const noexcept = 0;
  /// Takes a frame and gives back the one that is now ready, if any. The frame must have the
  /// session's format. Its samples must stay as they are until its result is out. They may be in
  /// the memory of a GPU if the session runs on one; its results are in the host's, unless the
  /// session was asked to leave them there (Backend::results_on_device).
  /// @throws Error; the session is then useless and can only be destroyed
  [[nodiscard]] virtual std::optional<Frame> push(Frame noisy) = 0;
  /// After push(): a further frame that is ready by now, if any. Where frames come that repeat
  /// others, one push may make several ready; who takes but one for each leaves the others inside.
  [[nodiscard]] virtual std::optional<Frame> next() { return std::nullopt; }
  /// After the last push: the remaining frames one by one, then nullopt. After that the session is
  /// as new and takes another clip, of which nothing depends on the one before.
  [[nodiscard]] virtual std::optional<Frame> drain() = 0;
};

}  // namespace lull
