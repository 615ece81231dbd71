#pragma once
// Divides the planes of a frame into sets, and chooses the parameters of each set.

#include <vector>

#include "core/frame.h"
#include "linear/params.h"
#include "match/guide.h"
#include "noise/noise_model.h"

namespace lull::linear {

/// Returns the parameters for temporal filtering. The function has the same arguments as
/// parameters_for().
[[nodiscard]] SetParams parameters_over_time(float sigma, float coarseness = 1);

struct SetPlan {
  PlaneSet set;
  SetParams params;
  GuideRange range;  // range of values in the guide
};

/// Returns the sets of planes in processing order. If the session filters luma, the set of luma
/// comes first, so that guides of later sets can use filtered luma.
/// @param noise  the noise in the colour space of the filter
/// @param guided  if true, the frames have guides (Frame::guide); false with temporal filtering
[[nodiscard]] std::vector<SetPlan> plan_sets(const FrameFormat& format, const NoiseModel& noise,
                                             bool over_time = false, bool guided = false);

}  // namespace lull::linear
