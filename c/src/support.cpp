#include "c/src/support.h"

#include <new>

namespace lull::c {
namespace {

lull_status status_of(const Error& error) {
  if (dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr) return LULL_OUT_OF_DEVICE_MEMORY;
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
      return LULL_INVALID_ARGUMENT;
    case ErrorKind::bad_data:
    case ErrorKind::no_input:
      return LULL_BAD_DATA;
    case ErrorKind::device_unavailable:
      return LULL_DEVICE_UNAVAILABLE;
    case ErrorKind::out_of_memory:
      return LULL_OUT_OF_MEMORY;
    case ErrorKind::device_failed:
    case ErrorKind::try_again:
      return LULL_DEVICE_FAILED;
    case ErrorKind::internal:
    case ErrorKind::cannot_create:
    case ErrorKind::io:
      break;
  }
  return LULL_INTERNAL;
}

lull_status stored(lull_status status, const char* text, ErrorText* own) noexcept {
  thread_error().set(text);
  if (own != nullptr) own->set(text);
  return status;
}

constexpr std::size_t greatest_size = 4096;  // bytes of a structure in any version

}  // namespace

ErrorText& thread_error() noexcept {
  thread_local ErrorText text;
  return text;
}

lull_status status_of_exception(ErrorText* own) noexcept {
  try {
    throw;
  } catch (const StatusError& error) {
    return stored(error.status(), error.what(), own);
  } catch (const Error& error) {
    return stored(status_of(error), error.what(), own);
  } catch (const std::bad_alloc&) {
    return stored(LULL_OUT_OF_MEMORY,
                  "not enough memory (an allocation failed); process less at a time", own);
  } catch (const std::exception& error) {
    return stored(LULL_INTERNAL, error.what(), own);
  } catch (...) {
    return stored(LULL_INTERNAL, "an unknown error (a fault of lull); please report it", own);
  }
}

void refuse_null(const char* what) {
  throw InvalidArgument(std::string(what) + " = NULL (it must be given); pass an address");
}

std::size_t checked_size(const void* given, std::size_t least, const char* what) {
  if (given == nullptr) refuse_null(what);
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < least || size > greatest_size)
    throw InvalidArgument(std::string(what) + "->size = " + std::to_string(size) +
                          " (must be the size of the structure); set it with sizeof");
  return size;
}

void check_unknown_members(const void* given, std::size_t size, std::size_t known,
                           const char* what) {
  const auto* bytes = static_cast<const unsigned char*>(given);
  if (size > known && std::any_of(bytes + known, bytes + size, [](auto byte) { return byte != 0; }))
    throw StatusError(LULL_UNSUPPORTED,
                      std::string("a member of ") + what +
                          " that this version of lull lacks (the program was compiled for a later "
                          "one); update lull, or leave the member 0");
}

}  // namespace lull::c
