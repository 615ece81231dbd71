// The `reference` backend: BM3D in double precision, without optimisations, after Honzatko and
// Krulis 2017 (section 4) and Dabov 2007 (sections III and IV). Tests compare all other backends
// with this backend.

#include <algorithm>
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
#include "match/grid.h"
#include "match/group.h"
#include "match/kept_groups.h"
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
      guides_.push_back({offset, {frame.guide.samples, {}, frame.guide.holes}});
      for (std::size_t p = 0; p < input.planes(); ++p) {
        noisy_[p].push_back({offset, {frame.noisy[p]}});
        basic_[p].push_back({offset, {frame.basic[p]}});
      }
    }
    for (std::size_t p = 0; p < input.planes(); ++p) set_noise(p);
  }

  /// Searches for groups and stores them in PhaseInput::groups.
  void search() {
    const MatchParams searching = plan_.searching(input_.set);
    input_.groups->reserve(references(searching.step), searching.group);
    matcher_.begin(guides_, searching, shape_);
    for_references(searching.step, [&](int i, int j, int x, int y) {
      input_.groups->keep(i, j, matcher_.find(guides_, x, y, searching, shape_));
    });
  }

  void run() {
    const MatchParams matching = plan_.matching(input_.set);
    const MatchParams searching = plan_.searching(input_.set);
    if (input_.keeps()) input_.groups->reserve(references(matching.step), searching.group);
    const bool searches = !input_.propagates() && !input_.reuses_groups();
    if (searches) matcher_.begin(guides_, searching, shape_);
    for_references(matching.step, [&](int i, int j, int x, int y) {
      Group group;
      if (input_.propagates()) {
        std::array<std::uint32_t, max_propagated> members;
        const auto count = static_cast<std::size_t>(input_.groups->candidates_of(x, y, members));
        group = propagate(guides_, x, y, {members.data(), count}, matching, shape_);
      } else {
        group =
            searches ? matcher_.find(guides_, x, y, searching, shape_) : input_.groups->at(i, j);
        if (input_.keeps()) input_.groups->keep(i, j, group);
        group = first_members(group, matching.group);
      }
      if (plan_.filter == Filtering::means) return average(x, y, group);
      for (std::size_t p = 0; p < input_.planes(); ++p) filter(p, x, y, group);
    });
  }

 private:
  ReferenceGrid references(int step) const {
    const PlaneView<const float> picture = guides_[0].frame.samples;
    return {picture.width, picture.height, step, shape_.side};
  }

  /// Calls use(column, row, x, y) for each reference patch. Before each call, for_references()
  /// stores the motion vectors of the reference patch in `guides_`, one for each searched frame.
  /// All reference patches of a bundle (8x4 adjacent reference patches) have the same motion
  /// vectors.
  template <class Use>
  void for_references(int step, Use use) {
    const PlaneView<const float> picture = guides_[0].frame.samples;
    const ReferenceGrid grid = references(step);
    const MotionGrid bundles{picture.width, picture.height, step};
    for (int j = 0; j < grid.count_y; ++j)
      for (int i = 0; i < grid.count_x; ++i) {
        // The grid of bundles (8x4 reference patches) covers the positions of 8x8 patches. Smaller
        // patches can begin beyond the last of these positions, so the code clamps x and y to this
        // position.
        const int x = std::min(grid.x(i), picture.width - patch);
        const int y = std::min(grid.y(j), picture.height - patch);
        for (std::size_t f = 0; f < guides_.size(); ++f)
          if (const auto motion = input_.frames[f].frame.guide.motion; !motion.empty())
            guides_[f].frame.motion = motion[bundles.bundle_at(x, y)];
        use(i, j, grid.x(i), grid.y(j));
      }
  }

  /// Computes the thresholds and the covariances from the noise of each plane.
  void set_noise(std::size_t p) {
    const PlaneNoise& noise = input_.noise(p);
    const auto strength = static_cast<double>(plan_.strength.value);
    const auto sigma = static_cast<double>(noise.sigma);
    limits_[p] = uniform_coefficients(plan_.phase == Phase::first ? strength * sigma
                                                                  : strength * sigma * sigma);
    // The function validate() rejects coloured noise with complex coefficients.
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
    for (int m = 0; m < group.count; ++m) add(p, stack[m], x, y, group.members[m], weight);
  }

  /// Averages the patches of a group in all planes of a set. One call processes all planes, because
  /// the planes have common weights.
  void average(int x, int y, const Group& group) {
    std::vector<GroupStack<double>> stacks;
    std::vector<double> sigmas;
    for (std::size_t p = 0; p < input_.planes(); ++p) {
      stacks.push_back(gather<double>(noisy_[p], x, y, group, shape_));
      sigmas.push_back(static_cast<double>(input_.noise(p).sigma));
    }
    const auto weights = means_weights(stacks, sigmas, MeansCurve(plan_.means));
    for (std::size_t p = 0; p < input_.planes(); ++p) {
      const PatchValues<double> mean = weighted_mean(stacks[p], weights);
      for (int m = 0; m < group.count; ++m) add(p, mean, x, y, group.members[m], weights[m]);
    }
  }

  /// Adds an estimate to the frame of `member`. (x, y) is the position of the reference patch.
  template <class Value>
  void add(std::size_t p, const PatchValues<Value>& estimate, int x, int y, std::uint32_t member,
           double weight) {
    accumulator_of(*frame_at(input_.frames, displacement_t(member)).sums[p])
        .add(estimate, x + displacement_x(member), y + displacement_y(member), weight, window_,
             shape_.side);
  }

  const PhaseInput& input_;
  const PhasePlan& plan_;
  reference::Matcher& matcher_;
  PatchShape shape_;
  const PatchTransform<Coefficient>& transform_;
  std::array<float, patch> window_;
  std::vector<FramePlane> guides_;
  std::array<std::vector<FramePlane>, 3> noisy_, basic_;
  // For each plane, the limit of its coefficients: the threshold in the first phase, and mu2 *
  // sigma^2 in the second phase. For planes with coloured noise, `covariances_` contains the
  // covariances of patches.
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

  void search(const PhaseInput& input) override {
    use_filter(input, [](auto filter) { filter.search(); });
  }

  void run(const PhaseInput& input) override {
    use_filter(input, [](auto filter) { filter.run(); });
  }

  void finish(const PhasePlan&, PhaseSums& sums, PlaneView<float> estimate) override {
    accumulator_of(sums).divide(estimate);
    accumulator_of(sums).clear();
  }

 private:
  template <class Use>
  void use_filter(const PhaseInput& input, Use use) {
    const Transform transform = input.plan.params.transform;
    if (transform == Transform::dft && input.plan.filter != Filtering::means)
      use(Filter(input, *matcher_, shape_, fourier_transform(shape_.side)));
    else
      use(Filter(input, *matcher_, shape_, real_transform(transform, shape_.side)));
  }

  std::unique_ptr<reference::Matcher> matcher_;
  PatchShape shape_;
};

}  // namespace

std::unique_ptr<PhaseEngine> make_reference_engine(std::unique_ptr<reference::Matcher> matcher,
                                                   PatchShape shape) {
  if (shape.side < 1 || shape.side > patch)
    throw InvalidArgument("patches of " + std::to_string(shape.side) + "x" +
                          std::to_string(shape.side) +
                          " samples (the reference backend filters squares with a side of 1 to " +
                          std::to_string(patch) + "); choose one of these");
  return std::make_unique<ReferenceEngine>(std::move(matcher), shape);
}

}  // namespace lull::bm3d
