#pragma once
// The interface between the session and the host engines. The session manages planes and colour,
// and the engines process sets of planes.

#include <algorithm>
#include <memory>
#include <span>

#include "core/image.h"
#include "linear/groups.h"
#include "linear/params.h"
#include "linear/schedule.h"
#include "match/match_params.h"
#include "noise/holes.h"
#include "noise/noise_model.h"

namespace lull::linear {

/// Number of samples that an engine may read beyond the end of each row. Their values are
/// arbitrary.
inline constexpr int readable_padding = 16;

/// The pictures y, x and z (params.h) of one plane, all of the same size, with readable_padding
/// samples beyond the end of each row.
struct PlaneState {
  PlaneView<const float> y;
  PlaneView<float> x, z;
  const PlaneNoise* noise = nullptr;  // noise of the plane; its sigma is above 0
};

/// Aggregation sums of one plane of a frame. Each engine derives its own class from this class.
class Sums {
 public:
  virtual ~Sums() = default;
};

/// A plane of a searched frame, and its aggregation sums.
struct FramePlane {
  PlaneState plane;
  Sums* sums = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::unique_ptr<Sums> make_sums() const = 0;
  /// Sets `sums` to 0, for a plane of width x height samples.
  virtual void clear(Sums& sums, int width, int height) const = 0;
  /// Finds groups. The caller must reset `groups` first. guides[f] is the guide of frame f. `holes`
  /// are the holes of a single frame, or null.
  virtual void match(std::span<const PlaneView<const float>> guides, const GuideRange& range,
                     const Holes* holes, Groups& groups) = 0;
  /// Combines the patches of all groups in a plane, and adds the estimates to the sums. The first
  /// step, the pilot, reads only y. All later steps, the iterations, read x, y and z. All pictures
  /// must have equal strides.
  virtual void combine(const Step& step, const Groups& groups,
                       std::span<const FramePlane> frames) = 0;
  /// Computes the weighted means of the estimates for x and z from `sums`, and writes them to
  /// plane.x and plane.z. The pilot and the last iteration make no estimates for z, so the function
  /// then leaves plane.z unchanged.
  virtual void finish(const Step& step, int side, const Sums& sums, const PlaneState& plane) = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_reference_engine();
/// Makes the engine of the `cpu` backend, with one thread per core if `threads` is 0.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

/// Groups and sums that a session reuses for successive frames.
struct StillMemory {
  Groups groups;
  std::unique_ptr<Sums> sums;
};

/// Finds groups in one picture.
inline void match_still(Engine& engine, PlaneView<const float> guide, const GuideRange& range,
                        const GroupSizes& sizes, Groups& groups, const Holes* holes = nullptr) {
  groups.reset(guide.width, guide.height, fitted(sizes, guide.width, guide.height));
  engine.match({&guide, 1}, range, holes, groups);
}

/// Combines the patches of one picture.
inline void combine_still(Engine& engine, const Step& step, const PlaneState& plane,
                          StillMemory& memory) {
  if (!memory.sums) memory.sums = engine.make_sums();
  engine.clear(*memory.sums, plane.y.width, plane.y.height);
  const FramePlane frame{plane, memory.sums.get()};
  engine.combine(step, memory.groups, {&frame, 1});
  engine.finish(step, memory.groups.sizes().side, *memory.sums, plane);
}

/// Copies y to z.
inline void start_iterations(const PlaneState& plane) {
  for (int row = 0; row < plane.y.height; ++row)
    std::copy_n(plane.y.row(row), plane.y.width, plane.z.row(row));
}

/// Filters planes that share one guide, and writes the results to x (PlaneState). guide(source)
/// must return the guide of the pictures that `source` selects.
template <class MakeGuide>
void filter_set(Engine& engine, const SetParams& params, const GuideRange& range,
                std::span<const PlaneState> planes, StillMemory& memory, const MakeGuide& guide,
                const Holes* holes = nullptr) {
  run_steps(
      params,
      [&](const GroupSizes& sizes, Source source) {
        match_still(engine, guide(source), range, sizes, memory.groups, holes);
      },
      [&](const GroupSizes&, const Step& step) {
        for (const PlaneState& plane : planes) combine_still(engine, step, plane, memory);
      },
      [&] {
        for (const PlaneState& plane : planes) start_iterations(plane);
      });
}

}  // namespace lull::linear
