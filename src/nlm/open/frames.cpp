// Sessions of non-local means for frames in host memory. The class FrameSession
// (time/frame_session.h) schedules frames, and the worker in this file processes planes.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "match/frame_guide.h"
#include "nlm/open/sessions.h"
#include "nlm/plans.h"
#include "noise/filtered_samples.h"
#include "time/frame_session.h"
#include "time/frame_statistics.h"
#include "time/host_motion.h"

namespace lull::nlm {
namespace {

/// Planes that the worker filters with the same weights.
struct HostPlaneSet {
  PlaneSet planes;
  std::unique_ptr<FrameEngine> engine;
  std::array<Plane<float>, 3> samples, guides, results;
};

class GatheringWorker final : public FrameWorker {
 public:
  GatheringWorker(const Params& params, const FrameFormat& format,
                  const FrameEngineFactory& make_engine, const ResultSamples& results)
      : params_(params),
        format_(format),
        session_(session_plan(params, format)),
        samples_(params.noise, stabilisers_of(params)),
        pool_(result_format(format, results)),
        slots_(session_.slots()) {
    for (PlaneSet& planes : plane_sets(format, params.noise)) add_set(planes, make_engine);
    if (params.temporal > 0) motion_.emplace(format, session_.main_sigma, session_.slots());
  }

  void take(const Frame& frame) override {
    if (frame.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (this session runs on the CPU); copy it to host memory");
    // The worker compares the stored frame with the next frame, so the stored frame must be valid.
    // The check therefore comes before the assignment.
    (void)guide_of(frame, params_.guided);
    if (params_.holes) (void)holes_of(frame);
    previous_frame_ = std::exchange(last_frame_, frame);
  }

  FrameDifference difference() override {
    return difference_of(last_frame_, previous_frame_, samples_.levels());
  }

  void load(int at) override {
    Slot& slot = slots_[at];
    slot = {.noisy = last_frame_};
    const Frame& guide = guide_of(last_frame_, params_.guided);
    for (HostPlaneSet& set : sets_) {
      PlaneViews samples, guides;
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k) {
        slot.guarded |= samples_.load(last_frame_, set.planes.planes[k], set.samples[k].view());
        samples[k] = std::as_const(set.samples[k]).view();
      }
      for (std::size_t k = 0; params_.guided && k < set.planes.guides.size(); ++k) {
        samples_.load(guide, set.planes.guides[k], set.guides[k].view());
        guides[k] = std::as_const(set.guides[k]).view();
      }
      set.engine->load(at, samples, guides, params_.holes ? holes_of(last_frame_).get() : nullptr);
    }
    if (motion_) motion_->load(at, guide);
    // Without motion estimation, the worker does not compare the next frame with the current frame,
    // so it releases the current frame.
    if (!motion_) last_frame_ = {};
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase, std::span<const SlotFrame> frames) override {
    Slot& slot = slots_[frames[0].frame];
    slot.clean = pool_.acquire();
    slot.is_filtered = true;
    for (int i = 0; i < format_.planes(); ++i)
      if (params_.noise.sigma(i) == 0) copy_plane(slot.noisy, i, slot.clean);
    for (HostPlaneSet& set : sets_) {
      std::array<CandidateFrame, max_frames> candidates;
      for (std::size_t f = 0; f < frames.size(); ++f)
        candidates[f] = {frames[f].frame,
                         f > 0 ? motion_->cells(frames[0].frame, frames[f].frame, frames[f].offset)
                               : std::span<const Motion>{}};
      std::array<PlaneView<float>, 3> results;
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k) results[k] = set.results[k].view();
      set.engine->estimate({candidates.data(), frames.size()}, results);
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k)
        samples_.store(results[k], slot.guarded ? &slot.noisy : nullptr, set.planes.planes[k],
                       slot.clean);
    }
  }

  void finish_phase(Phase, int) override {}

  Frame finish(int at) override {
    Slot slot = std::exchange(slots_[at], {});
    if (slot.is_filtered) return std::move(slot.clean);
    // The session does not filter a frame whose result the caller discards. For such a frame, the
    // function only copies the noisy samples.
    Frame same = pool_.acquire();
    for (int i = 0; i < format_.planes(); ++i) copy_plane(slot.noisy, i, same);
    return same;
  }

 private:
  /// A frame whose result the worker has not returned yet.
  struct Slot {
    Frame noisy;
    // True if the worker replaced out-of-range samples of the frame (float_guard.h).
    bool guarded = false;
    bool is_filtered = false;
    Frame clean;
  };

  void add_set(PlaneSet& planes, const FrameEngineFactory& make_engine) {
    HostPlaneSet& set = sets_.emplace_back();
    const FramePlan plan = frame_plan(params_, format_, planes);
    for (int k = 0; k < plan.planes; ++k) {
      set.samples[k] = Plane<float>(plan.width, plan.height);
      set.results[k] = Plane<float>(plan.width, plan.height);
    }
    for (int k = 0; params_.guided && k < plan.guides; ++k)
      set.guides[k] = Plane<float>(plan.width, plan.height);
    set.planes = std::move(planes);
    set.engine = make_engine(plan);
  }

  Params params_;
  FrameFormat format_;
  SessionPlan session_;
  FilteredSamples samples_;
  FramePool pool_;
  std::vector<Slot> slots_;
  std::vector<HostPlaneSet> sets_;
  std::optional<HostMotion> motion_;   // null without a temporal radius
  Frame last_frame_, previous_frame_;  // the last frame taken, and the frame before it
};

}  // namespace

std::unique_ptr<FrameWorker> make_host_frame_worker(const Params& params, const FrameFormat& format,
                                                    const FrameEngineFactory& make_engine,
                                                    const ResultSamples& results) {
  return std::make_unique<GatheringWorker>(params, format, make_engine, results);
}

}  // namespace lull::nlm
