// The engines of the reference backend of non-local means, which compute in double precision
// (stages.h).

#include "nlm/engine.h"

#include <algorithm>
#include <map>
#include <vector>

#include "nlm/reference/stages.h"

namespace lull::nlm {
namespace {

using namespace reference;

using FramePlanes = std::array<ContinuedPlane, 3>;

/// The planes of the loaded frames. The argument `source` of guide(), is_hole() and sample() is the
/// slot of a frame.
class Frames final : public SourcePlanes {
 public:
  struct Slot {
    FramePlanes samples, guides;
    std::vector<bool> holes;  // row by row; empty: no holes
  };
  explicit Frames(const FramePlan& plan) : plan_(plan), slots_(plan.slots) {}

  void load(int slot, const PlaneViews& samples, const PlaneViews& guides, const Holes* holes) {
    slots_[slot].holes.clear();
    for (int y = 0; holes != nullptr && y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x) slots_[slot].holes.push_back(holes->at(x, y));
    const auto copy = [&](const PlaneViews& from, int count, FramePlanes& to) {
      for (int c = 0; c < count; ++c) to[c] = ContinuedPlane(from[c], plan_.params.border);
    };
    copy(samples, plan_.planes, slots_[slot].samples);
    if (!plan_.is_self_guided) copy(guides, plan_.guides, slots_[slot].guides);
  }

  double guide(int c, int source, int, int x, int y) const override {
    const Slot& slot = slots_[source];
    return (plan_.is_self_guided ? slot.samples : slot.guides)[c].at(x, y);
  }
  bool is_hole(int source, int x, int y) const override {
    const std::vector<bool>& holes = slots_[source].holes;
    if (holes.empty()) return false;
    const int row = continued(y, plan_.height, plan_.params.border);
    return holes[static_cast<std::size_t>(row) * plan_.width +
                 continued(x, plan_.width, plan_.params.border)];
  }
  double sample(int c, int source, int x, int y) const override {
    return slots_[source].samples[c].at(x, y);
  }

 private:
  FramePlan plan_;
  std::vector<Slot> slots_;
};

class ReferenceFrameEngine final : public FrameEngine {
 public:
  explicit ReferenceFrameEngine(const FramePlan& plan) : plan_(plan), frames_(plan) {}

  void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
            const Holes* holes) override {
    frames_.load(slot, samples, guides, holes);
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    const std::span weight(plan_.guide_weight.data(), plan_.guides);
    std::vector<Source> sources(frames.size());
    for (int y = 0; y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x) {
        const int cell = plan_.cell_at(x, y);
        for (std::size_t i = 0; i < frames.size(); ++i) {
          const Motion m = frames[i].motion.empty() ? Motion{} : frames[i].motion[cell];
          sources[i] = {frames[i].slot, m.x >> plan_.shift_x, m.y >> plan_.shift_y};
        }
        const std::array<double, 3> mean =
            result(plan_.params, weight, frames_, plan_.planes, x, y, frames.front().slot, sources);
        for (int c = 0; c < plan_.planes; ++c) results[c](x, y) = static_cast<float>(mean[c]);
      }
  }

 private:
  FramePlan plan_;
  Frames frames_;
};

/// The planes of the loaded slices. The argument `source` of guide() and sample() is the position z
/// of a slice.
class Slices final : public SourcePlanes {
 public:
  explicit Slices(const VolumePlan& plan) : plan_(plan) {}

  void clear() { slices_.clear(); }
  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) {
    slices_[z].samples = ContinuedPlane(samples, plan_.params.border);
    if (!plan_.is_self_guided) slices_[z].guide = ContinuedPlane(guide, plan_.params.border);
  }
  void drop_before(int z) { slices_.erase(slices_.begin(), slices_.lower_bound(z)); }
  /// Sets the range of existing slices. Outside this range, guide() replicates or mirrors slices
  /// (Params::border).
  void set_available(SliceSpan available) { available_ = available; }

  double guide(int, int source, int k, int x, int y) const override {
    const int z = available_.first +
                  continued(source + k - available_.first, available_.size(), plan_.params.border);
    const Slice& slice = slices_.at(z);
    return (plan_.is_self_guided ? slice.samples : slice.guide).at(x, y);
  }
  double sample(int, int source, int x, int y) const override {
    return slices_.at(source).samples.at(x, y);
  }

 private:
  struct Slice {
    ContinuedPlane samples, guide;
  };
  VolumePlan plan_;
  std::map<int, Slice> slices_;
  SliceSpan available_;
};

class ReferenceVolumeEngine final : public VolumeEngine {
 public:
  explicit ReferenceVolumeEngine(const VolumePlan& plan) : plan_(plan), slices_(plan) {}

  void begin(int) override { slices_.clear(); }
  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) override {
    slices_.load(z, samples, guide);
  }

  void estimate(SliceSpan wanted, SliceSpan available,
                std::span<const PlaneView<float>> results) override {
    const Params& p = plan_.params;
    slices_.drop_before(wanted.first - p.reach_slices());
    slices_.set_available(available);
    for (int z = wanted.first; z < wanted.end; ++z) {
      std::vector<Source> sources;
      for (int at = z - p.search_radius; at <= z + p.search_radius; ++at)
        if (available.holds(at)) sources.push_back({at});
      const PlaneView<float> to = results[z - wanted.first];
      for (int y = 0; y < plan_.height; ++y)
        for (int x = 0; x < plan_.width; ++x)
          to(x, y) = static_cast<float>(
              result(p, {&plan_.guide_weight, 1}, slices_, 1, x, y, z, sources)[0]);
    }
  }

 private:
  VolumePlan plan_;
  Slices slices_;
};

}  // namespace

std::unique_ptr<FrameEngine> make_reference_frame_engine(const FramePlan& plan) {
  return std::make_unique<ReferenceFrameEngine>(plan);
}
std::unique_ptr<VolumeEngine> make_reference_volume_engine(const VolumePlan& plan) {
  return std::make_unique<ReferenceVolumeEngine>(plan);
}

}  // namespace lull::nlm
