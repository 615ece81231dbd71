#pragma once
// The CPU that this build needs.

#include "core/error.h"

namespace lull {

/// What Highway compiles has no lesser set of instructions (lull_prepare_sources in
/// cmake/LullTargets.cmake), whatever the backend.
inline void require_instructions() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.2"))
    throw DeviceUnavailable(
        "this CPU cannot run lull (it lacks SSE4.2); take one from 2011 or later");
#endif
}

}  // namespace lull
