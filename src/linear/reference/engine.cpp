// The reference backend: double precision, one group at a time, on one thread. Tests compare the
// other backends with it; no part of it is optimised for speed.

#include "linear/engine.h"

#include <algorithm>
#include <vector>

#include "core/plane.h"
#include "linear/guide.h"
#include "linear/reference/stages.h"

namespace lull::linear {
namespace {

using namespace reference;

class ReferenceEngine : public Engine {
 public:
  void match(PlaneView<const float> guide, const GuideRange& range,
             const GroupSizes& sizes) override {
    groups_.reset(guide.width, guide.height, fitted(sizes, guide.width, guide.height));
    Plane<std::uint8_t> quantised(guide.width, guide.height);
    quantise(guide, range, quantised.view());
    const ReferenceGrid& grid = groups_.grid();
    for (int j = 0; j < grid.count_y; ++j)
      for (int i = 0; i < grid.count_x; ++i) {
        const auto members = find_group(quantised.view(), grid.x(i), grid.y(j), groups_.sizes());
        std::ranges::copy(members, groups_.space(i, j).begin());
        groups_.set_count(i, j, static_cast<int>(members.size()));
      }
  }

  const Groups& groups() const override { return groups_; }

  void combine(const Step& step, std::span<const PlaneState> planes) override {
    for (const PlaneState& plane : planes) {
      Average x(plane.y.width, plane.y.height), z(plane.y.width, plane.y.height);
      const ReferenceGrid& grid = groups_.grid();
      for (int j = 0; j < grid.count_y; ++j)
        for (int i = 0; i < grid.count_x; ++i) {
          std::vector<Displacement> members;
          for (const std::uint16_t index : groups_.at(i, j))
            members.push_back(displacement_of(index, groups_.sizes().window));
          combine_group(step, plane, grid.x(i), grid.y(j), members, x, z);
        }
      x.divide(plane.x);
      if (!step.is_pilot && step.tau > 0) z.divide(plane.z);
    }
  }

 private:
  void combine_group(const Step& step, const PlaneState& plane, int x, int y,
                     std::span<const Displacement> members, Average& next_x,
                     Average& next_z) const {
    const int side = groups_.sizes().side;
    const Matrix noise = shared_noise(members, *plane.noise, side * side);
    const Matrix noisy = gather(plane.y, x, y, members, side);
    Matrix theta, combined = noisy;
    double ratio = 0;  // tau / t
    if (step.is_pilot) {
      const double square = static_cast<double>(step.alpha) * static_cast<double>(step.alpha);
      theta = theta_of(noisy, noise, square, 1 + square);
    } else {
      combined = gather(plane.z, x, y, members, side);
      const auto tau = static_cast<double>(step.tau);
      const double t =
          remaining_noise(noisy, combined, static_cast<double>(plane.noise->sigma), tau);
      const double variance = static_cast<double>(step.excess) * t * t;
      theta = theta_of(gather(plane.x, x, y, members, side), noise, variance, variance);
      ratio = tau > 0 ? tau / t : 0;
    }
    Matrix estimates = product(theta, combined);
    const std::vector<double> weights = weights_of(theta);
    const auto add_all = [&](Average& to) {
      for (int m = 0; m < estimates.rows; ++m)
        to.add(estimates, m, x + members[m].x, y + members[m].y, side, weights[m]);
    };
    add_all(next_x);
    if (ratio == 0) return;
    for (std::size_t s = 0; s < estimates.values.size(); ++s)
      estimates.values[s] += ratio * (combined.values[s] - estimates.values[s]);
    add_all(next_z);
  }

  Groups groups_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace lull::linear
