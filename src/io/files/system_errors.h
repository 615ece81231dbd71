#pragma once
// Classifies errno values.

#include <cerrno>

namespace lull::io {

/// Returns whether an operation that failed with the errno `error` may succeed later. The result is
/// true for a full disk or an unreachable server, and false for a wrong name or a missing
/// permission.
inline bool may_succeed_later(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE ||
         error == ETIMEDOUT;
}

}  // namespace lull::io
