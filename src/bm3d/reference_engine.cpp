// The reference backend: BM3D in double, one statement of the papers at a time (Honzatko and Krulis
// 2017, section 4; Dabov 2007, sections III and IV). It is the oracle of the tests; nothing in it
// is made for speed.

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "bm3d/group.h"
#include "bm3d/kaiser.h"
#include "bm3d/phase_engine.h"
#include "bm3d/reference_stages.h"

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
  Filter(const Params& params, const PhaseInput& input,
         const PatchTransform<Coefficient>& transform)
      : params_(params),
        input_(input),
        transform_(transform),
        first_(input.phase == Phase::first),
        phase_(first_ ? params.hard : params.wiener),
        window_(kaiser_window(phase_.kaiser)) {
    for (const PhaseFrame& frame : input.frames) {
      guides_.push_back({frame.offset, frame.guide});
      for (std::size_t p = 0; p < input.sigma.size(); ++p) {
        noisy_[p].push_back({frame.offset, frame.noisy[p]});
        basic_[p].push_back({frame.offset, frame.basic[p]});
      }
    }
  }

  void run() {
    const int width = guides_[0].samples.width, height = guides_[0].samples.height;
    const MotionGrid grid{width, height, phase_.step};
    for (int j = 0; j < reference_count(height, phase_.step); ++j)
      for (int i = 0; i < reference_count(width, phase_.step); ++i) {
        const int x = reference_position(i, width, phase_.step);
        const int y = reference_position(j, height, phase_.step);
        for (std::size_t f = 0; f < guides_.size(); ++f)
          if (const auto motion = input_.frames[f].motion; !motion.empty())
            guides_[f].motion = motion[grid.block(i, j)];
        const Group group = match(guides_, x, y, phase_);
        for (std::size_t p = 0; p < input_.sigma.size(); ++p) filter(p, x, y, group);
      }
  }

 private:
  void filter(std::size_t p, int x, int y, const Group& group) {
    auto stack = gather<Coefficient>(noisy_[p], x, y, group);
    const double sigma = input_.sigma[p];
    double weight;
    if (first_) {
      const double threshold = params_.lambda * sigma;
      weight = hard_threshold(stack, transform_, phase_.group_transform, threshold,
                              params_.lambda_mean * threshold);
    } else {
      const auto basic = gather<Coefficient>(basic_[p], x, y, group);
      weight =
          wiener(stack, basic, transform_, phase_.group_transform, params_.mu2 * sigma * sigma);
    }
    for (int m = 0; m < group.count; ++m) {
      const std::uint32_t member = group.members[m];
      for (const PhaseFrame& frame : input_.frames)
        if (frame.offset == displacement_t(member))
          accumulator_of(*frame.sums[p])
              .add(stack[m], x + displacement_x(member), y + displacement_y(member), weight,
                   window_);
    }
  }

  const Params& params_;
  const PhaseInput& input_;
  const PatchTransform<Coefficient>& transform_;
  bool first_;
  const PhaseParams& phase_;
  std::array<float, patch> window_;
  std::vector<FramePlane> guides_;
  std::array<std::vector<FramePlane>, 3> noisy_, basic_;
};

class ReferenceEngine : public PhaseEngine {
 public:
  std::unique_ptr<PhaseSums> make_sums(int width, int height) override {
    return std::make_unique<ReferenceSums>(width, height);
  }

  void run(const Params& params, const PhaseInput& input) override {
    const Transform transform =
        input.phase == Phase::first ? params.hard.transform : params.wiener.transform;
    if (transform == Transform::dft)
      Filter(params, input, fourier_transform()).run();
    else
      Filter(params, input, real_transform(transform)).run();
  }

  void finish(const PhaseParams&, PhaseSums& sums, PlaneView<float> estimate) override {
    accumulator_of(sums).divide(estimate);
    accumulator_of(sums).clear();
  }
};

}  // namespace

std::unique_ptr<PhaseEngine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace lull::bm3d
