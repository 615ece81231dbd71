#pragma once
// The CPU instructions that this build requires.

#include "core/error.h"

namespace lull {

/// Checks that the CPU has SSE4.2. Sessions of all backends contain Highway code, which needs at
/// least SSE4.2.
/// @throws DeviceUnavailable
inline void require_instructions() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.2"))
    throw DeviceUnavailable(
        "this CPU cannot run lull (it lacks SSE4.2); take one from 2011 or later");
#endif
}

}  // namespace lull
