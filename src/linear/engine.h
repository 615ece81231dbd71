#pragma once
// The interface between the session, which handles planes and colour, and the engines on the host,
// which process sets of planes.

#include <algorithm>
#include <memory>
#include <span>

#include "core/image.h"
#include "linear/groups.h"
#include "linear/params.h"
#include "linear/schedule.h"
#include "match/match_params.h"
#include "noise/noise_model.h"

namespace lull::linear {

/// Number of samples beyond the end of each row that an engine may read. The values of these
/// samples are arbitrary.
inline constexpr int readable_padding = 16;

/// The pictures of one plane of a set (params.h). All pictures have the same size, and
/// readable_padding samples beyond the end of each row.
struct PlaneState {
  PlaneView<const float> y;
  PlaneView<float> x, z;
  const PlaneNoise* noise = nullptr;  // noise of the plane; its sigma is above 0
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Finds the groups for the following calls of combine().
  virtual void match(PlaneView<const float> guide, const GuideRange& range,
                     const GroupSizes& sizes) = 0;
  /// Returns the groups that match() found.
  [[nodiscard]] virtual const Groups& groups() const = 0;
  /// Combines the patches of all groups in each plane. The pilot reads y and writes x. An iteration
  /// reads x, y and z. It writes x, and unless it is the last iteration, also z.
  virtual void combine(const Step& step, std::span<const PlaneState> planes) = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_reference_engine();
/// Makes the cpu engine. If `threads` is 0, the engine uses one thread per core.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

/// Filters the planes of a set: the results are the pictures x. `guide(source)` returns the guide
/// that is computed from the pictures `source` of the planes.
template <class MakeGuide>
void filter_set(Engine& engine, const SetParams& params, const GuideRange& range,
                std::span<const PlaneState> planes, const MakeGuide& guide) {
  run_steps(
      params,
      [&](const GroupSizes& sizes, Source source) { engine.match(guide(source), range, sizes); },
      [&](const GroupSizes&, const Step& step) { engine.combine(step, planes); },
      [&] {
        for (const PlaneState& plane : planes)
          for (int row = 0; row < plane.y.height; ++row)
            std::copy_n(plane.y.row(row), plane.y.width, plane.z.row(row));
      });
}

}  // namespace lull::linear
