// The cpu backend of non-local means with features, which processes padded copies of the planes
// tile by tile.

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "match/cpu/threads.h"
#include "nlm/features/cpu_kernels.h"
#include "nlm/features/engine.h"

namespace lull::nlm {
namespace {

using namespace cpu;

class ContinuedFloats {
 public:
  ContinuedFloats() = default;
  ContinuedFloats(int width, int height, int pad)
      : width_(width), height_(height), pad_(pad), plane_(width + 2 * pad, height + 2 * pad) {}

  void fill(PlaneView<const float> from) {
    const PlaneView<float> all = plane_.view();
    for (int y = 0; y < all.height; ++y) {
      const float* row = from.row(mirrored(y - pad_, height_));
      float* to = all.row(y) + pad_;
      for (int x = -pad_; x < 0; ++x) to[x] = row[mirrored(x, width_)];
      std::copy_n(row, width_, to);
      for (int x = width_; x < width_ + pad_; ++x) to[x] = row[mirrored(x, width_)];
    }
  }
  PlaneView<const float> view() const {
    const PlaneView<const float> all = plane_.view();
    return {all.row(pad_) + pad_, width_, height_, all.stride};
  }
  bool empty() const { return plane_.width() == 0; }

 private:
  int width_ = 0, height_ = 0, pad_ = 0;
  Plane<float> plane_;
};

class CpuFeatureEngine final : public FeatureEngine {
 public:
  CpuFeatureEngine(const FeaturePlan& plan, int threads)
      : plan_(plan),
        arena_(threads > 0 ? threads : tbb::this_task_arena::max_concurrency()),
        slots_(plan.slots),
        colour_(plan),
        guided_(plan) {
    lull::cpu::allow_threads(arena_.max_concurrency());
  }

  void load(int at, const LightViews& views) override {
    RenderSlot& slot = slots_[at];
    slot.regressors = views.regressors;
    const auto fill = [&](ContinuedFloats& to, PlaneView<const float> from) {
      if (to.empty()) to = ContinuedFloats(plan_.width, plan_.height, plan_.reach());
      to.fill(from);
    };
    for (int c = 0; c < plan_.planes; ++c) {
      fill(slot.light[c], views.light[c]);
      fill(slot.variance[c], views.variance[c]);
    }
    for (int i = 0; i < views.regressors; ++i) {
      fill(slot.regressor[i], views.regressor[i]);
      fill(slot.noise[i], views.regressor_noise[i]);
    }
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    const int columns = (plan_.width + light_tile_width - 1) / light_tile_width;
    const int rows = (plan_.height + light_tile_height - 1) / light_tile_height;
    arena_.execute([&] {
      tbb::parallel_for(0, columns * rows, [&](int at) {
        estimate_tile(frames, at % columns * light_tile_width, at / columns * light_tile_height);
      });
    });
    const RenderSlot& wanted = slots_[frames[0].slot];
    std::array<PlaneView<const float>, 3> light, variance;
    for (int c = 0; c < plan_.planes; ++c) {
      light[c] = wanted.light[c].view();
      variance[c] = wanted.variance[c].view();
    }
    blend(plan_, light, variance, colour_, guided_, results);
  }

 private:
  struct RenderSlot {
    std::array<ContinuedFloats, 3> light, variance;
    int regressors = 0;
    std::array<ContinuedFloats, max_regressors> regressor, noise;
  };

  ContinuedLight planes_of(int at) const {
    const RenderSlot& slot = slots_[at];
    ContinuedLight planes;
    for (int c = 0; c < plan_.planes; ++c) {
      planes.light[c] = slot.light[c].view();
      planes.variance[c] = slot.variance[c].view();
    }
    for (int i = 0; i < slot.regressors; ++i) planes.regressor[i] = slot.regressor[i].view();
    return planes;
  }

  void estimate_tile(std::span<const CandidateFrame> frames, int x, int y) {
    std::array<LightSource, max_frames> sources;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      sources[i].planes = planes_of(frames[i].slot);
      if (frames[i].motion.empty()) continue;
      const Motion m = frames[i].motion[y / plan_.cell * plan_.cell_columns() + x / plan_.cell];
      sources[i].motion_x = m.x;
      sources[i].motion_y = m.y;
    }
    const RenderSlot& wanted = slots_[frames[0].slot];
    LightTile tile{.x = x, .y = y};
    tile.width = std::min(light_tile_width, plan_.width - x);
    tile.height = std::min(light_tile_height, plan_.height - y);
    tile.channels = plan_.planes;
    tile.search_radius = plan_.search_radius;
    tile.regressors = wanted.regressors;
    tile.sources = {sources.data(), frames.size()};
    for (int i = 0; i < wanted.regressors; ++i) tile.noise[i] = wanted.noise[i].view();
    for (int c = 0; c < plan_.planes; ++c) {
      tile.colour[c] = colour_.value[c].view();
      tile.colour_derivative[c] = colour_.derivative[c].view();
      tile.guided[c] = guided_.value[c].view();
      tile.guided_derivative[c] = guided_.derivative[c].view();
    }
    filter_light(tile, memories_.local());
  }

  FeaturePlan plan_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<LightMemory> memories_;
  std::vector<RenderSlot> slots_;
  CandidateResult colour_, guided_;
};

}  // namespace

std::unique_ptr<FeatureEngine> make_cpu_feature_engine(const FeaturePlan& plan, int threads) {
  return std::make_unique<CpuFeatureEngine>(plan, threads);
}

}  // namespace lull::nlm
