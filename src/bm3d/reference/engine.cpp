// The reference backend: BM3D in double, one statement of the papers at a time (Honzatko and Krulis
// 2017, section 4; Dabov 2007, sections III and IV). It is the oracle of the tests; nothing in it
// is made for speed.

#include <array>
#include <complex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bm3d/kaiser.h"
#include "bm3d/phase_engine.h"
#include "bm3d/reference/stages.h"
#include "core/error.h"
#include "match/group.h"
#include "match/motion_grid.h"
#include "noise/noise_model.h"
#include "noise/patch_covariance.h"

namespace lull::bm3d {
namespace {

struct ReferenceSums : PhaseSums {
  ReferenceSums(int width, int height) : accumulator(width, height) {}
  Accumulator accumulator;
};

Accumulator& accumulator_of(PhaseSums& sums) {
  return static_cast<ReferenceSums&>(sums).accumulator;
}

template <class Coefficient>
class Filter {
 public:
  Filter(const PhaseInput& input, reference::Matcher& matcher, PatchShape shape,
         const PatchTransform<Coefficient>& transform)
      : input_(input),
        plan_(input.plan),
        matcher_(matcher),
        shape_(shape),
        transform_(transform),
        window_(kaiser_window(plan_.params.kaiser, shape.side)) {
    for (const auto& [offset, frame] : input.frames) {
      guides_.push_back({offset, {frame.guide.samples}});
      for (std::size_t p = 0; p < input.planes(); ++p) {
        noisy_[p].push_back({offset, {frame.noisy[p]}});
        basic_[p].push_back({offset, {frame.basic[p]}});
      }
    }
    for (std::size_t p = 0; p < input.planes(); ++p) set_noise(p);
  }

  void run() {
    const PlaneView<const float> picture = guides_[0].frame.samples;
    const int step = plan_.params.step, side = shape_.side;
    const MatchParams matching = plan_.matching(input_.set);
    const MotionGrid grid{picture.width, picture.height, step};
    matcher_.begin(guides_, matching, shape_);
    for (int j = 0; j < reference_count(picture.height, step, side); ++j)
      for (int i = 0; i < reference_count(picture.width, step, side); ++i) {
        const int x = reference_position(i, picture.width, step, side);
        const int y = reference_position(j, picture.height, step, side);
        for (std::size_t f = 0; f < guides_.size(); ++f)
          if (const auto motion = input_.frames[f].frame.guide.motion; !motion.empty())
            guides_[f].frame.motion = motion[grid.bundle(i, j)];
        const Group group = matcher_.find(guides_, x, y, matching, shape_);
        for (std::size_t p = 0; p < input_.planes(); ++p) filter(p, x, y, group);
      }
  }

 private:
  /// What the filter needs to know of a plane's noise.
  void set_noise(std::size_t p) {
    const PlaneNoise& noise = input_.noise(p);
    const auto strength = static_cast<double>(plan_.strength.value);
    const auto sigma = static_cast<double>(noise.sigma);
    limits_[p] = for_all(plan_.phase == Phase::first ? strength * sigma : strength * sigma * sigma);
    // Params with complex coefficients and other than white noise are refused (validate()).
    if constexpr (std::is_same_v<Coefficient, double>) {
      if (noise.is_white()) return;
      covariances_[p].emplace(noise, axis_rows(transform_), shape_.side);
    }
  }

  void filter(std::size_t p, int x, int y, const Group& group) {
    auto stack = gather<Coefficient>(noisy_[p], x, y, group, shape_);
    const GroupTransform across = plan_.params.group_transform;
    GroupVariances variances;
    if (covariances_[p]) variances = group_variances(*covariances_[p], group, across);
    double weight;
    if (plan_.phase == Phase::first) {
      weight = hard_threshold(stack, transform_, across, limits_[p],
                              static_cast<double>(plan_.strength.mean_factor), variances);
    } else {
      const auto basic = gather<Coefficient>(basic_[p], x, y, group, shape_);
      weight = wiener(stack, basic, transform_, across, limits_[p], variances);
    }
    for (int m = 0; m < group.count; ++m) {
      const std::uint32_t member = group.members[m];
      accumulator_of(*frame_at(input_.frames, displacement_t(member)).sums[p])
          .add(stack[m], x + displacement_x(member), y + displacement_y(member), weight, window_,
               shape_.side);
    }
  }

  const PhaseInput& input_;
  const PhasePlan& plan_;
  reference::Matcher& matcher_;
  PatchShape shape_;
  const PatchTransform<Coefficient>& transform_;
  std::array<float, patch> window_;
  std::vector<FramePlane> guides_;
  std::array<std::vector<FramePlane>, 3> noisy_, basic_;
  // Of each plane: the threshold, of the second phase mu2 sigma^2; and where its noise is not white
  // what patches share of it.
  std::array<PerCoefficient, 3> limits_;
  std::array<std::optional<PatchCovariance>, 3> covariances_;
};

class ReferenceEngine : public PhaseEngine {
 public:
  ReferenceEngine(std::unique_ptr<reference::Matcher> matcher, PatchShape shape)
      : matcher_(std::move(matcher)), shape_(shape) {}

  std::unique_ptr<PhaseSums> make_sums(int width, int height) override {
    return std::make_unique<ReferenceSums>(width, height);
  }

  void run(const PhaseInput& input) override {
    const Transform transform = input.plan.params.transform;
    if (transform == Transform::dft)
      Filter(input, *matcher_, shape_, fourier_transform(shape_.side)).run();
    else
      Filter(input, *matcher_, shape_, real_transform(transform, shape_.side)).run();
  }

  void finish(const PhasePlan&, PhaseSums& sums, PlaneView<float> estimate) override {
    accumulator_of(sums).divide(estimate);
    accumulator_of(sums).clear();
  }

 private:
  std::unique_ptr<reference::Matcher> matcher_;
  PatchShape shape_;
};

}  // namespace

std::unique_ptr<PhaseEngine> make_reference_engine(std::unique_ptr<reference::Matcher> matcher,
                                                   PatchShape shape) {
  if (shape.depth != 1 || shape.side < 1 || shape.side > patch)
    throw InvalidArgument("patches of " + std::to_string(shape.side) + "x" +
                          std::to_string(shape.side) + "x" + std::to_string(shape.depth) +
                          " samples (squares of 1 to " + std::to_string(patch) +
                          " a side are filtered); choose one of these");
  return std::make_unique<ReferenceEngine>(std::move(matcher), shape);
}

}  // namespace lull::bm3d
