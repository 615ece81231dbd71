#pragma once
// Plans which planes of a frame form sets, and which parameters each set of planes has.

#include <vector>

#include "core/frame.h"
#include "linear/params.h"
#include "match/guide.h"
#include "noise/noise_model.h"

namespace lull::linear {

/// Returns the parameters for frames that are filtered over time. The arguments are the same as for
/// parameters_for().
[[nodiscard]] SetParams parameters_over_time(float sigma, float coarseness = 1);

struct SetPlan {
  PlaneSet set;
  SetParams params;
  GuideRange range;  // range of values in the guide
};

/// Returns the sets of planes in the order in which they are filtered. `noise` is the noise of the
/// planes in the form in which they are filtered (Y, U and V for RGB). If a set does not contain
/// luma, but its guide does, the guide is computed from the filtered luma in every step.
[[nodiscard]] std::vector<SetPlan> plan_sets(const FrameFormat& format, const NoiseModel& noise,
                                             bool over_time = false);

}  // namespace lull::linear
