#pragma once
// Runs clips through sessions.

#include <utility>
#include <vector>

#include "core/denoiser.h"

namespace lull::test_support {

/// Returns all results of a clip.
inline std::vector<Frame> run_clip(Denoiser& session, const std::vector<Frame>& frames) {
  std::vector<Frame> out;
  for (const Frame& frame : frames)
    for (auto ready = session.push(frame); ready; ready = session.next())
      out.push_back(*std::move(ready));
  while (auto ready = session.drain()) out.push_back(*std::move(ready));
  return out;
}

}  // namespace lull::test_support
