// The reference backend: BM4D in double precision, after Maggioni et al. 2013, section II, without
// optimisation.

#include <array>

#include "bm4d/propagation.h"
#include "bm4d/reference/stages.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {
namespace {

using namespace reference;

/// Sums of weights and of weighted estimates (equation 8 of Maggioni et al. 2013).
struct Sums {
  Sums(int width, int height) : numerator(width, height), denominator(width, height) {}
  Slices numerator, denominator;
};

class ReferenceEngine final : public VolumeEngine {
 public:
  explicit ReferenceEngine(const VolumePlan& plan)
      : plan_(plan),
        noisy_(plan.width, plan.height),
        basic_(plan.width, plan.height),
        first_(plan.width, plan.height),
        second_(plan.width, plan.height),
        kept_(plan) {}

  void begin(int) override {
    for (Slices* slices : all()) slices->clear();
    kept_.begin();
  }

  void load(int z, PlaneView<const float> samples) override {
    for (int y = 0; y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x) noisy_.at(x, y, z) = static_cast<double>(samples(x, y));
  }

  void filter(const Layers& layers) override {
    const PhaseParams& params = plan_.phase(layers.phase);
    for (int k = 0; k < layers.count; ++k) filter_layer(layers, k, params);
  }

  void finish_basic(int z) override {
    for (int y = 0; y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x) basic_.at(x, y, z) = estimate(first_, x, y, z);
  }

  void finish(int z, PlaneView<float> estimate_of) override {
    Sums& sums = plan_.params.phases == 1 ? first_ : second_;
    for (int y = 0; y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x)
        estimate_of(x, y) = static_cast<float>(estimate(sums, x, y, z));
    for (Slices* slices : all()) slices->forget_before(z);
  }

 private:
  void filter_layer(const Layers& layers, int k, const PhaseParams& params) {
    const int columns = reference_count(plan_.width, params.step, params.cube);
    const int rows = reference_count(plan_.height, params.step, params.cube);
    const int z = layers.z + k * params.step;
    const bool keeps = layers.phase == Phase::first && plan_.params.reranks_groups();
    const std::span<KeptList> kept = keeps ? kept_.add_layer(z) : std::span<KeptList>();
    for (int j = 0; j < rows; ++j)
      for (int i = 0; i < columns; ++i) {
        if (layers.wanted && !layers.wanted[(k * rows + j) * columns + i]) continue;
        const Place at{reference_position(i, plan_.width, params.step, params.cube),
                       reference_position(j, plan_.height, params.step, params.cube), z};
        const Group group = group_of(layers, at);
        filter(layers.phase, at, group);
        if (keeps) kept[j * columns + i] = kept_list(group);
      }
  }

  std::array<Slices*, 6> all() {
    return {&noisy_,
            &basic_,
            &first_.numerator,
            &first_.denominator,
            &second_.numerator,
            &second_.denominator};
  }

  Group group_of(const Layers& layers, const Place& at) const {
    const PhaseParams& params = plan_.phase(layers.phase);
    if (layers.phase == Phase::first) return find_group(noisy_, layers.available, at, params);
    if (!plan_.params.reranks_groups()) return find_group(basic_, layers.available, at, params);
    std::array<std::uint32_t, max_listed> room;
    return rank_group(basic_, at, params,
                      kept_.candidates(at.x, at.y, at.z, layers.available, room));
  }

  void filter(Phase phase, const Place& at, const Group& group) {
    const PhaseParams& params = plan_.phase(phase);
    const Params& all = plan_.params;
    const bool first = phase == Phase::first;
    GroupStack stack = gather(noisy_, at, group, params.cube);
    const auto sigma = static_cast<double>(plan_.sigma);
    const double weight =
        first ? hard_threshold(stack, params.cube, static_cast<double>(all.lambda) * sigma,
                               static_cast<double>(all.lambda_mean))
              : wiener(stack, gather(basic_, at, group, params.cube), params.cube,
                       static_cast<double>(all.mu2) * sigma * sigma,
                       static_cast<double>(all.mu2_mean));
    const auto window = kaiser_window(params.kaiser, params.cube);
    Sums& sums = first ? first_ : second_;
    for (int m = 0; m < group.count; ++m)
      for (int i = 0; i < params.cube * params.cube * params.cube; ++i) {
        const int a = i % params.cube, b = i / params.cube % params.cube,
                  c = i / (params.cube * params.cube);
        const int x = at.x + offset_x(group.members[m]) + a;
        const int y = at.y + offset_y(group.members[m]) + b;
        const int z = at.z + offset_z(group.members[m]) + c;
        const double share = weight * static_cast<double>(window[a]) *
                             static_cast<double>(window[b]) * static_cast<double>(window[c]);
        sums.numerator.at(x, y, z) += share * stack[m][i];
        sums.denominator.at(x, y, z) += share;
      }
  }

  double estimate(Sums& sums, int x, int y, int z) {
    const double weights = sums.denominator.at(x, y, z);
    return weights > 0 ? sums.numerator.at(x, y, z) / weights : noisy_.at(x, y, z);
  }

  VolumePlan plan_;
  Slices noisy_, basic_;
  Sums first_, second_;
  KeptGroups kept_;
};

}  // namespace

std::unique_ptr<VolumeEngine> make_reference_engine(const VolumePlan& plan) {
  return std::make_unique<ReferenceEngine>(plan);
}

}  // namespace lull::bm4d
