#pragma once
// Code that all functions of the C interface share: errors as a status with a text, and structures
// whose size depends on the version.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "c/include/lull.h"
#include "core/error.h"

namespace lull::c {

/// An error with a status for which there is no ErrorKind.
class StatusError : public std::runtime_error {
 public:
  StatusError(lull_status status, const std::string& text)
      : std::runtime_error(one_line(text)), status_(status) {}
  lull_status status() const noexcept { return status_; }

 private:
  lull_status status_;
};

/// The text of an error in a fixed array, because storing it must not fail. Several threads may
/// call set().
class ErrorText {
 public:
  void set(const char* text) noexcept {
    const std::lock_guard lock(mutex_);
    const std::size_t length = std::min(std::strlen(text), sizeof(text_) - 1);
    std::memcpy(text_, text, length);
    text_[length] = '\0';
  }
  const char* get() const noexcept { return text_; }

 private:
  std::mutex mutex_;
  char text_[1024] = "";
};

/// Returns the text of the last error in this thread.
[[nodiscard]] ErrorText& thread_error() noexcept;
/// Converts the exception that is being handled to a status, and stores its text for the thread
/// and in `own`, which may be null.
[[nodiscard]] lull_status status_of_exception(ErrorText* own) noexcept;

/// Runs the body of a function of the interface, and returns its status. Converts exceptions to a
/// status.
template <class Work>
[[nodiscard]] lull_status guarded(Work&& work, ErrorText* own = nullptr) noexcept {
  try {
    return work();
  } catch (...) {
    return status_of_exception(own);
  }
}

[[noreturn]] void refuse_null(const char* what);
template <class T>
T& checked(T* pointer, const char* what) {
  if (pointer == nullptr) refuse_null(what);
  return *pointer;
}

/// Copies a text into an array of a structure, and shortens a text that is too long.
template <std::size_t Size>
void copy_text(const std::string& text, char (&to)[Size]) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, Size - length);
}

/// Size of a structure in the first version of the interface. No program has a smaller structure.
template <class Struct>
inline constexpr std::size_t first_size = 0;
template <>
inline constexpr std::size_t first_size<lull_parameter_info> = offsetof(lull_parameter_info, help) +
                                                               sizeof(lull_parameter_info::help);
template <>
inline constexpr std::size_t first_size<lull_device_info> = offsetof(lull_device_info, minor) +
                                                            sizeof(lull_device_info::minor);
template <>
inline constexpr std::size_t first_size<lull_format> = offsetof(lull_format, frames) +
                                                       sizeof(lull_format::frames);
template <>
inline constexpr std::size_t first_size<lull_frame> = offsetof(lull_frame, user) +
                                                      sizeof(lull_frame::user);
template <>
inline constexpr std::size_t first_size<lull_noise_info> = offsetof(lull_noise_info, why) +
                                                           sizeof(lull_noise_info::why);
template <>
inline constexpr std::size_t first_size<lull_session_options> = offsetof(lull_session_options,
                                                                         user) +
                                                                sizeof(lull_session_options::user);
template <>
inline constexpr std::size_t first_size<lull_session_info> = offsetof(lull_session_info, finished) +
                                                             sizeof(lull_session_info::finished);

/// Returns the size that a program states for a structure.
/// @throws InvalidArgument  no structure of this kind has that size
[[nodiscard]] std::size_t checked_size(const void* given, std::size_t least, const char* what);
/// Refuses members after the first `known` bytes of a structure, unless they are 0.
/// @throws StatusError  LULL_UNSUPPORTED: the program uses a member of a later version
void check_unknown_members(const void* given, std::size_t size, std::size_t known,
                           const char* what);

/// Returns a copy of a structure of the program. Members that the program's version lacks are 0.
/// @throws InvalidArgument, StatusError
template <class Struct>
[[nodiscard]] Struct read_struct(const Struct* given, const char* what) {
  static_assert(std::is_trivially_copyable_v<Struct> && first_size<Struct> > 0);
  const std::size_t size = checked_size(given, first_size<Struct>, what);
  check_unknown_members(given, size, sizeof(Struct), what);
  Struct copy{};
  std::memcpy(&copy, given, std::min(size, sizeof(Struct)));
  return copy;
}

/// Writes those members of a structure that the program's version has.
/// @throws InvalidArgument
template <class Struct>
void write_struct(Struct* given, Struct value, const char* what) {
  static_assert(std::is_trivially_copyable_v<Struct> && first_size<Struct> > 0);
  value.size = checked_size(given, first_size<Struct>, what);
  std::memcpy(static_cast<void*>(given), &value, std::min(value.size, sizeof(Struct)));
}

}  // namespace lull::c
