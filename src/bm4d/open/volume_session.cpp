#include "bm4d/open/volume_session.h"

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/open/schedule.h"
#include "bm4d/open/wanted_cubes.h"
#include "core/error.h"
#include "core/float_guard.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"

namespace lull::bm4d {
namespace {

/// A plane with noise, whose samples of all slices are a volume.
struct Volume {
  int plane = 0;
  std::unique_ptr<VolumeEngine> engine;
  Plane<float> slice;  // continued up to a cube's side
};

class VolumeSession final : public Denoiser {
 public:
  VolumeSession(const Params& params, const FrameFormat& format, const EngineFactory& make_engine)
      : params_(params), format_(format), pool_(format) {
    const int side =
        params.phases == 1 ? params.hard.cube : std::max(params.hard.cube, params.wiener.cube);
    least_slices_ = side;
    int at_a_time = 1;
    for (int i = 0; i < format.planes(); ++i) {
      if (params.noise.sigma(i) == 0) continue;
      const VolumePlan plan{params, std::max(format.plane_width(i), side),
                            std::max(format.plane_height(i), side), params.noise.sigma(i)};
      volumes_.push_back({i, make_engine(plan), {plan.width, plan.height}});
      at_a_time = std::max(at_a_time, volumes_.back().engine->layers_at_a_time());
    }
    wanted_.emplace(params, std::max(format.width, side), std::max(format.height, side));
    schedules_.emplace_back(Phase::first, params.hard, at_a_time);
    if (params.phases == 2) schedules_.emplace_back(Phase::second, params.wiener, at_a_time);
    latency_ = margin(params).after + (at_a_time - 1) * (params.hard.step + params.wiener.step);
  }

  int latency() const noexcept override { return volumes_.empty() ? 0 : latency_; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a slice in the memory of a GPU (volumes come from the host); decode it on the CPU");
    if (volumes_.empty()) return noisy;
    const int z = noisy.slice >= 0 ? noisy.slice : next_slice_;
    if (open_ && z != next_slice_) end_volume();
    if (!open_) begin_volume(z);
    add(std::move(noisy));
    return next();
  }

  std::optional<Frame> next() override {
    if (ready_.empty()) return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  std::optional<Frame> drain() override {
    if (open_) end_volume();
    if (ready_.empty()) next_slice_ = 0;
    return next();
  }

 private:
  /// A slice that is not finished.
  struct Inside {
    Frame noisy;
    bool guarded = false;  // filters do not see all samples as they are (float_guard.h)
  };

  void begin_volume(int z) {
    open_ = true;
    first_ = next_slice_ = oldest_ = z;
    masked_ = false;
    wanted_->begin(z);
    for (Volume& volume : volumes_) volume.engine->begin(z);
    for (PhaseSchedule& schedule : schedules_) schedule.begin(z);
  }

  void add(Frame noisy) {
    inside_.push_back({std::move(noisy)});
    load(inside_.back(), next_slice_++);
    advance(0);
  }

  void load(Inside& slice, int z) {
    for (Volume& volume : volumes_) {
      const int i = volume.plane, width = format_.plane_width(i), height = format_.plane_height(i);
      const PlaneView<float> whole = volume.slice.view();
      const PlaneView<float> samples{whole.data, width, height, whole.stride};
      load_plane(slice.noisy, i, samples);
      if (format_.sample == SampleType::f32)
        slice.guarded |= guard_plane(slice.noisy, i, params_.noise.sigma(i), samples);
      for (int y = 0; y < whole.height; ++y)
        for (int x = y < height ? width : 0; x < whole.width; ++x)
          whole(x, y) = samples(mirrored(x, width), mirrored(y, height));
      volume.engine->load(z, whole);
    }
    masked_ |= slice.noisy.mask != nullptr;
    wanted_->add(slice.noisy.mask.get());
    schedules_[0].add_slice();
  }

  /// Does what a phase can do by now, and what follows from it in the next.
  void advance(std::size_t phase) {
    PhaseSchedule& schedule = schedules_[phase];
    finish_slices(phase);
    while (const std::optional<Layers> layers = schedule.take_layers()) {
      if (is_needed(phase, *layers)) filter(*layers);
      finish_slices(phase);
    }
  }

  void filter(const Layers& layers) {
    for (Volume& volume : volumes_)
      // Masks know voxels of the size of the first plane's.
      if (masked_ && format_.plane_width(volume.plane) == format_.width &&
          format_.plane_height(volume.plane) == format_.height)
        filter_wanted(layers, *volume.engine);
      else
        volume.engine->filter(layers);
  }

  /// Those layers alone that have a wanted cube, whoever they come together with: so a part of a
  /// volume has the same.
  void filter_wanted(const Layers& layers, VolumeEngine& engine) {
    const int step = (layers.phase == Phase::first ? params_.hard : params_.wiener).step;
    std::vector<std::uint8_t> cubes;
    for (int k = 0; k < layers.count;) {
      Layers run = layers;
      run.z = layers.z + k * step;
      run.count = 0;
      cubes.clear();
      std::size_t taken = 0;
      for (; k < layers.count; ++k, ++run.count) {
        if (!wanted_->choose(layers.phase, layers.z + k * step, cubes)) break;
        taken = cubes.size();
      }
      cubes.resize(taken);
      run.wanted = cubes.data();
      if (run.count > 0)
        engine.filter(run);
      else
        ++k;
    }
  }

  void finish_slices(std::size_t phase) {
    while (const std::optional<int> z = schedules_[phase].take_finished()) {
      if (phase + 1 == schedules_.size()) {
        finish(*z);
        continue;
      }
      for (Volume& volume : volumes_) volume.engine->finish_basic(*z);
      schedules_[phase + 1].add_slice();
      advance(phase + 1);
    }
  }

  /// Whether a result that is wanted depends on these layers.
  bool is_needed(std::size_t phase, const Layers& layers) const {
    SliceSpan reach = schedules_[phase].reach(layers);
    if (phase + 1 < schedules_.size()) {
      reach.first -= params_.wiener.reach();
      reach.end += params_.wiener.reach();
    }
    for (std::size_t i = 0; i < inside_.size(); ++i) {
      // The nearest slice that is wanted.
      const int wanted = oldest_ + static_cast<int>(i) - inside_[i].noisy.aside;
      if (reach.first <= wanted && wanted < reach.end) return true;
    }
    return false;
  }

  void finish(int z) {
    if (z >= next_slice_) return;  // beyond the end of a volume that is thinner than a cube
    const Inside slice = std::move(inside_.front());
    inside_.pop_front();
    oldest_ = z + 1;
    wanted_->forget_before(oldest_);
    Frame clean = pool_.acquire();
    clean.take_identity(slice.noisy);
    for (int i = 0; i < format_.planes(); ++i)
      if (params_.noise.sigma(i) == 0) copy_plane(slice.noisy, i, clean);
    for (Volume& volume : volumes_) {
      const int i = volume.plane;
      volume.engine->finish(z, volume.slice.view());
      const PlaneView<const float> whole = volume.slice.view();
      store_plane({whole.data, format_.plane_width(i), format_.plane_height(i), whole.stride},
                  clean, i);
      if (slice.guarded) unguard_plane(slice.noisy, i, params_.noise.sigma(i), clean);
    }
    ready_.push_back(std::move(clean));
  }

  void end_volume() {
    // A volume thinner than a cube is continued. None of its slices is finished yet.
    const int slices = next_slice_ - first_;
    for (int i = slices; i < least_slices_; ++i) {
      load(inside_[mirrored(i, slices)], first_ + i);
      advance(0);
    }
    for (std::size_t phase = 0; phase < schedules_.size(); ++phase) {
      schedules_[phase].end();
      advance(phase);
    }
    inside_.clear();
    open_ = false;
  }

  Params params_;
  FrameFormat format_;
  int least_slices_, latency_;
  std::vector<Volume> volumes_;
  std::vector<PhaseSchedule> schedules_;
  FramePool pool_;
  std::optional<WantedCubes> wanted_;
  bool masked_ = false;  // a slice of the volume has a mask
  bool open_ = false;    // a volume is
  int first_ = 0;        // its first slice
  int next_slice_ = 0;   // the one that comes
  int oldest_ = 0;       // the first of inside_
  std::deque<Inside> inside_;
  std::deque<Frame> ready_;
};

}  // namespace

std::unique_ptr<Denoiser> open_volumes(const Params& params, const FrameFormat& format,
                                       const EngineFactory& make_engine) {
  return std::make_unique<VolumeSession>(params, format, make_engine);
}

}  // namespace lull::bm4d
