#pragma once
// The profiles of all methods.

#include "core/params/names.h"

namespace lull {

/// Named sets of parameters, from the fastest to the best. `paper` contains the parameters of the
/// method's paper. Each method supports some of these profiles.
enum class Profile { fast, balanced, high, best, paper };

template <>
inline constexpr NamesOf<Profile, 5> names_of<Profile>{{{Profile::fast, "fast"},
                                                        {Profile::balanced, "balanced"},
                                                        {Profile::high, "high"},
                                                        {Profile::best, "best"},
                                                        {Profile::paper, "paper"}}};

}  // namespace lull
