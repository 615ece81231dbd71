#pragma once
// Clean frames made larger, for Python.

#include <mutex>
#include <string>

#include "core/frame_pool.h"
#include "python/src/planes.h"
#include "scale/enlarger.h"

namespace lull::python {

/// May be used from several threads: one call waits for the other. Called without the interpreter's
/// lock.
class Enlarger {
 public:
  /// `profile` and `device`: names, as of SessionChoice.
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
