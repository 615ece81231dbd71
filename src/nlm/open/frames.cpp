// Pictures in the host's memory, also over time: time/frame_session.h knows which frame is worked
// on when, and which frames help it; this has their planes.

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

/// Planes that share their weights.
struct WorkedSet {
  PlaneSet planes;
  std::unique_ptr<FrameEngine> engine;
  std::array<Plane<float>, 3> samples, guides, results;
};

class GatheringWorker final : public FrameWorker {
 public:
  GatheringWorker(const Params& params, const FrameFormat& format,
                  const FrameEngineFactory& make_engine)
      : params_(params),
        format_(format),
        session_(session_plan(params, format)),
        samples_(params.noise, stabilisers_of(params)),
        pool_(format),
        slots_(session_.slots()) {
    for (PlaneSet& planes : plane_sets(format, params.noise)) add_set(planes, make_engine);
    if (params.temporal > 0) motion_.emplace(format, session_.main_sigma, session_.slots());
  }

  void take(const Frame& frame) override {
    if (frame.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU, for a session on the CPU; copy it to the host's");
    before_ = std::exchange(taken_, frame);
  }

  FrameDifference difference() override {
    return difference_of(taken_, before_, samples_.levels());
  }

  void load(int at) override {
    Slot& slot = slots_[at];
    slot = {.noisy = taken_};
    const Frame& guide = guide_of(taken_, params_.guided);
    for (WorkedSet& set : sets_) {
      PlaneViews samples, guides;
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k) {
        slot.guarded |= samples_.load(taken_, set.planes.planes[k], set.samples[k].view());
        samples[k] = std::as_const(set.samples[k]).view();
      }
      for (std::size_t k = 0; params_.guided && k < set.planes.guides.size(); ++k) {
        samples_.load(guide, set.planes.guides[k], set.guides[k].view());
        guides[k] = std::as_const(set.guides[k]).view();
      }
      set.engine->load(at, samples, guides, params_.holes ? holes_of(taken_).get() : nullptr);
    }
    if (motion_) motion_->load(at, guide);
    if (!motion_) taken_ = {};  // nothing will be compared with it
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
    for (WorkedSet& set : sets_) {
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
    // Of a margin: nobody wants its result.
    Frame same = pool_.acquire();
    for (int i = 0; i < format_.planes(); ++i) copy_plane(slot.noisy, i, same);
    return same;
  }

 private:
  /// A frame that is not out yet.
  struct Slot {
    Frame noisy;
    bool guarded = false;  // filters do not see all samples as they are (float_guard.h)
    bool is_filtered = false;
    Frame clean;
  };

  void add_set(PlaneSet& planes, const FrameEngineFactory& make_engine) {
    WorkedSet& set = sets_.emplace_back();
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
  std::vector<WorkedSet> sets_;
  std::optional<HostMotion> motion_;  // over time
  Frame taken_, before_;              // the frame taken last, and the one before it
};

}  // namespace

std::unique_ptr<FrameWorker> make_host_frame_worker(const Params& params, const FrameFormat& format,
                                                    const FrameEngineFactory& make_engine) {
  return std::make_unique<GatheringWorker>(params, format, make_engine);
}

}  // namespace lull::nlm
