// The cpu backend of non-local means for frames, which processes padded copies of the planes tile
// by tile.

#include <algorithm>
#include <cmath>

#include "nlm/cpu/kernels.h"
#include "nlm/engine.h"

namespace lull::nlm {
namespace {

using namespace cpu;

class CpuFrameEngine final : public FrameEngine {
 public:
  CpuFrameEngine(const FramePlan& plan, int threads)
      : plan_(plan), shape_(plan.params), executor_(threads), slots_(plan.slots) {
    for (int c = 0; c < plan.guides; ++c)
      guide_scale_[c] = shape_.guide_scale * std::sqrt(plan.guide_weight[c]);
    for (int c = 0; c < plan.planes; ++c)
      sample_scale_[c] = plan.is_self_guided && c < plan.guides ? guide_scale_[c] : 1.0f;
    for (Slot& slot : slots_) {
      for (int c = 0; c < plan.planes; ++c) slot.samples[c] = make_plane();
      for (int c = 0; !plan.is_self_guided && c < plan.guides; ++c) slot.guides[c] = make_plane();
      for (int c = 0; plan.params.holes && c < plan.guides; ++c) slot.marked[c] = make_plane();
    }
  }

  void load(int at, const PlaneViews& samples, const PlaneViews& guides,
            const Holes* holes) override {
    Slot& slot = slots_[at];
    slot.has_holes = holes != nullptr;
    for (int c = 0; slot.has_holes && c < plan_.guides; ++c)
      slot.marked[c].fill_with_holes(samples[c], guide_scale_[c], plan_.params.border, *holes);
    for (int c = 0; c < plan_.planes; ++c)
      slot.samples[c].fill(samples[c], sample_scale_[c], plan_.params.border);
    for (int c = 0; !plan_.is_self_guided && c < plan_.guides; ++c)
      slot.guides[c].fill(guides[c], guide_scale_[c], plan_.params.border);
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    std::array<FrameViews, max_frames> views;
    for (std::size_t i = 0; i < frames.size(); ++i) views[i] = views_of(frames[i].slot);
    const bool moves =
        std::ranges::any_of(frames, [](const CandidateFrame& f) { return !f.motion.empty(); });
    executor_.run(plan_.width, plan_.height, moves ? plan_.cell_width() : tile_width,
                  moves ? plan_.cell_height() : tile_height, [&](Tile tile, TileMemory& memory) {
                    std::array<TileSource, max_frames> sources;
                    for (std::size_t i = 0; i < frames.size(); ++i)
                      sources[i] = source_of(tile, frames[i], views[0], views[i]);
                    tile.guides = plan_.guides;
                    tile.planes = plan_.planes;
                    tile.sources = {sources.data(), frames.size()};
                    tile.results = {results.data(), static_cast<std::size_t>(plan_.planes)};
                    tile.scale = sample_scale_;
                    estimate_tile(shape_, tile, memory);
                  });
  }

 private:
  struct Slot {
    std::array<PhasedPlane, 3> samples, guides;
    std::array<PhasedPlane, 3> marked;  // guides with marked holes, if frames may have holes
    bool has_holes = false;
  };
  struct FrameViews {
    std::array<PhasedView, 3> samples, guides, candidates;
  };

  /// Returns a padded plane. The padding is the support of the filter (reach()) plus one sample,
  /// because a motion vector can move a motion block one sample beyond the plane.
  PhasedPlane make_plane() const {
    return {plan_.width, plan_.height, plan_.params.reach() + 1 + shape_.cell, shape_.cell};
  }

  FrameViews views_of(int at) const {
    const Slot& slot = slots_[at];
    FrameViews views;
    for (int c = 0; c < plan_.planes; ++c) views.samples[c] = slot.samples[c].view();
    for (int c = 0; c < plan_.guides; ++c)
      views.guides[c] = (plan_.is_self_guided ? slot.samples : slot.guides)[c].view();
    for (int c = 0; c < plan_.guides; ++c)
      views.candidates[c] = slot.has_holes ? slot.marked[c].view() : views.guides[c];
    return views;
  }

  TileSource source_of(const Tile& tile, const CandidateFrame& frame, const FrameViews& wanted,
                       const FrameViews& views) const {
    TileSource source{
        .wanted = wanted.guides, .candidates = views.candidates, .samples = views.samples};
    source.is_own = &wanted == &views;
    if (frame.motion.empty()) return source;
    const Motion m = frame.motion[plan_.cell_at(tile.x, tile.y)];
    source.motion_x = m.x >> plan_.shift_x;
    source.motion_y = m.y >> plan_.shift_y;
    return source;
  }

  FramePlan plan_;
  Shape shape_;
  TileExecutor executor_;
  std::array<float, 3> guide_scale_{}, sample_scale_{};
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<FrameEngine> make_cpu_frame_engine(const FramePlan& plan, int threads) {
  return std::make_unique<CpuFrameEngine>(plan, threads);
}

}  // namespace lull::nlm
