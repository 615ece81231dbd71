#pragma once
// Classifies the system's error numbers.

#include <cerrno>

namespace lull::io {

/// Returns whether an operation that failed with this error may succeed later. The result is true
/// for a full disk or a server that does not answer. It is false for a wrong name or a missing
/// permission.
inline bool may_succeed_later(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE ||
         error == ETIMEDOUT;
}

}  // namespace lull::io
