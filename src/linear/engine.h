#pragma once
// The interface between the session, which handles planes and colour, and the host backends.

#include <memory>
#include <span>

#include "core/image.h"
#include "linear/groups.h"
#include "linear/params.h"
#include "match/match_params.h"
#include "noise/noise_model.h"

namespace lull::linear {

/// Number of samples beyond the end of each row that an engine may read. Their values are
/// arbitrary.
inline constexpr int readable_padding = 16;

/// The pictures of one plane of a set (params.h). All have the same size, and readable_padding
/// samples beyond the end of each row.
struct PlaneState {
  PlaneView<const float> y;
  PlaneView<float> x, z;
  const PlaneNoise* noise = nullptr;  // its sigma is above 0
};

/// The parameters of a step that combine() computes.
struct Step {
  bool is_pilot = false;
  float alpha = 0.5f;  // pilot only
  float tau = 0;       // iterations only; 0: the last iteration
  float excess = 1;    // iterations only
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Finds the groups that the following combine() calls use.
  virtual void match(PlaneView<const float> guide, const GuideRange& range,
                     const GroupSizes& sizes) = 0;
  /// Returns the groups that match() found.
  [[nodiscard]] virtual const Groups& groups() const = 0;
  /// Combines the patches of all groups in each plane. The pilot reads y and writes x. An iteration
  /// reads x, y and z and writes x, and z unless it is the last one.
  virtual void combine(const Step& step, std::span<const PlaneState> planes) = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_reference_engine();
/// Makes the cpu engine. If `threads` is 0, the engine uses one thread per core.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

}  // namespace lull::linear
