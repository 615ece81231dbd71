// Sessions over the slices of volumes. Each plane is a volume of its own; a slice is estimated as
// soon as those are there that its result depends on.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "match/frame_guide.h"
#include "nlm/open/sessions.h"
#include "noise/filtered_samples.h"
#include "time/slice_session.h"

namespace lull::nlm {
namespace {

/// A plane with noise.
struct WorkedVolume {
  int plane = 0;
  std::unique_ptr<VolumeEngine> engine;
  Plane<float> samples, guide;
  std::vector<Plane<float>> results;  // of slices that are estimated at a time
};

bool is_all_outside(const SliceMask& mask) {
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x)
      if (mask.inside(x, y)) return false;
  return true;
}

class SlicesSession final : public SliceSession {
 public:
  SlicesSession(const Params& params, const FrameFormat& format,
                const VolumeEngineFactory& make_engine)
      : SliceSession(format),
        params_(params),
        samples_(params.noise, make_stabilisers(params.noise, lean_of(params))),
        pool_(format) {
    for (int i = 0; i < format.planes(); ++i)
      if (params.noise.sigma(i) > 0) add_plane(i, make_engine);
  }

  int latency() const noexcept override {
    return volumes_.empty() ? 0 : params_.reach_slices() + together_ - 1;
  }

 protected:
  bool passes() const override { return volumes_.empty(); }

  void begin_volume(int z) override {
    there_ = {z, z};
    for (WorkedVolume& volume : volumes_) volume.engine->begin(z);
  }

  void add(Frame noisy, int z) override {
    Inside& slice = inside_.emplace_back(Inside{.noisy = std::move(noisy)});
    const Frame& guide = guide_of(slice.noisy, params_.guided);
    for (WorkedVolume& volume : volumes_) {
      slice.guarded |= samples_.load(slice.noisy, volume.plane, volume.samples.view());
      if (params_.guided) samples_.load(guide, volume.plane, volume.guide.view());
      volume.engine->load(z, std::as_const(volume.samples).view(),
                          std::as_const(volume.guide).view());
    }
    slice.is_wanted = slice.noisy.aside == 0 && !slice.noisy.outside &&
                      !(slice.noisy.mask && is_all_outside(*slice.noisy.mask));
    there_.end = z + 1;
    while (first_inside() + together_ + params_.reach_slices() <= there_.end) finish(together_);
  }

  void end_volume() override {
    while (!inside_.empty()) finish(std::min(together_, static_cast<int>(inside_.size())));
  }

 private:
  /// A slice whose result is not out yet.
  struct Inside {
    Frame noisy;
    bool guarded = false;    // filters do not see all samples as they are (float_guard.h)
    bool is_wanted = false;  // its result
  };

  void add_plane(int i, const VolumeEngineFactory& make_engine) {
    const int width = format().plane_width(i), height = format().plane_height(i);
    const float sigma = params_.noise.sigma(i);
    WorkedVolume volume{.plane = i,
                        .engine = make_engine({.params = guided(params_),
                                               .width = width,
                                               .height = height,
                                               .guide_weight = 1 / (sigma * sigma),
                                               .guides_itself = !params_.guided}),
                        .samples = {width, height}};
    if (params_.guided) volume.guide = Plane<float>(width, height);
    together_ = std::max(together_, volume.engine->slices_at_a_time());
    volumes_.push_back(std::move(volume));
  }

  /// The place of the first of inside_.
  int first_inside() const { return there_.end - static_cast<int>(inside_.size()); }

  /// The next `count` slices. Engines that take fewer at a time get them in several calls.
  void finish(int count) {
    const SliceSpan all{first_inside(), first_inside() + count};
    std::vector<Frame> clean;
    for (int k = 0; k < count; ++k) clean.push_back(begin_result(inside_[k].noisy));
    for (WorkedVolume& volume : volumes_) {
      const int most = volume.engine->slices_at_a_time();
      for (SliceSpan part{all.first, 0}; part.first < all.end; part.first = part.end) {
        part.end = std::min(part.first + most, all.end);
        const int k = part.first - all.first;
        if (is_any_wanted(k, part.size())) estimate(volume, part, k, clean);
      }
    }
    for (int k = 0; k < count; ++k) {
      if (!inside_.front().is_wanted) copy_all(inside_.front().noisy, clean[k]);
      inside_.pop_front();
      deliver(std::move(clean[k]));
    }
  }

  /// With the planes that pass through.
  Frame begin_result(const Frame& noisy) {
    Frame clean = pool_.acquire();
    clean.take_identity(noisy);
    for (int i = 0; i < format().planes(); ++i)
      if (params_.noise.sigma(i) == 0) copy_plane(noisy, i, clean);
    return clean;
  }
  void copy_all(const Frame& noisy, Frame& clean) const {
    for (int i = 0; i < format().planes(); ++i) copy_plane(noisy, i, clean);
  }

  bool is_any_wanted(int first, int count) const {
    return std::any_of(inside_.begin() + first, inside_.begin() + first + count,
                       [](const Inside& slice) { return slice.is_wanted; });
  }

  /// The slices of `part`, the first of which is number `first` of those in work.
  void estimate(WorkedVolume& volume, SliceSpan part, int first, std::vector<Frame>& clean) {
    const int i = volume.plane;
    std::vector<PlaneView<float>> views;
    while (static_cast<int>(volume.results.size()) < part.size())
      volume.results.emplace_back(format().plane_width(i), format().plane_height(i));
    for (int k = 0; k < part.size(); ++k) views.push_back(volume.results[k].view());
    volume.engine->estimate(part, there_, views);
    for (int k = 0; k < part.size(); ++k) {
      const Inside& slice = inside_[first + k];
      samples_.store(views[k], slice.guarded ? &slice.noisy : nullptr, i, clean[first + k]);
    }
  }

  Params params_;
  FilteredSamples samples_;
  FramePool pool_;
  std::vector<WorkedVolume> volumes_;
  int together_ = 1;  // slices that are estimated at a time
  SliceSpan there_;   // of this volume, so far
  std::deque<Inside> inside_;
};

}  // namespace

std::unique_ptr<Denoiser> open_slices(const Params& params, const FrameFormat& format,
                                      const VolumeEngineFactory& make_engine) {
  return std::make_unique<SlicesSession>(params, format, make_engine);
}

}  // namespace lull::nlm
