// The worker of non-local means for slices in host memory. Each plane is a separate volume.

#include <algorithm>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "match/frame_guide.h"
#include "nlm/open/sessions.h"
#include "nlm/plans.h"
#include "noise/filtered_samples.h"

namespace lull::nlm {
namespace {

/// A plane with noise.
struct HostVolume {
  int plane = 0;
  std::unique_ptr<VolumeEngine> engine;
  Plane<float> samples, guide;
  std::vector<Plane<float>> results;  // one plane for each slice of a call of estimate()
};

class HostSlicesWorker final : public SlicesWorker {
 public:
  HostSlicesWorker(const Params& params, const FrameFormat& format,
                   const VolumeEngineFactory& make_engine, const ResultSamples& results)
      : params_(params),
        format_(format),
        samples_(params.noise, stabilisers_of(params)),
        pool_(result_format(format, results)) {
    for (int i = 0; i < format.planes(); ++i) {
      if (params.noise.sigma(i) == 0) continue;
      const VolumePlan plan = volume_plan(params, format, i);
      HostVolume& volume = volumes_.emplace_back(HostVolume{
          .plane = i, .engine = make_engine(plan), .samples = {plan.width, plan.height}});
      if (params.guided) volume.guide = Plane<float>(plan.width, plan.height);
      batch_size_ = std::max(batch_size_, volume.engine->slices_at_a_time());
    }
  }

  int slices_at_a_time() const override { return batch_size_; }

  void begin(int z) override {
    for (HostVolume& volume : volumes_) volume.engine->begin(z);
  }

  void load(int z, PendingSlice& slice) override {
    const Frame& guide = guide_of(slice.noisy, params_.guided);
    for (HostVolume& volume : volumes_) {
      slice.guarded |= samples_.load(slice.noisy, volume.plane, volume.samples.view());
      if (params_.guided) samples_.load(guide, volume.plane, volume.guide.view());
      volume.engine->load(z, std::as_const(volume.samples).view(),
                          std::as_const(volume.guide).view());
    }
  }

  /// The caller may request more slices than the engine processes at a time.
  void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) override {
    for (PendingSlice& slice : slices) {
      slice.clean = pool_.acquire();
      for (int i = 0; i < format_.planes(); ++i)
        if (!slice.is_wanted || params_.noise.sigma(i) == 0)
          copy_plane(slice.noisy, i, slice.clean);
    }
    for (HostVolume& volume : volumes_) {
      const int max_slices = volume.engine->slices_at_a_time();
      for (SliceSpan part{span.first, 0}; part.first < span.end; part.first = part.end) {
        part.end = std::min(part.first + max_slices, span.end);
        estimate(volume, part, available, slices.subspan(part.first - span.first, part.size()));
      }
    }
  }

 private:
  void estimate(HostVolume& volume, SliceSpan part, SliceSpan available,
                std::span<PendingSlice> slices) {
    if (std::ranges::none_of(slices, &PendingSlice::is_wanted)) return;
    const int i = volume.plane;
    std::vector<PlaneView<float>> views;
    while (volume.results.size() < slices.size())
      volume.results.emplace_back(format_.plane_width(i), format_.plane_height(i));
    for (std::size_t k = 0; k < slices.size(); ++k) views.push_back(volume.results[k].view());
    volume.engine->estimate(part, available, views);
    for (std::size_t k = 0; k < slices.size(); ++k)
      if (const PendingSlice& slice = slices[k]; slice.is_wanted)
        samples_.store(views[k], slice.guarded ? &slice.noisy : nullptr, i, slice.clean);
  }

  Params params_;
  FrameFormat format_;
  FilteredSamples samples_;
  FramePool pool_;
  std::vector<HostVolume> volumes_;
  int batch_size_ = 1;
};

}  // namespace

std::unique_ptr<SlicesWorker> make_host_slices_worker(const Params& params,
                                                      const FrameFormat& format,
                                                      const VolumeEngineFactory& make_engine,
                                                      const ResultSamples& results) {
  return std::make_unique<HostSlicesWorker>(params, format, make_engine, results);
}

}  // namespace lull::nlm
