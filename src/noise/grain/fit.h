#pragma once
// From what was measured of a scene's grain to what makes a decoder synthesise its like.

#include <optional>

#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Autoregressive filters by the normal equations (Yule-Walker) of the measured correlations,
/// corrected for the blocks that a decoder cuts its grain into, and scaling functions of luma from
/// the variances, for the level that the filters' grain has. Empty: there is no grain to speak of
/// (less than a fifth of a step of 8 bits in every plane), or nothing was measured.
[[nodiscard]] std::optional<GrainParams> fit_grain(const GrainStatistics& statistics);

}  // namespace lull
