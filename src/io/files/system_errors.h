#pragma once
// Classification of the system's error numbers.

#include <cerrno>

namespace lull::io {

/// Returns whether a retry may succeed later, for example because the disk was full or a server did
/// not answer. Wrong names and missing permissions do not change by themselves.
inline bool may_succeed_later(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE ||
         error == ETIMEDOUT;
}

}  // namespace lull::io
