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
  cannot_create,       // the output cannot be created                 73
  io,                  // reading or writing failed on the way         74
};

/// Text has the form "<problem> (<why>); <suggestion>", one line, no full stop.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
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

using InternalError = ErrorOf<ErrorKind::internal>;
using CannotCreate = ErrorOf<ErrorKind::cannot_create>;
using IoError = ErrorOf<ErrorKind::io>;

}  // namespace lull
