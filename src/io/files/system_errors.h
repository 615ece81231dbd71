#pragma once
// Classifies the system's error numbers.

#include <cerrno>

namespace lull::io {

/// Returns whether an operation that failed with this error may succeed if it is repeated. The
/// result is true if the disk is full, for example, or if a server does not answer. The result is
/// false if the name is wrong or a permission is missing.
inline bool may_succeed_later(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE ||
         error == ETIMEDOUT;
}

}  // namespace lull::io
