#include <cmath>

#include "cuda/check.h"
#include "nlm/cuda/filters.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {

using lull::cuda::bytes_of;
using lull::cuda::check;
using lull::cuda::DeviceBuffer;

FrameFilter::Way FrameFilter::way_of(const FramePlan& plan) {
  const Params& p = plan.params;
  if (p.holes) return Way::tiles;  // candidates that differ from what they are compared with
  const bool joint = plan.guides_itself && plan.planes == plan.guides;
  if (joint && plan.planes == 1 && p.block == 4 && p.patch_radius == 0 && p.step <= 2)
    return Way::blocks;
  if (joint && plan.planes != 2 && p.block == 1 && p.mean_term == 0 && p.patch_radius >= 1 &&
      p.patch_radius <= most_box_radius)
    return Way::boxes;
  return Way::tiles;
}

FrameFilter::FrameFilter(const FramePlan& plan, cudaStream_t stream)
    : plan_(plan),
      stream_(stream),
      way_(way_of(plan)),
      // Motion leads a sample beyond the planes at most.
      space_(plan.width, plan.height, plan.params.reach() + 1),
      curve_(plan.params),
      tiles_(plan_tiles(plan.params, space_, plan.guides, plan.planes)),
      slots_(plan.slots),
      raw_(static_cast<std::size_t>(plan.width) * plan.height) {
  for (int c = 0; c < plan.guides; ++c)
    guide_scale_[c] = curve_.guide_scale * std::sqrt(plan.guide_weight[c]);
  for (int c = 0; c < plan.planes; ++c) {
    sample_scale_[c] = plan.guides_itself && c < plan.guides ? guide_scale_[c] : 1.0f;
    results_[c] = DeviceBuffer<float>(raw_.size());
  }
  tiles_.scale = sample_scale_;
  tiles_.cell_width = plan.cell_width;
  tiles_.cell_height = plan.cell_height;
  for (Slot& slot : slots_) {
    for (int c = 0; c < plan.planes; ++c) slot.samples[c] = DeviceBuffer<float>(space_.size());
    for (int c = 0; !plan.guides_itself && c < plan.guides; ++c)
      slot.guides[c] = DeviceBuffer<float>(space_.size());
    if (plan.params.holes) slot.marked = DeviceBuffer<float>(space_.size());
  }
  if (way_ == Way::blocks)
    layers_ = DeviceBuffer<std::byte>(
        BlocksPlan{.space = space_, .curve = curve_, .step = plan.params.step}.layer_bytes());
  if (way_ == Way::tiles || plan.params.temporal > 0)
    workspaces_.reserve(tiles_, 2 * plan.params.temporal + 1);
}

void FrameFilter::load(int at, const PlaneViews& samples, const PlaneViews& guides,
                       const Holes* holes) {
  Slot& slot = slots_[at];
  slot.has_holes = holes != nullptr;
  if (holes != nullptr) load_marked(slot, samples[0], *holes);
  for (int c = 0; c < plan_.planes; ++c)
    load_plane(samples[c], sample_scale_[c], slot.samples[c].get());
  for (int c = 0; !plan_.guides_itself && c < plan_.guides; ++c)
    load_plane(guides[c], guide_scale_[c], slot.guides[c].get());
}

void FrameFilter::load_plane(PlaneView<const float> samples, float scale, float* to) {
  staging_.upload(bytes_of(samples), raw_.get(), plan_.width * sizeof(float), stream_);
  continue_plane(raw_.get(), space_, plan_.params.border, scale, to, stream_);
}

void FrameFilter::load_marked(Slot& slot, PlaneView<const float> samples, const Holes& holes) {
  std::vector<float> marked;
  const float mark = mark_of(guide_scale_[0]) / guide_scale_[0];
  for (int y = 0; y < plan_.height; ++y)
    for (int x = 0; x < plan_.width; ++x) marked.push_back(holes.at(x, y) ? mark : samples(x, y));
  load_plane({marked.data(), plan_.width, plan_.height, plan_.width}, guide_scale_[0],
             slot.marked.get());
}

void FrameFilter::run(std::span<const CandidateFrame> frames) {
  if (frames.size() > 1 || way_ == Way::tiles) return run_tiles(frames);
  const int slot = frames.front().slot;
  if (way_ == Way::blocks) {
    const bool exact = std::sqrt(plan_.guide_weight[0]) * least_half_sigma <= 1;
    estimate_blocks({.space = space_,
                     .curve = curve_,
                     .step = plan_.params.step,
                     .search = plan_.params.search_radius,
                     .halves = exact,
                     .scale = sample_scale_[0]},
                    samples_of(slot)[0], layers_.get(), results_[0].get(), stream_);
  } else {
    estimate_boxes({.space = space_,
                    .curve = curve_,
                    .patch_radius = plan_.params.patch_radius,
                    .search = plan_.params.search_radius,
                    .planes = plan_.planes,
                    .scale = sample_scale_},
                   samples_of(slot), results(), stream_);
  }
}

void FrameFilter::take(const std::array<PlaneView<float>, 3>& to) {
  for (int c = 0; c < plan_.planes; ++c)
    staging_.download(results_[c].get(), plan_.width * sizeof(float), bytes_of(to[c]), stream_);
}

Planes3 FrameFilter::samples_of(int slot) const {
  Planes3 planes{};
  for (int c = 0; c < plan_.planes; ++c) planes[c] = slots_[slot].samples[c].get();
  return planes;
}

Planes3 FrameFilter::guides_of(int slot) const {
  if (plan_.guides_itself) return samples_of(slot);
  Planes3 planes{};
  for (int c = 0; c < plan_.guides; ++c) planes[c] = slots_[slot].guides[c].get();
  return planes;
}

Results3 FrameFilter::results() const {
  Results3 planes{};
  for (int c = 0; c < plan_.planes; ++c) planes[c] = results_[c].get();
  return planes;
}

TileSource FrameFilter::source_of(int slot, const Motion* motion) const {
  TileSource source{.samples = samples_of(slot), .motion = motion};
  const Planes3 guides = guides_of(slot);
  std::copy_n(guides.begin(), plan_.guides, source.guides.begin());
  return source;
}

void FrameFilter::run_tiles(std::span<const CandidateFrame> frames) {
  const auto count = static_cast<int>(frames.size());
  workspaces_.reserve(tiles_, count);
  const std::size_t cells = static_cast<std::size_t>(plan_.cell_columns()) * plan_.cell_rows();
  if (motion_.size() < cells * count) motion_ = DeviceBuffer<Motion>(cells * count);
  TileSources sources{.wanted = source_of(frames[0].slot, nullptr), .count = count};
  for (int i = 0; i < count; ++i) {
    Motion* const motion = frames[i].motion.empty() ? nullptr : motion_.get() + i * cells;
    // From memory that is not page-locked: it may change as soon as this returns.
    if (motion != nullptr)
      check(cudaMemcpyAsync(motion, frames[i].motion.data(), cells * sizeof(Motion),
                            cudaMemcpyHostToDevice, stream_));
    sources.all[i] = source_of(frames[i].slot, motion);
    if (const Slot& slot = slots_[frames[i].slot]; slot.has_holes)
      sources.all[i].guides[0] = slot.marked.get(), sources.shows_holes |= i == 0;
  }
  estimate_tiles(tiles_, sources, workspaces_.get(), workspaces_.count(), results(), stream_);
}

}  // namespace lull::nlm::cuda
