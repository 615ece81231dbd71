#pragma once
// Error types. Only main() converts them to exit codes.

#include <stdexcept>
#include <string>

namespace lull {

/// Kinds of errors, with the exit codes of the tools (sysexits.h).
enum class ErrorKind {
  invalid_argument,    // the request is invalid                        2
  bad_data,            // the input is empty, truncated or not media   65
  no_input,            // the input does not exist or cannot be read   66
  device_unavailable,  // this build or machine lacks the device       69
  internal,            // a fault of lull itself                       70
  out_of_memory,       // the work needs more memory than available    71
  cannot_create,       // the output cannot be created                 73
  io,                  // reading or writing failed during the run     74
  device_failed,       // the device stopped working during the run    75
  try_again,           // a temporary failure: a retry may succeed     75
};

/// Replaces control characters by '?', so that file names and tags of the input cannot split a
/// message or send control sequences to a terminal.
inline std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

/// Base class of all errors. The message has the form "<problem> (<reason>); <suggestion>", on one
/// line, without a full stop.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text)
      : std::runtime_error(one_line(text)), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

template <ErrorKind Kind>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& text) : Error(Kind, text) {}
};

using InvalidArgument = ErrorOf<ErrorKind::invalid_argument>;
using BadData = ErrorOf<ErrorKind::bad_data>;
using NoInput = ErrorOf<ErrorKind::no_input>;
using DeviceUnavailable = ErrorOf<ErrorKind::device_unavailable>;

/// The memory of the device is too small. The caller may retry with less work.
class OutOfDeviceMemory : public DeviceUnavailable {
 public:
  using DeviceUnavailable::DeviceUnavailable;
};

/// A device has failed during its use. The caller may retry or use another device.
using DeviceFailure = ErrorOf<ErrorKind::device_failed>;
/// A temporary failure, for example a full disk, or a resource that another process uses. The
/// caller may retry.
using TryAgain = ErrorOf<ErrorKind::try_again>;
using InternalError = ErrorOf<ErrorKind::internal>;
using OutOfMemory = ErrorOf<ErrorKind::out_of_memory>;
using CannotCreate = ErrorOf<ErrorKind::cannot_create>;
using IoError = ErrorOf<ErrorKind::io>;

/// Returns the part "<problem> (<reason>)" of `text`, an error message.
inline std::string without_suggestion(const std::string& text) {
  return text.substr(0, text.rfind("; "));
}

}  // namespace lull
