#pragma once
// Checks of the parameters of methods.

#include <string>

#include "core/error.h"

namespace lull {

/// Throws an error if `holds` is false. The text of the error is "WHAT = VALUE (must be RANGE);
/// choose one in range", with the arguments in place of the capitalised words.
/// @throws InvalidArgument
inline void require(bool holds, const std::string& what, double value, const std::string& range) {
  if (holds) return;
  std::string number = std::to_string(value);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  throw InvalidArgument(what + " = " + number + " (must be " + range + "); choose one in range");
}

}  // namespace lull
