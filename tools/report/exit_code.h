#pragma once
// The exit codes of lull.

#include <string>

#include "core/error.h"

namespace lull::tools {

/// Returns the exit code for a kind of error: a code of sysexits.h, or 2 for incorrect usage.
[[nodiscard]] inline int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return 2;
    case ErrorKind::bad_data:
      return 65;
    case ErrorKind::no_input:
      return 66;
    case ErrorKind::device_unavailable:
      return 69;
    case ErrorKind::internal:
      return 70;
    case ErrorKind::out_of_memory:
      return 71;
    case ErrorKind::cannot_create:
      return 73;
    case ErrorKind::io:
      return 74;
    case ErrorKind::device_failed:
    case ErrorKind::try_again:
      return 75;
  }
  return 70;
}

struct Failure {
  int code;
  std::string text;  // one line, without "lull: "
};

/// Returns the message and the exit code of the current exception. The caller must be in a catch
/// block.
[[nodiscard]] Failure current_failure();

}  // namespace lull::tools
