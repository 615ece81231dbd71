#pragma once
// What can go wrong, as types. Only main() turns them into exit codes.

#include <stdexcept>
#include <string>

namespace lull {

/// What a caller can do about an error; tools map each kind to an exit code (sysexits.h).
enum class ErrorKind {
  invalid_argument,    // the request makes no sense                    2
  bad_data,            // the input is empty, cut short or no medium   65
  no_input,            // the input does not exist or cannot be read   66
  device_unavailable,  // this build or machine lacks the device       69
  internal,            // a fault of lull's own                        70
  out_of_memory,       // the work needs more than there is or may be  71
  cannot_create,       // the output cannot be created                 73
  io,                  // reading or writing failed on the way         74
  device_failed,       // the device stopped working on the way        75
  try_again,           // what stands in the way may be gone soon      75
};

/// A '?' for each control character: names and tags are the input's, and what is said of them stays
/// one line and steers no terminal.
inline std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

/// Text has the form "<problem> (<why>); <suggestion>", one line, no full stop.
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

/// The device is there, its memory is too small: less at a time may help.
class OutOfDeviceMemory : public DeviceUnavailable {
 public:
  using DeviceUnavailable::DeviceUnavailable;
};

/// A device that worked gives errors now: another one, or another try, may do.
using DeviceFailure = ErrorOf<ErrorKind::device_failed>;
/// Another process is at it, or the disk is full: the same request may succeed later.
using TryAgain = ErrorOf<ErrorKind::try_again>;
using InternalError = ErrorOf<ErrorKind::internal>;
using OutOfMemory = ErrorOf<ErrorKind::out_of_memory>;
using CannotCreate = ErrorOf<ErrorKind::cannot_create>;
using IoError = ErrorOf<ErrorKind::io>;

/// "<problem> (<why>)" of an error's text.
inline std::string without_suggestion(const std::string& text) {
  return text.substr(0, text.rfind("; "));
}

}  // namespace lull
