#include "bm3d/open/host_session.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bm3d/host_bytes.h"
#include "bm3d/open/host_slots.h"
#include "bm3d/open/pass_through.h"
#include "bm3d/stabilisers.h"
#include "core/colour.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "match/frame_guide.h"
#include "match/guide.h"
#include "match/motion_grid.h"
#include "noise/filtered_samples.h"
#include "noise/holes.h"
#include "time/frame_session.h"
#include "time/frame_statistics.h"
#include "time/host_motion.h"
#include "time/motion.h"

namespace lull::bm3d {
namespace {

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

/// Computes the weighted mean of an estimate and the noisy picture. `share` is the weight of the
/// noisy picture.
void mix(PlaneView<const float> estimate, PlaneView<const float> noisy, float share,
         PlaneView<float> to) {
  for (int y = 0; y < to.height; ++y) {
    const float *from = noisy.row(y), *basic = estimate.row(y);
    float* mixed = to.row(y);
    for (int x = 0; x < to.width; ++x) mixed[x] = basic[x] + share * (from[x] - basic[x]);
  }
}

class HostWorker : public FrameWorker {
 public:
  HostWorker(const Params& params, const FrameFormat& format, std::unique_ptr<PhaseEngine> engine,
             const ResultSamples& results)
      : params_(params),
        format_(format),
        session_(session_plan(params, format)),
        samples_(params.noise, stabilisers_of(params, format.layout)),
        engine_(std::move(engine)),
        copies_(format),
        pool_(result_format(format, results)),
        memory_(format) {
    for (const Phase phase : all_phases) plans_.push_back(plan_phase(phase, params, format));
    for (int i = 0; i < format.planes(); ++i) passes_through_ |= !is_stored(i);
    for (const PhasePlan& plan : plans_)
      has_composite_guide_ |= std::ranges::any_of(plan.sets, &PlaneSet::is_composite);
    if (!filters()) return;
    last_use_of_groups_ = last_use_of_groups();
    loads_samples_ = engine_->loads_samples() && filters_samples(params, format);
    slots_.resize(session_.slots());
    for (Slot& slot : slots_) prepare(slot);
    if (params.temporal > 0) motion_.emplace(format, session_.main_sigma, session_.slots());
  }

  /// Returns true if the session filters at least one plane.
  bool filters() const { return !plan(Phase::first).sets.empty(); }

  void take(const Frame& frame) override {
    refuse_device_memory(frame);
    // Throws for an invalid frame before the worker stores the frame. Otherwise, the worker would
    // compare the next frame with the invalid one.
    (void)lull::guide_of(frame, params_.guided);
    if (params_.holes) (void)holes_of(frame);
    previous_frame_ = std::exchange(last_frame_, frame);
  }

  void load(int at) override {
    const Frame& frame = last_frame_;
    Slot& slot = slots_[at];
    slot.holes = params_.holes ? holes_of(frame) : nullptr;
    if (loads_samples_)
      slot.frame = copy_of(frame);
    else
      load_planes(frame, slot);
    const Frame& guide = lull::guide_of(frame, params_.guided);
    if (params_.guided)
      prepare_guide(Phase::first, load_guide_planes(guide, slot), slot);
    else
      make_first_guide(slot);
    if (motion_) motion_->load(at, guide);
    previous_frame_ = {};
    if (!motion_) last_frame_ = {};  // no later frame is compared with this frame
  }

  FrameDifference difference() override {
    return difference_of(last_frame_, previous_frame_, samples_.levels());
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    for (const PlaneSet& set : plan(phase).sets) run(plan(phase), set, frames);
    if (phase == last_use_of_groups_) memory_.release_groups(slots_[frames[0].frame].groups);
  }

  void finish_phase(Phase phase, int at) override {
    Slot& slot = slots_[at];
    if (motion_) motion_->release(at);
    if (loads_samples_) memory_.release(0, slot.luma_guide);
    divide(slot, plan(phase));
    prepare_guide(Phase::second, params_.guided ? views(slot.guide_planes) : estimates(slot), slot);
  }

  Frame finish(int at) override {
    Slot& slot = slots_[at];
    // The final result overwrites the basic estimate, which no later step reads.
    divide(slot, plans_[params_.phases - 1]);
    std::array<PlaneView<float>, 3> result;
    for (int i = 0; i < format_.planes(); ++i)
      result[i] = (is_filtered(i) ? slot.basic : slot.noisy)[i].view();
    if (format_.layout == Layout::rgb) apply_colour_matrix(opponent_inverse, result);
    Frame clean = pool_.acquire();
    for (int i = 0; i < format_.planes(); ++i) {
      if (is_stored(i))
        samples_.store(result[i], slot.guarded ? &slot.frame : nullptr, i, clean);
      else
        copy_plane(slot.frame, i, clean);
    }
    slot.frame = {};
    memory_.release(slot);
    return clean;
  }

 private:
  Plane<float> plane_of(int i) const { return {format_.plane_width(i), format_.plane_height(i)}; }
  bool is_filtered(int i) const {
    return plan(Phase::first).noise.sigma(i) > 0 && fits_patch(format_, i);
  }
  /// Returns true if the session computes plane `i` of the result.
  bool is_stored(int i) const { return params_.noise.sigma(i) > 0 && fits_patch(format_, i); }
  /// Returns true if the session mixes basic estimates and Frame::guide with the noisy picture
  /// (mix()) before it uses them as guides.
  bool is_mixed() const { return plan(Phase::second).guide_share > 0; }
  /// Returns true if the session stores a separate luma guide: a mixture of the noisy luma and the
  /// basic estimate, or of the noisy luma and Frame::guide. Otherwise, the luma guide is the basic
  /// estimate or Frame::guide itself.
  bool stores_luma_guide() const { return is_mixed() && (params_.phases > 1 || params_.guided); }

  void prepare(Slot& slot) const {
    for (int i = 0; i < format_.planes(); ++i) {
      if (!loads_samples_) slot.noisy[i] = plane_of(i);
      if (params_.guided) slot.guide_planes[i] = plane_of(i);
      if (!is_filtered(i)) continue;
      slot.sums[i] = engine_->make_sums(format_.plane_width(i), format_.plane_height(i));
    }
    if (has_composite_guide_) slot.composite_guide = plane_of(1);
  }

  void load_planes(const Frame& frame, Slot& slot) {
    slot.guarded = false;
    for (int i = 0; i < format_.planes(); ++i)
      slot.guarded |= samples_.load(frame, i, slot.noisy[i].view());
    if (passes_through_ || slot.guarded) slot.frame = frame;
    if (format_.layout == Layout::rgb)
      apply_colour_matrix(opponent_forward,
                          {slot.noisy[0].view(), slot.noisy[1].view(), slot.noisy[2].view()});
  }

  /// Returns a copy of the samples of a frame, because the caller of the session may change the
  /// original.
  Frame copy_of(const Frame& frame) { return copied(frame, copies_); }

  /// Returns a noisy plane as floats. If the slot stores the frame in the sample format of the
  /// input, the function converts the plane and writes the floats to `memory`.
  PlaneView<const float> noisy_plane(const Slot& slot, int i, Plane<float>& memory) {
    if (!loads_samples_) return read(slot.noisy[i]);
    memory_.acquire(i, memory);
    load_plane(slot.frame, i, memory.view());
    return read(memory);
  }

  /// Loads Frame::guide in the colour space in which the matcher compares patches.
  PlaneViews load_guide_planes(const Frame& guide, Slot& slot) {
    HostPlanes& guide_planes = slot.guide_planes;
    for (int i = 0; i < format_.planes(); ++i) samples_.load(guide, i, guide_planes[i].view());
    if (format_.layout == Layout::rgb)
      apply_colour_matrix(opponent_forward,
                          {guide_planes[0].view(), guide_planes[1].view(), guide_planes[2].view()});
    return views(guide_planes);
  }

  static PlaneViews views(const HostPlanes& planes) {
    return {read(planes[0]), read(planes[1]), read(planes[2])};
  }
  /// Returns the planes of a frame: the basic estimates of filtered planes, and the noisy samples
  /// of unfiltered planes.
  PlaneViews estimates(const Slot& slot) const {
    PlaneViews estimates;
    for (int i = 0; i < format_.planes(); ++i)
      estimates[i] = read((is_filtered(i) ? slot.basic : slot.noisy)[i]);
    return estimates;
  }

  /// Returns true if the phase has a set of planes whose guide contains chroma plane `i`.
  static bool matches_in_chroma(const PhasePlan& plan, int i) {
    return std::ranges::any_of(plan.sets,
                               [&](const PlaneSet& set) { return set.chroma_weights[i - 1] != 0; });
  }

  /// Makes the guides of the first phase from the noisy picture.
  void make_first_guide(Slot& slot) {
    PlaneViews noisy{noisy_plane(slot, 0, slot.luma_guide)};
    HostPlanes chroma;
    for (const int i : {1, 2})
      if (matches_in_chroma(plan(Phase::first), i)) noisy[i] = noisy_plane(slot, i, chroma[i]);
    make_guide(plan(Phase::first), noisy, slot.composite_guide);
    for (const int i : {1, 2}) memory_.release(i, chroma[i]);
  }

  /// Makes the guides of a phase from `estimates`, mixed with the noisy picture (mix()).
  void prepare_guide(Phase phase, PlaneViews estimates, Slot& slot) {
    if (std::ranges::all_of(plan(phase).sets,
                            [&](const PlaneSet& set) { return plan(phase).reuses_groups(set); }))
      return;          // all sets reuse their groups; nothing is matched
    HostPlanes mixed;  // chroma planes that are part of a guide
    if (is_mixed()) {
      const auto mix_plane = [&](int i, Plane<float>& to) {
        memory_.acquire(i, to);
        mix(estimates[i], noisy_plane(slot, i, to), plan(Phase::second).guide_share, to.view());
        estimates[i] = read(to);
      };
      mix_plane(0, slot.luma_guide);
      for (const int i : {1, 2})
        if (matches_in_chroma(plan(phase), i)) mix_plane(i, mixed[i]);
    }
    make_guide(plan(phase), estimates, slot.composite_guide);
    for (const int i : {1, 2}) memory_.release(i, mixed[i]);
  }

  static void clear(Plane<float>& plane) {
    for (int y = 0; y < plane.height(); ++y) std::fill_n(plane.view().row(y), plane.width(), 0.0f);
  }

  const PhasePlan& plan(Phase phase) const { return plans_[static_cast<std::size_t>(phase)]; }

  /// Makes the guides of a phase that combine several planes (PlaneSet::is_composite()).
  void make_guide(const PhasePlan& plan, const PlaneViews& planes, Plane<float>& guide) const {
    for (const PlaneSet& set : plan.sets) {
      if (!set.is_composite()) continue;
      if (set.uses_luma)
        box_average(planes[0], format_.chroma_shift_x, format_.chroma_shift_y, guide.view());
      else
        clear(guide);
      for (const int i : {1, 2})
        if (const float weight = set.chroma_weights[i - 1]; weight != 0)
          add_weighted(planes[i], weight, guide.view());
    }
  }

  /// Runs a phase on a set of planes, for the reference patches of frames[0].
  void run(const PhasePlan& plan, const PlaneSet& set, std::span<const SlotFrame> frames) {
    KeptGroups& groups = slots_[frames[0].frame].groups[set.planes.front()];
    if (groups.empty()) memory_.acquire_groups(set.planes.front(), groups);
    std::vector<PhaseFrame> parts;
    for (const auto& [offset, at] : frames) {
      const Slot& slot = slots_[at];
      PhasePlanes part;
      part.guide.samples = read(guide_of(plan.phase, set, slot));
      part.guide.holes = slot.holes.get();
      for (std::size_t p = 0; p < set.planes.size(); ++p) {
        part.noisy[p] = read(slot.noisy[set.planes[p]]);
        if (loads_samples_) part.frame = &slot.frame;
        part.basic[p] = read(slot.basic[set.planes[p]]);
        part.sums[p] = slot.sums[set.planes[p]].get();
      }
      parts.push_back({offset, part});
    }
    const PhaseInput input{plan, set, parts,
                           plan.guide_share * guide_sigma(set, format_, plan.noise), &groups};
    const int plane = set.planes.front();
    const auto add_motion = [&](int step) {
      for (std::size_t f = 1; f < parts.size(); ++f)
        parts[f].frame.guide.motion =
            motion(step, frames[0].frame, frames[f].frame, frames[f].offset, plane);
    };
    if (plan.search_step > 0) {
      add_motion(plan.search_step);
      engine_->search(input);
    }
    add_motion(plan.params.step);
    engine_->run(input);
  }

  const Plane<float>& guide_of(Phase phase, const PlaneSet& set, const Slot& slot) const {
    if (set.is_composite()) return slot.composite_guide;
    if (phase == Phase::first && !params_.guided)
      return loads_samples_ ? slot.luma_guide : slot.noisy[0];
    // A phase that reuses stored groups has no guide, so the engine needs only the size of the
    // planes.
    if (plan(phase).reuses_groups(set)) return slot.basic[0];
    if (stores_luma_guide()) return slot.luma_guide;
    return params_.guided ? slot.guide_planes[0] : slot.basic[0];
  }

  /// Returns the motion vectors from the frame in slot `from` to the frame in slot `to`, one for
  /// each bundle. A bundle consists of 8x4 reference patches of `plane` with the step `step`.
  std::span<const Motion> motion(int step, int from, int to, int offset, int plane) {
    const std::vector<Motion>& cells = motion_->cells(from, to, offset);
    const int main = main_plane(format_.layout == Layout::rgb);
    const bool luma = plane == 0;
    std::vector<Motion>& bundles = slots_[from].motion[offset];
    bundle_motion(cells,
                  {format_.plane_width(plane), format_.plane_height(plane), step,
                   luma ? 0 : format_.chroma_shift_x, luma ? 0 : format_.chroma_shift_y,
                   format_.plane_width(main), format_.plane_height(main)},
                  bundles);
    return bundles;
  }

  /// Returns the last phase that uses stored groups, either unchanged or as candidates.
  Phase last_use_of_groups() const {
    const auto uses_groups = [](const PhasePlan& plan) {
      return std::ranges::any_of(plan.sets, [&](const PlaneSet& set) {
        return plan.propagates(set) || plan.reuses_groups(set);
      });
    };
    int last = params_.phases - 1;
    while (last > 0 && !uses_groups(plans_[last])) --last;
    return static_cast<Phase>(last);
  }

  /// Computes the estimates from the sums, and writes them to Slot::basic.
  void divide(Slot& slot, const PhasePlan& plan) {
    for (int i = 0; i < format_.planes(); ++i) {
      if (!is_filtered(i)) continue;
      memory_.acquire(i, slot.basic[i]);
      engine_->finish(plan, *slot.sums[i], slot.basic[i].view());
    }
  }

  Params params_;
  FrameFormat format_;
  std::vector<PhasePlan> plans_;
  SessionPlan session_;
  FilteredSamples samples_;
  std::unique_ptr<PhaseEngine> engine_;
  FramePool copies_, pool_;            // memory of noisy frames and of results
  bool has_composite_guide_ = false;   // at least one set has a guide computed from several planes
  bool passes_through_ = false;        // at least one plane is not filtered
  bool loads_samples_ = false;         // whether the engine loads samples from Slot::frame
  Frame last_frame_, previous_frame_;  // last accepted frame, and the one before it
  Phase last_use_of_groups_ = Phase::first;
  SlotMemory memory_;
  std::vector<Slot> slots_;
  std::optional<HostMotion> motion_;  // only with temporal filtering
};

}  // namespace

std::unique_ptr<Denoiser> open_host(const Params& params, const FrameFormat& format,
                                    std::unique_ptr<PhaseEngine> engine,
                                    const ResultSamples& results) {
  auto worker = std::make_unique<HostWorker>(params, format, std::move(engine), results);
  if (!worker->filters()) return open_pass_through(format, results);
  return open_session(session_plan(params, format), format, std::move(worker));
}

}  // namespace lull::bm3d
