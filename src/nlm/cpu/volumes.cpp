// The cpu backend of non-local means for volumes, with a ring buffer of padded slices. The engine
// processes several slices at a time, because neighbouring slices share sums.

#include <algorithm>
#include <cmath>

#include "nlm/cpu/kernels.h"
#include "nlm/engine.h"
#include "nlm/weights.h"

namespace lull::nlm {
namespace {

using namespace cpu;

constexpr int slices_per_batch = 4;

class CpuVolumeEngine final : public VolumeEngine {
 public:
  CpuVolumeEngine(const VolumePlan& plan, int threads)
      : plan_(plan),
        shape_(plan.params),
        executor_(threads),
        guide_scale_(shape_.guide_scale * std::sqrt(plan.guide_weight)),
        sample_scale_(plan.is_self_guided ? guide_scale_ : 1.0f) {
    const int depth = slices_at_a_time() + 2 * plan.params.reach_slices();
    for (int i = 0; i < depth; ++i) {
      samples_.push_back(make_plane());
      if (!plan.is_self_guided) guides_.push_back(make_plane());
    }
  }

  int slices_at_a_time() const override { return shape_.is_single ? slices_per_batch : 1; }

  void begin(int) override {}

  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) override {
    samples_[index(z)].fill(samples, sample_scale_, plan_.params.border);
    if (!plan_.is_self_guided) guides_[index(z)].fill(guide, guide_scale_, plan_.params.border);
  }

  void estimate(SliceSpan wanted, SliceSpan available,
                std::span<const PlaneView<float>> results) override {
    const int patch = plan_.params.patch_radius, search = plan_.params.search_radius;
    const auto guide = [&](int z) {
      const int at =
          available.first + continued(z - available.first, available.size(), plan_.params.border);
      return (plan_.is_self_guided ? samples_ : guides_)[index(at)].view();
    };
    std::vector<PhasedView> around;  // the slices that the wanted slices' patches contain
    for (int z = wanted.first - patch; z < wanted.end + patch; ++z) around.push_back(guide(z));
    struct Shifted {
      std::vector<PhasedView> guides, samples;
    };
    std::vector<Shifted> shifted;
    for (int dz = -search; dz <= search; ++dz) {
      Shifted& shift = shifted.emplace_back();
      bool any = false;
      for (int z = wanted.first + dz; z < wanted.end + dz; ++z) {
        shift.samples.push_back(available.holds(z) ? samples_[index(z)].view() : PhasedView{});
        any |= available.holds(z);
      }
      // The kernel reads a guide slice only if the patch of a candidate contains the slice. All
      // other guide slices get empty views.
      for (int z = wanted.first - patch + dz; z < wanted.end + patch + dz; ++z)
        shift.guides.push_back(is_near(z, wanted, dz, available) ? guide(z) : PhasedView{});
      if (!any) shifted.pop_back();
    }
    std::vector<TileSource> sources;
    for (const Shifted& shift : shifted) sources.push_back({around, shift.guides, shift.samples});
    executor_.run(plan_.width, plan_.height, tile_width, tile_height,
                  [&](Tile tile, TileMemory& memory) {
                    tile.slices = wanted.size();
                    tile.sources = sources;
                    tile.results = results;
                    tile.scale = {&sample_scale_, 1};
                    estimate_tile(shape_, tile, memory);
                  });
  }

 private:
  std::size_t index(int z) const { return static_cast<std::size_t>(z) % samples_.size(); }

  /// Returns whether slice `z` is part of the patch of a candidate at the displacement `dz`.
  bool is_near(int z, SliceSpan wanted, int dz, SliceSpan available) const {
    const int first = std::max(wanted.first + dz, available.first);
    const int last = std::min(wanted.end + dz, available.end) - 1;
    return first <= last && z >= first - plan_.params.patch_radius &&
           z <= last + plan_.params.patch_radius;
  }

  PhasedPlane make_plane() const {
    return {plan_.width, plan_.height, plan_.params.reach() + shape_.cell, shape_.cell};
  }

  VolumePlan plan_;
  Shape shape_;
  TileExecutor executor_;
  float guide_scale_, sample_scale_;
  std::vector<PhasedPlane> samples_, guides_;
};

}  // namespace

std::unique_ptr<VolumeEngine> make_cpu_volume_engine(const VolumePlan& plan, int threads) {
  return std::make_unique<CpuVolumeEngine>(plan, threads);
}

}  // namespace lull::nlm
