#pragma once
// Checks of the parameters of methods.

#include <string>

#include "core/error.h"

namespace lull {

/// Throws an error with the message "<what> = <value> (must be <range>); choose one in range" if
/// `holds` is false.
/// @throws InvalidArgument
inline void require(bool holds, const std::string& what, double value, const std::string& range) {
  if (holds) return;
  std::string number = std::to_string(value);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  throw InvalidArgument(what + " = " + number + " (must be " + range + "); choose one in range");
}

}  // namespace lull
