#pragma once
// What error numbers of the system mean for another attempt.

#include <cerrno>

namespace lull::io {

/// Whether an attempt that failed with this number may succeed later: the disk was full, or a
/// server did not answer. Names and permissions do not change by themselves.
inline bool may_succeed_later(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ESTALE ||
         error == ETIMEDOUT;
}

}  // namespace lull::io
