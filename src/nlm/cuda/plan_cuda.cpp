// Derives the parameters of the kernels of non-local means from Params.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/round_up.h"
#include "cuda/shared_memory.h"
#include "nlm/cuda/filters.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {

Curve::Curve(const Params& p) : exponential(p.weights == Weights::exponential) {
  const WeightCurve curve(p);
  const double slope = curve.slope * (exponential ? std::numbers::log2e : 1);
  guide_scale = static_cast<float>(std::sqrt(slope / p.patch_samples()));
  mean_share = static_cast<float>(static_cast<double>(p.mean_term) / p.patch_samples());
  top = static_cast<float>(slope * curve.zero + (exponential ? 0 : 1));
}

Space::Space(int w, int h, int p) : width(w), height(h), pad(p), pitch(round_up(w + 2 * p, 32)) {
  lull::require_addressable(w, h, pitch, std::int64_t{h} + 2 * p);
}

void require_addressable(const Params& params, const FrameFormat& format) {
  (void)Space(format.width, format.height, params.reach() + 1);  // no plane is larger
  // The origins of tiles must be multiples of the step, and a tile lies within a motion block.
  const bool filters_chroma = params.noise.sigma(1) > 0 || params.noise.sigma(2) > 0;
  const int shift = std::max(format.chroma_shift_x, format.chroma_shift_y);
  if (!params.is_volume() && filters_chroma && (motion_cell >> shift) < params.step)
    throw InvalidArgument("step = " + std::to_string(params.step) + " with chroma subsampled by " +
                          std::to_string(1 << shift) + " on a GPU (its kernels need a step of " +
                          std::to_string(motion_cell >> shift) +
                          " or less); choose a smaller step, or the device cpu");
}

TilesPlan plan_tiles(const Params& p, const Space& space, int guides, int planes) {
  TilesPlan plan{.space = space, .curve = Curve(p)};
  plan.block = p.block;
  plan.step = p.step;
  plan.patch_radius = p.patch_radius;
  plan.search = p.search_radius;
  plan.guides = guides;
  plan.slices = p.patch_slices();
  plan.planes = planes;
  plan.cell_width = plan.cell_height = motion_cell;
  return plan;
}

Workspaces::Workspaces()
    : multiprocessors_(lull::cuda::attribute(cudaDevAttrMultiProcessorCount)) {}

void Workspaces::reserve(TilesPlan& plan, int sources) {
  constexpr std::size_t max_floats = std::size_t{128} << 20;  // 512 MiB
  const auto tiles_of = [&](int side) {
    return ((plan.space.width + side - 1) / side) * ((plan.space.height + side - 1) / side);
  };
  // If a patch overlaps several tiles, the kernel computes the weights of the patch once for each
  // tile. With large tiles, fewer patches overlap several tiles. With small tiles, a thread block
  // needs less memory, so more thread blocks run at a time.
  plan.side = std::min({plan.cell_width, plan.cell_height, 32});
  while (plan.side > 8 && plan.workspace(sources) * 2 * multiprocessors_ > max_floats)
    plan.side /= 2;
  if (plan.side == 32 && tiles_of(32) < 4 * multiprocessors_) plan.side = 16;
  const int tiles = tiles_of(plan.side);
  const std::size_t size = plan.workspace(sources);
  const std::size_t most =
      std::clamp<std::size_t>(max_floats / size, 1, std::min(tiles, 16 * multiprocessors_));
  // If the existing memory suffices for a single thread block, the function does not allocate more,
  // because an allocation could fail in the middle of a clip.
  if (memory_.size() < size) {
    memory_ = {};
    memory_ = lull::cuda::DeviceBuffer<float>(size * most);
  }
  count_ = static_cast<int>(std::min(most, memory_.size() / size));
}

}  // namespace lull::nlm::cuda
