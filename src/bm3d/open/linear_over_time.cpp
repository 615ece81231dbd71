// Sessions of temporal linear combinations (linear/params.h). The phases of FrameSession are the
// pilot and the iterations.

#include <utility>
#include <vector>

#include "bm3d/open/linear_frames.h"
#include "bm3d/open/linear_session.h"
#include "bm3d/open/pass_through.h"
#include "bm3d/phase_plan.h"
#include "linear/params.h"
#include "linear/search.h"
#include "time/frame_session.h"
#include "time/frame_statistics.h"
#include "time/host_motion.h"

namespace lull::bm3d {
namespace {

using linear::Source;

static_assert(linear_phases == 1 + linear::iterations_over_time);

class LinearWorker : public FrameWorker {
 public:
  LinearWorker(const Params& params, const FrameFormat& format,
               std::unique_ptr<linear::Engine> engine, const ResultSamples& results)
      : format_(format),
        plan_(linear_session_plan(params, format)),
        frames_(params, format, results),
        engine_(std::move(engine)),
        motion_(format, plan_.main_sigma, plan_.slots()),
        slots_(plan_.slots()) {
    for (Slot& slot : slots_) {
      slot.pictures = frames_.make_pictures();
      for (auto& sums : slot.sums) sums = engine_->make_sums();
    }
  }

  void take(const Frame& frame) override {
    refuse_device_memory(frame);
    previous_frame_ = std::exchange(last_frame_, frame);
  }

  void load(int at) override {
    Slot& slot = slots_[at];
    slot.frame = last_frame_;
    frames_.load(last_frame_, slot.pictures);
    motion_.load(at, last_frame_);
    previous_frame_ = {};
    for (const linear::SetPlan& plan : frames_.sets())
      for (const int i : plan.set.planes) clear(slot, i);
  }

  FrameDifference difference() override {
    return difference_of(last_frame_, previous_frame_, frames_.levels());
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_.prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    const int step = static_cast<int>(phase);
    for (const linear::SetPlan& plan : frames_.sets()) {
      linear::Groups& groups = slots_[frames[0].frame].groups[plan.set.planes.front()];
      if (step == 0 || linear::matches(plan.params, step)) match(step, plan, frames, groups);
      for (const int i : plan.set.planes) {
        std::vector<linear::FramePlane> planes;
        for (const auto& [offset, at] : frames)
          planes.push_back({frames_.state(slots_[at].pictures, i), slots_[at].sums[i].get()});
        engine_->combine(linear::step_of(plan.params, step), groups, planes);
      }
    }
  }

  void finish_phase(Phase phase, int at) override {
    if (phase == Phase::first) motion_.release(at);
    finish_step(static_cast<int>(phase), slots_[at]);
  }

  Frame finish(int at) override {
    Slot& slot = slots_[at];
    finish_step(linear::iterations_over_time, slot);
    Frame clean = frames_.store(slot.frame, slot.pictures);
    slot.frame = {};
    return clean;
  }

 private:
  struct Slot {
    Frame frame;
    LinearPictures pictures;
    std::array<std::unique_ptr<linear::Sums>, 3> sums;
    std::array<linear::Groups, 3> groups;  // one for each set, stored at its first plane
  };

  void clear(Slot& slot, int plane) const {
    engine_->clear(*slot.sums[plane], format_.plane_width(plane), format_.plane_height(plane));
  }

  /// Finds the groups of the reference patches of frames[0].
  void match(int step, const linear::SetPlan& plan, std::span<const SlotFrame> frames,
             linear::Groups& groups) {
    const PlaneSet& set = plan.set;
    const int plane = set.planes.front(), main = main_plane(format_.layout == Layout::rgb);
    const int width = format_.plane_width(plane), height = format_.plane_height(plane);
    const linear::GroupSizes sizes =
        fitted(step == 0 ? plan.params.pilot : plan.params.iteration, width, height);
    std::vector<PlaneView<const float>> guides;
    std::vector<linear::FrameMotion> motion;
    for (const auto& [offset, at] : frames) {
      guides.push_back(
          frames_.guide(set, step == 0 ? Source::y : Source::x, false, slots_[at].pictures));
      motion.push_back(
          {offset, offset == 0 ? nullptr : &motion_.cells(frames[0].frame, at, offset)});
    }
    const bool is_luma = plane == 0;
    const MotionGrid grid{width,
                          height,
                          sizes.step,
                          is_luma ? 0 : format_.chroma_shift_x,
                          is_luma ? 0 : format_.chroma_shift_y,
                          format_.plane_width(main),
                          format_.plane_height(main)};
    const float sigma = guide_sigma(set, format_, frames_.noise());
    groups.reset(width, height, sizes, linear::plan_search(grid, sizes, sigma, motion));
    engine_->match(guides, plan.range, nullptr, groups);
  }

  /// Computes the estimates x and the partly denoised pictures z (linear/params.h) from the sums of
  /// a step.
  void finish_step(int step, Slot& slot) {
    for (const linear::SetPlan& plan : frames_.sets()) {
      const linear::GroupSizes& sizes = step == 0 ? plan.params.pilot : plan.params.iteration;
      for (const int i : plan.set.planes) {
        const linear::PlaneState state = frames_.state(slot.pictures, i);
        const int side = fitted(sizes, state.y.width, state.y.height).side;
        engine_->finish(linear::step_of(plan.params, step), side, *slot.sums[i], state);
        if (step == 0) linear::start_iterations(state);
        clear(slot, i);
      }
    }
  }

  FrameFormat format_;
  SessionPlan plan_;
  LinearFrames frames_;
  std::unique_ptr<linear::Engine> engine_;
  HostMotion motion_;
  Frame last_frame_, previous_frame_;  // last accepted frame, and the one before it
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<Denoiser> open_linear_over_time(const Params& params, const FrameFormat& format,
                                                std::unique_ptr<linear::Engine> engine,
                                                const ResultSamples& results) {
  return open_session(linear_session_plan(params, format), format,
                      std::make_unique<LinearWorker>(params, format, std::move(engine), results));
}

}  // namespace lull::bm3d
