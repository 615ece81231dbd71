#pragma once

#include <type_traits>

namespace lull {

/// Returns the smallest multiple of `multiple` that is at least `value`. `value` must not be
/// negative.
template <class Value>
constexpr Value round_up(Value value, std::type_identity_t<Value> multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace lull
