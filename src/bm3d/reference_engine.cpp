// The reference backend: BM3D in double, one statement of the papers at a time (Honzatko and Krulis
// 2017, section 4; Dabov 2007, sections III and IV). It is the oracle of the tests; nothing in it
// is made for speed.

#include <complex>
#include <vector>

#include "bm3d/group.h"
#include "bm3d/kaiser.h"
#include "bm3d/phase_engine.h"
#include "bm3d/reference_stages.h"

namespace lull::bm3d {
namespace {

template <class Coefficient>
void run_phase(const Params& params, const PhaseInput& input,
               const PatchTransform<Coefficient>& transform) {
  const bool first = input.basic.empty();
  const PhaseParams& phase = first ? params.hard : params.wiener;
  const std::array<float, patch> window = kaiser_window(phase.kaiser);
  const std::size_t planes = input.noisy.size();
  const int width = input.guide.width, height = input.guide.height;

  std::vector<Accumulator> sums(planes, Accumulator(width, height));
  for (int j = 0; j < reference_count(height, phase.step); ++j)
    for (int i = 0; i < reference_count(width, phase.step); ++i) {
      const int x = reference_position(i, width, phase.step);
      const int y = reference_position(j, height, phase.step);
      const Group group = match(input.guide, x, y, phase);
      for (std::size_t p = 0; p < planes; ++p) {
        auto stack = gather<Coefficient>(input.noisy[p], x, y, group);
        double weight;
        if (first) {
          const double threshold = params.lambda * static_cast<double>(input.sigma[p]);
          weight = hard_threshold(stack, transform, phase.group_transform, threshold,
                                  params.lambda_mean * threshold);
        } else {
          const auto basic = gather<Coefficient>(input.basic[p], x, y, group);
          const double sigma = input.sigma[p];
          weight =
              wiener(stack, basic, transform, phase.group_transform, params.mu2 * sigma * sigma);
        }
        sums[p].add(stack, x, y, group, weight, window);
      }
    }
  for (std::size_t p = 0; p < planes; ++p) sums[p].divide(input.estimate[p]);
}

class ReferenceEngine : public PhaseEngine {
 public:
  void run(const Params& params, const PhaseInput& input) override {
    const Transform transform =
        input.basic.empty() ? params.hard.transform : params.wiener.transform;
    if (transform == Transform::dft)
      run_phase(params, input, fourier_transform());
    else
      run_phase(params, input, real_transform(transform));
  }
};

}  // namespace

std::unique_ptr<PhaseEngine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace lull::bm3d
