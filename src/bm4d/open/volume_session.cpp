#include "bm4d/open/volume_session.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/open/schedule.h"
#include "bm4d/open/wanted_cubes.h"
#include "cuda/results/result_frames.h"
#include "time/slice_session.h"

namespace lull::bm4d {
namespace {

class VolumeSession final : public SliceSession {
 public:
  VolumeSession(const Params& params, const FrameFormat& format,
                std::unique_ptr<VolumeWorker> worker, const ResultSamples& results,
                SliceMemory memory)
      : SliceSession(format, memory, results),
        params_(params),
        worker_(std::move(worker)),
        // A GPU session also processes volumes without noise, so that results are in the requested
        // memory.
        passes_(plan_planes(params, format).empty() && memory == SliceMemory::host) {
    const int side = max_cube_side(params), at_a_time = at_a_time_ = worker_->layers_at_a_time();
    min_slices_ = side;
    for (const PlanePlan& plan : plan_planes(params, format)) {
      // A mask has the size of the first plane. The session ignores masks if planes with noise have
      // different sizes.
      uses_masks_ = uses_masks_ && format.plane_width(plan.plane) == format.width &&
                    format.plane_height(plan.plane) == format.height;
    }
    wanted_.emplace(params, std::max(format.width, side), std::max(format.height, side));
    schedules_.emplace_back(Phase::first, params.hard, at_a_time);
    if (params.phases == 2) schedules_.emplace_back(Phase::second, params.wiener, at_a_time);
    latency_ = margin(params).after + (at_a_time - 1) * (params.hard.step + params.wiener.step) +
               worker_->in_flight();
  }

  // Destroys the worker first, because its destructor waits for the GPU, which may still read the
  // slices in pending_ and pending_results_.
  ~VolumeSession() override { worker_.reset(); }

  int latency() const noexcept override { return passes_ ? 0 : latency_; }

 protected:
  bool passes() const override { return passes_; }

  void begin_volume(int z) override {
    first_ = next_slice_ = oldest_ = z;
    masked_ = false;
    wanted_->begin(z);
    worker_->begin(z);
    for (PhaseSchedule& schedule : schedules_) schedule.begin(z);
  }

  void add(Frame noisy, int z) override {
    pending_.push_back(std::move(noisy));
    next_slice_ = z + 1;
    load(pending_.back(), z);
    advance(0);
  }

  void end_volume() override {
    // The session extends a volume with fewer slices than a cube by mirroring. All slices of the
    // volume are still in `pending_`.
    const int slices = next_slice_ - first_;
    for (int i = slices; i < min_slices_; ++i) {
      load(pending_[mirrored(i, slices)], first_ + i);
      advance(0);
    }
    for (std::size_t phase = 0; phase < schedules_.size(); ++phase) {
      schedules_[phase].end();
      advance(phase);
    }
    await(0);
    pending_.clear();
  }

 private:
  void load(const Frame& slice, int z) {
    worker_->load(z, slice);
    masked_ |= slice.mask != nullptr && uses_masks_;
    wanted_->add(slice.mask.get());
    schedules_[0].add_slice();
  }

  /// Filters all reference cubes whose required slices are available to the phase `phase`, and
  /// passes the finished slices of this phase to the next phase.
  void advance(std::size_t phase) {
    PhaseSchedule& schedule = schedules_[phase];
    finish_slices(phase);
    while (const std::optional<Layers> layers = schedule.next_layers()) {
      if (is_needed(phase, *layers)) filter(*layers);
      finish_slices(phase);
    }
  }

  void filter(const Layers& layers) {
    if (masked_)
      filter_wanted(layers);
    else
      worker_->filter(layers);
  }

  /// Filters the layers that contain a required cube, and skips all others. A layer consists of the
  /// reference cubes with the same z position. The function decides for each layer separately, so a
  /// session for a part of a volume skips the same layers as a session for the complete volume.
  void filter_wanted(const Layers& layers) {
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
        worker_->filter(run);
      else
        ++k;
    }
  }

  void finish_slices(std::size_t phase) {
    for (SliceSpan slices; (slices = next_finished(phase)).size() > 0;) {
      if (phase + 1 == schedules_.size()) {
        finish(slices);
        continue;
      }
      worker_->finish_basic(slices);
      for (int z = slices.first; z < slices.end; ++z) schedules_[phase + 1].add_slice();
      advance(phase + 1);
    }
  }

  /// Returns the next finished slices: at most as many as a batch of reference cubes finishes,
  /// because the next phase has no memory for more.
  SliceSpan next_finished(std::size_t phase) {
    SliceSpan slices;
    const int most = at_a_time_ == 1 ? 1 : at_a_time_ * params_.hard.step;
    while (slices.size() < most) {
      const std::optional<int> z = schedules_[phase].next_finished();
      if (!z) break;
      if (slices.size() == 0) slices.first = *z;
      slices.end = *z + 1;
    }
    return slices;
  }

  /// Returns whether a required result depends on the reference cubes of `layers`.
  bool is_needed(std::size_t phase, const Layers& layers) const {
    SliceSpan reach = schedules_[phase].reach(layers);
    if (phase + 1 < schedules_.size()) {
      reach.first -= params_.wiener.reach();
      reach.end += params_.wiener.reach();
    }
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      // Index of the required slice that is nearest to the slice `oldest_` + i.
      const int wanted = oldest_ + static_cast<int>(i) - pending_[i].context_distance;
      if (reach.first <= wanted && wanted < reach.end) return true;
    }
    return false;
  }

  void finish(SliceSpan slices) {
    // Slices from index `next_slice_` on are mirrored copies that extend a short volume. The
    // session returns no results for these copies.
    slices.end = std::min(slices.end, next_slice_);
    if (slices.size() <= 0) return;
    std::vector<Frame> noisy, clean;
    for (int z = slices.first; z < slices.end; ++z) {
      noisy.push_back(std::move(pending_.front()));
      pending_.pop_front();
      clean.push_back(worker_->acquire());
      clean.back().copy_info(noisy.back());
    }
    oldest_ = slices.end;
    wanted_->forget_before(oldest_);
    worker_->finish(slices.first, noisy, clean);
    for (std::size_t k = 0; k < noisy.size(); ++k)
      pending_results_.push_back({std::move(noisy[k]), std::move(clean[k])});
    await(worker_->in_flight());
  }

  /// Waits until at most `in_flight` results are incomplete.
  void await(int in_flight) {
    while (static_cast<int>(pending_results_.size()) > in_flight) {
      worker_->await();
      deliver(cuda::publish_frame(std::move(pending_results_.front().clean)));
      pending_results_.pop_front();
    }
  }

  /// A result whose samples the worker may not have written completely. The worker needs the noisy
  /// slice until the result is complete.
  struct PendingResult {
    Frame noisy, clean;
  };

  Params params_;
  std::unique_ptr<VolumeWorker> worker_;
  const bool passes_;  // all planes pass through unchanged
  int min_slices_, at_a_time_, latency_;
  bool uses_masks_ = true;
  std::vector<PhaseSchedule> schedules_;
  std::optional<WantedCubes> wanted_;
  bool masked_ = false;        // the volume has a slice with a mask
  int first_ = 0;              // first slice of the volume
  int next_slice_ = 0;         // one past the last slice that was given
  int oldest_ = 0;             // slice number of the first element of pending_
  std::deque<Frame> pending_;  // slices that are not finished
  std::deque<PendingResult> pending_results_;
};

}  // namespace

std::vector<PlanePlan> plan_planes(const Params& params, const FrameFormat& format) {
  const int side = max_cube_side(params);
  std::vector<PlanePlan> plans;
  for (int i = 0; i < format.planes(); ++i)
    if (params.noise.sigma(i) > 0)
      plans.push_back({i,
                       {params, std::max(format.plane_width(i), side),
                        std::max(format.plane_height(i), side), params.noise.sigma(i)}});
  return plans;
}

std::unique_ptr<Denoiser> open_volumes(const Params& params, const FrameFormat& format,
                                       std::unique_ptr<VolumeWorker> worker,
                                       const ResultSamples& results, SliceMemory memory) {
  return std::make_unique<VolumeSession>(params, format, std::move(worker), results, memory);
}

}  // namespace lull::bm4d
