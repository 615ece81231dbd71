// The `reference` backend of linear combinations, in double precision and without optimisations.
// Tests compare all other backends with this backend.

#include "linear/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/plane.h"
#include "linear/guide.h"
#include "linear/reference/stages.h"

namespace lull::linear {
namespace {

using namespace reference;

struct ReferenceSums : Sums {
  Average x, z;
};

class ReferenceEngine : public Engine {
 public:
  std::unique_ptr<Sums> make_sums() const override { return std::make_unique<ReferenceSums>(); }
  void clear(Sums& sums, int width, int height) const override {
    auto& of_type = dynamic_cast<ReferenceSums&>(sums);
    of_type.x = of_type.z = Average(width, height);
  }

  void match(std::span<const PlaneView<const float>> guides, const GuideRange& range,
             const Holes* holes, Groups& groups) override {
    std::vector<Plane<std::uint8_t>> planes;
    std::vector<PlaneView<const std::uint8_t>> quantised;
    for (const auto& guide : guides) {
      planes.emplace_back(guide.width, guide.height);
      quantise(guide, range, planes.back().view());
      quantised.push_back(std::as_const(planes.back()).view());
    }
    const ReferenceGrid& grid = groups.grid();
    for (int j = 0; j < grid.count_y; ++j)
      for (int i = 0; i < grid.count_x; ++i) {
        const auto members = find_group(quantised, range, groups, i, j, holes);
        std::ranges::copy(members, groups.space(i, j).begin());
        groups.set_count(i, j, static_cast<int>(members.size()));
      }
  }

  void combine(const Step& step, const Groups& groups,
               std::span<const FramePlane> frames) override {
    const ReferenceGrid& grid = groups.grid();
    for (int j = 0; j < grid.count_y; ++j)
      for (int i = 0; i < grid.count_x; ++i) {
        const int halves = groups.halves(i, j);
        std::vector<Place> members;
        for (const std::uint16_t index : groups.at(i, j))
          members.push_back(groups.place(i, j, index));
        combine_group(step, {groups, halves, members}, frames, grid.x(i), grid.y(j));
      }
  }

  void finish(const Step& step, int, const Sums& sums, const PlaneState& plane) override {
    const auto& of_type = dynamic_cast<const ReferenceSums&>(sums);
    of_type.x.divide(plane.x);
    if (step.has_z()) of_type.z.divide(plane.z);
  }

 private:
  static void combine_group(const Step& step, const Group& group,
                            std::span<const FramePlane> frames, int x, int y) {
    const auto patches = [&](auto picture) {
      std::vector<PlaneView<const float>> pictures;
      for (const FramePlane& frame : frames) pictures.push_back(frame.plane.*picture);
      return gather(pictures, x, y, group);
    };
    const PlaneNoise& level = *frames[0].plane.noise;
    const Matrix noise = shared_noise(group, level);
    const Matrix noisy = patches(&PlaneState::y);
    Matrix theta, combined = noisy;
    double ratio = 0;  // tau / t
    if (step.is_pilot) {
      const double square = static_cast<double>(step.alpha) * static_cast<double>(step.alpha);
      theta = theta_of(noisy, noise, square, 1 + square);
    } else {
      combined = patches(&PlaneState::z);
      const auto tau = static_cast<double>(step.tau);
      const double t = remaining_noise(noisy, combined, static_cast<double>(level.sigma), tau);
      const double variance = static_cast<double>(step.excess) * t * t;
      theta = theta_of(patches(&PlaneState::x), noise, variance, variance);
      ratio = tau > 0 ? tau / t : 0;
    }
    Matrix estimates = product(theta, combined);
    const std::vector<double> weights = weights_of(theta);
    const auto add_all = [&](Average ReferenceSums::*sums) {
      for (int m = 0; m < estimates.rows; ++m)
        for (int half = 0; half < group.halves; ++half) {
          const Place at = group.half(m, half);
          (dynamic_cast<ReferenceSums&>(*frames[at.frame].sums).*sums)
              .add(estimates, m, half, x + at.x, y + at.y, group.side(), weights[m]);
        }
    };
    add_all(&ReferenceSums::x);
    if (ratio == 0) return;
    for (std::size_t s = 0; s < estimates.values.size(); ++s)
      estimates.values[s] += ratio * (combined.values[s] - estimates.values[s]);
    add_all(&ReferenceSums::z);
  }
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace lull::linear
