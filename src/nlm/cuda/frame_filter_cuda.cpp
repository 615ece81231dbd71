#include <cmath>

#include "nlm/cuda/filters.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {

using lull::cuda::DeviceBuffer;

FrameFilter::Kernel FrameFilter::kernel_for(const FramePlan& plan) {
  const Params& p = plan.params;
  if (p.holes) return Kernel::tiles;  // candidates differ from the reference patches' plane
  const bool joint = plan.is_self_guided && plan.planes == plan.guides;
  if (joint && plan.planes == 1 && p.block == 4 && p.patch_radius == 0 && p.step <= 2)
    return Kernel::blocks;
  if (joint && plan.planes != 2 && p.block == 1 && p.mean_term == 0 && p.patch_radius >= 1 &&
      p.patch_radius <= max_box_radius)
    return Kernel::boxes;
  return Kernel::tiles;
}

FrameFilter::FrameFilter(const FramePlan& plan, cudaStream_t stream)
    : plan_(plan),
      stream_(stream),
      kernel_(kernel_for(plan)),
      // The padding is the support of the filter plus one sample, because a motion vector can move
      // a motion block one sample beyond the plane.
      space_(plan.width, plan.height, plan.params.reach() + 1),
      curve_(plan.params),
      tiles_(plan_tiles(plan.params, space_, plan.guides, plan.planes)),
      slots_(plan.slots) {
  for (int c = 0; c < plan.guides; ++c)
    guide_scale_[c] = curve_.guide_scale * std::sqrt(plan.guide_weight[c]);
  for (int c = 0; c < plan.planes; ++c) {
    sample_scale_[c] = plan.is_self_guided && c < plan.guides ? guide_scale_[c] : 1.0f;
    results_[c] = zeroed<float>(space_.flat_size(), stream);
  }
  tiles_.scale = sample_scale_;
  tiles_.cell_width = plan.cell_width();
  tiles_.cell_height = plan.cell_height();
  tiles_.shift_x = plan.shift_x;
  tiles_.shift_y = plan.shift_y;
  for (Slot& slot : slots_) {
    for (int c = 0; c < plan.planes; ++c) slot.samples[c] = DeviceBuffer<float>(space_.size());
    for (int c = 0; !plan.is_self_guided && c < plan.guides; ++c)
      slot.guides[c] = DeviceBuffer<float>(space_.size());
    if (plan.params.holes) slot.marked = DeviceBuffer<float>(space_.size());
  }
  if (kernel_ == Kernel::blocks)
    layers_ = DeviceBuffer<std::byte>(
        BlocksPlan{.space = space_, .curve = curve_, .step = plan.params.step}.layer_bytes());
  if (kernel_ == Kernel::tiles || plan.params.temporal > 0)
    workspaces_.reserve(tiles_, 2 * plan.params.temporal + 1);
}

void FrameFilter::load(int at, const Planes3& samples, const Planes3& guides,
                       const std::uint8_t* holes) {
  Slot& slot = slots_[at];
  const Border border = plan_.params.border;
  slot.has_holes = holes != nullptr;
  if (holes != nullptr)
    continue_plane(samples[0], space_, border, guide_scale_[0], slot.marked.get(), stream_,
                   {holes, hole_mark(guide_scale_[0]) / guide_scale_[0]});
  for (int c = 0; c < plan_.planes; ++c)
    continue_plane(samples[c], space_, border, sample_scale_[c], slot.samples[c].get(), stream_);
  for (int c = 0; !plan_.is_self_guided && c < plan_.guides; ++c)
    continue_plane(guides[c], space_, border, guide_scale_[c], slot.guides[c].get(), stream_);
}

void FrameFilter::run(std::span<const CandidateSlot> frames) {
  if (frames.size() > 1 || kernel_ == Kernel::tiles) return run_tiles(frames);
  const int slot = frames.front().slot;
  if (kernel_ == Kernel::blocks) {
    const bool exact = std::sqrt(plan_.guide_weight[0]) * min_half_sigma <= 1;
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

Planes3 FrameFilter::samples_of(int slot) const {
  Planes3 planes{};
  for (int c = 0; c < plan_.planes; ++c) planes[c] = slots_[slot].samples[c].get();
  return planes;
}

Planes3 FrameFilter::guides_of(int slot) const {
  if (plan_.is_self_guided) return samples_of(slot);
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

void FrameFilter::run_tiles(std::span<const CandidateSlot> frames) {
  const auto count = static_cast<int>(frames.size());
  workspaces_.reserve(tiles_, count);
  TileSources sources{.wanted = source_of(frames[0].slot, nullptr), .count = count};
  for (int i = 0; i < count; ++i) {
    sources.all[i] = source_of(frames[i].slot, frames[i].motion);
    if (const Slot& slot = slots_[frames[i].slot]; slot.has_holes)
      sources.all[i].guides[0] = slot.marked.get(), sources.shows_holes |= i == 0;
  }
  estimate_tiles(tiles_, sources, workspaces_.get(), workspaces_.count(), results(), stream_);
}

}  // namespace lull::nlm::cuda
