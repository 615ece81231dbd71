#pragma once
// Presets: pairs of a profile and a temporal radius. x264 has presets with the same names.

#include <string_view>

#include "core/params/profile.h"

namespace lull {

struct Preset {
  std::string_view name;
  Profile profile;
  int temporal;  // radius for video; stills and volumes have none
};

/// All presets, ordered from the fastest to the slowest.
inline constexpr Preset presets[] = {
    {"veryfast", Profile::fast, 0},   {"faster", Profile::fast, 1}, {"fast", Profile::balanced, 1},
    {"medium", Profile::balanced, 2}, {"slow", Profile::high, 2},   {"slower", Profile::high, 4},
    {"veryslow", Profile::best, 4}};

}  // namespace lull
