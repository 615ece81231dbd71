#include "bm4d/open/host_worker.h"

#include <array>
#include <deque>
#include <vector>

#include "bm4d/cubes.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/filtered_samples.h"

namespace lull::bm4d {
namespace {

class HostWorker final : public VolumeWorker {
 public:
  HostWorker(const Params& params, const FrameFormat& format, const EngineFactory& make_engine,
             const ResultSamples& results)
      : format_(format), samples_(params.noise, {}), pool_(result_format(format, results)) {
    for (const PlanePlan& plan : plan_planes(params, format)) {
      passes_[plan.plane] = false;
      volumes_.push_back(
          {plan.plane, make_engine(plan.volume), {plan.volume.width, plan.volume.height}});
    }
  }

  void begin(int z) override {
    oldest_ = z;
    guarded_.clear();
    for (Volume& volume : volumes_) volume.engine->begin(z);
  }

  void load(int z, const Frame& slice) override {
    bool guarded = false;
    for (Volume& volume : volumes_) {
      const int i = volume.plane, width = format_.plane_width(i), height = format_.plane_height(i);
      const PlaneView<float> whole = volume.slice.view();
      const PlaneView<float> samples{whole.data, width, height, whole.stride};
      guarded |= samples_.load(slice, i, samples);
      for (int y = 0; y < whole.height; ++y)
        for (int x = y < height ? width : 0; x < whole.width; ++x)
          whole(x, y) = samples(mirrored(x, width), mirrored(y, height));
      volume.engine->load(z, whole);
    }
    guarded_.push_back(guarded);
  }

  void filter(const Layers& layers) override {
    for (Volume& volume : volumes_) {
      Layers own = layers;
      // A mask has the size of the first plane. The worker ignores the mask for planes of another
      // size.
      if (format_.plane_width(volume.plane) != format_.width ||
          format_.plane_height(volume.plane) != format_.height)
        own.wanted = nullptr;
      volume.engine->filter(own);
    }
  }

  void finish_basic(SliceSpan slices) override {
    for (int z = slices.first; z < slices.end; ++z)
      for (Volume& volume : volumes_) volume.engine->finish_basic(z);
  }

  Frame acquire() override { return pool_.acquire(); }

  void finish(int z, std::span<const Frame> noisy, std::span<const Frame> clean) override {
    for (std::size_t k = 0; k < noisy.size(); ++k, ++z) {
      const bool guarded = guarded_.at(static_cast<std::size_t>(z - oldest_));
      for (int i = 0; i < format_.planes(); ++i)
        if (passes_[i]) copy_plane(noisy[k], i, clean[k]);
      for (Volume& volume : volumes_) {
        const int i = volume.plane;
        volume.engine->finish(z, volume.slice.view());
        const PlaneView<float> whole = volume.slice.view();
        samples_.store({whole.data, format_.plane_width(i), format_.plane_height(i), whole.stride},
                       guarded ? &noisy[k] : nullptr, i, clean[k]);
      }
    }
    for (; oldest_ < z; ++oldest_) guarded_.pop_front();
  }

 private:
  /// The engine that filters one plane of all slices, such as the red plane. Planes without noise
  /// have no engine.
  struct Volume {
    int plane = 0;
    std::unique_ptr<VolumeEngine> engine;
    Plane<float> slice;  // extended to at least the side of a cube
  };

  FrameFormat format_;
  FilteredSamples samples_;
  FramePool pool_;
  std::vector<Volume> volumes_;
  std::array<bool, 3> passes_{true, true, true};  // planes without noise
  /// Element i states whether slice `oldest_` + i has out-of-range samples (float_guard.h).
  std::deque<bool> guarded_;
  int oldest_ = 0;
};

}  // namespace

std::unique_ptr<VolumeWorker> make_host_worker(const Params& params, const FrameFormat& format,
                                               const EngineFactory& make_engine,
                                               const ResultSamples& results) {
  return std::make_unique<HostWorker>(params, format, make_engine, results);
}

}  // namespace lull::bm4d
