#pragma once
// The text form of the enumerators in params.h.

#include "core/params/names.h"
#include "nlm/params.h"

namespace lull {

template <>
inline constexpr NamesOf<nlm::Weights, 2> names_of<nlm::Weights>{
    {{nlm::Weights::exponential, "exp"}, {nlm::Weights::polynomial, "poly"}}};

}  // namespace lull
