#pragma once
// Enlarges noise-free frames for the Python package.

#include <mutex>
#include <string>

#include "core/frame_pool.h"
#include "python/src/planes.h"
#include "scale/enlarger.h"

namespace lull::python {

/// Thread-safe: concurrent calls run one after another. The caller must not hold the GIL.
class Enlarger {
 public:
  /// `profile` and `device` are names, as in `SessionChoice`.
  Enlarger(const FrameFormat& format, double factor, const std::string& profile,
           const std::string& device);
  [[nodiscard]] Result enlarged(const Image& planes);
  const FrameFormat& format() const { return enlarger_.format(); }

 private:
  std::mutex mutex_;
  FramePool pool_;
  scale::Enlarger enlarger_;
};

}  // namespace lull::python
