#include "bm3d/open/host_session.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

/// The planes of a frame as float samples, in the colour space in which they are filtered.
using Planes = std::array<Plane<float>, 3>;

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

void copy_samples(PlaneView<const float> from, PlaneView<float> to) {
  for (int y = 0; y < to.height; ++y) std::copy_n(from.row(y), to.width, to.row(y));
}

void refuse_device_memory(const Frame& frame) {
  if (frame.on_device)
    throw InvalidArgument(
        "a frame in the memory of a GPU (this session runs on the CPU); decode it on the CPU");
}

/// The data of a frame while it is in progress.
struct Slot {
  // The noisy frame; set only if planes or out-of-range samples pass through.
  Frame frame;
  bool guarded = false;  // some samples were replaced for the filters (float_guard.h)
  std::shared_ptr<const Holes> holes;
  Planes noisy, basic;
  // Luma guide of the second phase: the basic estimate mixed with its share of the noisy picture.
  Plane<float> luma_guide;
  Planes guide_planes;           // guide that came with the frame
  Plane<float> composite_guide;  // composite guide of the current phase (PlaneSet::is_composite())
  // Sums of the planes that are filtered.
  std::array<std::unique_ptr<PhaseSums>, 3> sums, parallel_sums;
  // Kept groups of each set, stored at its first plane.
  std::array<KeptGroups, 3> groups;
  ByOffset<std::vector<Motion>> motion;  // vectors of the bundles that are being filtered
};

class HostWorker : public FrameWorker {
 public:
  HostWorker(const Params& params, const FrameFormat& format, std::unique_ptr<PhaseEngine> engine)
      : params_(params),
        format_(format),
        session_(session_plan(params, format)),
        samples_(params.noise, stabilisers_of(params, format.layout)),
        engine_(std::move(engine)),
        pool_(format) {
    for (int k = 0; k < plan_count(params); ++k)
      plans_.push_back(plan_phase(static_cast<Phase>(k), params, format));
    for (int i = 0; i < format.planes(); ++i) {
      passes_through_ |= !is_stored(i);
      result_[i] = plane_of(i);
      if (is_mixed()) mixed_[i] = plane_of(i);
    }
    for (const PhasePlan& plan : plans_)
      has_composite_guide_ |= std::ranges::any_of(plan.sets, &PlaneSet::is_composite);
    if (!filters()) return;
    slots_.resize(session_.slots());
    for (Slot& slot : slots_) prepare(slot);
    if (params.temporal > 0) motion_.emplace(format, session_.main_sigma, session_.slots());
  }

  /// Returns whether any plane is filtered.
  bool filters() const { return !plan(Phase::first).sets.empty(); }

  void take(const Frame& frame) override {
    refuse_device_memory(frame);
    previous_frame_ = std::exchange(last_frame_, frame);
  }

  void load(int at) override {
    const Frame& frame = last_frame_;
    Slot& slot = slots_[at];
    slot.guarded = false;
    slot.holes = params_.holes ? holes_of(frame) : nullptr;
    for (int i = 0; i < format_.planes(); ++i)
      slot.guarded |= samples_.load(frame, i, slot.noisy[i].view());
    if (passes_through_ || slot.guarded) slot.frame = frame;
    if (format_.layout == Layout::rgb)
      apply_colour_matrix(opponent_forward,
                          {slot.noisy[0].view(), slot.noisy[1].view(), slot.noisy[2].view()});
    // The estimate of an unfiltered plane is the plane itself. Guides and the conversion back to
    // RGB use it.
    for (int i = 0; i < format_.planes(); ++i)
      if (!is_filtered(i)) copy_samples(slot.noisy[i].view(), slot.basic[i].view());
    const Frame& guide = lull::guide_of(frame, params_.guided);
    if (params_.guided)
      prepare_guide(Phase::first, load_guide_planes(guide, slot), slot);
    else
      make_guide(plan(Phase::first), slot.noisy, slot.composite_guide);
    if (motion_) motion_->load(at, guide);
    if (!motion_) last_frame_ = {};  // no later frame is compared with this one
  }

  FrameDifference difference() override {
    return difference_of(last_frame_, previous_frame_, samples_.levels());
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    for (const PlaneSet& set : plan(phase).sets) run(plan(phase), set, frames, &Slot::sums);
    if (phase != Phase::third || !has_parallel_wiener(params_)) return;
    const PhasePlan& beside = plan(parallel_wiener);
    for (const PlaneSet& set : beside.sets) run(beside, set, frames, &Slot::parallel_sums);
  }

  void finish_phase(Phase phase, int at) override {
    Slot& slot = slots_[at];
    if (phase == Phase::first) {
      divide(slot.sums, plan(phase), slot.basic);
    } else {
      divide(slot.sums, plan(phase), result_);
      blend(slot, result_, bayes_share);
    }
    prepare_guide(static_cast<Phase>(static_cast<int>(phase) + 1),
                  params_.guided ? slot.guide_planes : slot.basic, slot);
  }

  Frame finish(int at) override {
    Slot& slot = slots_[at];
    divide(slot.sums, plans_[params_.phases - 1], result_);
    if (has_parallel_wiener(params_)) blend_parallel_wiener(slot);
    for (int i = 0; i < format_.planes(); ++i)
      if (!is_filtered(i)) copy_samples(read(slot.noisy[i]), result_[i].view());
    if (format_.layout == Layout::rgb)
      apply_colour_matrix(opponent_inverse,
                          {result_[0].view(), result_[1].view(), result_[2].view()});
    Frame clean = pool_.acquire();
    for (int i = 0; i < format_.planes(); ++i) {
      if (is_stored(i))
        samples_.store(result_[i].view(), slot.guarded ? &slot.frame : nullptr, i, clean);
      else
        copy_plane(slot.frame, i, clean);
    }
    slot.frame = {};
    return clean;
  }

 private:
  Plane<float> plane_of(int i) const { return {format_.plane_width(i), format_.plane_height(i)}; }
  bool is_filtered(int i) const {
    return plan(Phase::first).noise.sigma(i) > 0 && fits_patch(format_, i);
  }
  /// Returns whether plane `i` of the result is computed. Otherwise it is copied from the input.
  bool is_stored(int i) const { return params_.noise.sigma(i) > 0 && fits_patch(format_, i); }
  /// Returns whether the guides of estimates are mixed with a share of the noisy picture.
  bool is_mixed() const { return plan(Phase::second).guide_share > 0; }
  /// Returns whether the mixed luma guide is stored. Otherwise luma is matched in the estimate
  /// itself.
  bool stores_luma_guide() const { return is_mixed() && (params_.phases > 1 || params_.guided); }

  void prepare(Slot& slot) const {
    for (int i = 0; i < format_.planes(); ++i) {
      slot.noisy[i] = plane_of(i);
      slot.basic[i] = plane_of(i);
      if (params_.guided) slot.guide_planes[i] = plane_of(i);
      if (!is_filtered(i)) continue;
      for (auto* sums : {&slot.sums, &slot.parallel_sums})
        if (sums == &slot.sums || has_parallel_wiener(params_))
          (*sums)[i] = engine_->make_sums(format_.plane_width(i), format_.plane_height(i));
    }
    if (stores_luma_guide()) slot.luma_guide = plane_of(0);
    if (has_composite_guide_) slot.composite_guide = plane_of(1);
  }

  /// Loads the guide in the colour space in which patches are compared.
  const Planes& load_guide_planes(const Frame& guide, Slot& slot) {
    Planes& guide_planes = slot.guide_planes;
    for (int i = 0; i < format_.planes(); ++i) samples_.load(guide, i, guide_planes[i].view());
    if (format_.layout == Layout::rgb)
      apply_colour_matrix(opponent_forward,
                          {guide_planes[0].view(), guide_planes[1].view(), guide_planes[2].view()});
    return guide_planes;
  }

  /// Prepares the guides of a phase: `estimates`, mixed with their share of the noisy picture.
  void prepare_guide(Phase phase, const Planes& estimates, Slot& slot) {
    if (std::ranges::all_of(plan(phase).sets,
                            [&](const PlaneSet& set) { return plan(phase).reuses_groups(set); }))
      return;  // all sets reuse their groups; nothing is matched
    const Planes& guides = is_mixed() ? mix(estimates, slot) : estimates;
    make_guide(plan(phase), guides, slot.composite_guide);
    if (stores_luma_guide()) std::swap(slot.luma_guide, mixed_[0]);
  }

  const Planes& mix(const Planes& estimates, const Slot& slot) {
    const float share = plan(Phase::second).guide_share;
    for (int i = 0; i < format_.planes(); ++i)
      for (int y = 0; y < mixed_[i].height(); ++y) {
        const float *noisy = slot.noisy[i].view().row(y), *basic = estimates[i].view().row(y);
        float* mixed = mixed_[i].view().row(y);
        for (int x = 0; x < mixed_[i].width(); ++x)
          mixed[x] = basic[x] + share * (noisy[x] - basic[x]);
      }
    return mixed_;
  }

  /// Blends another estimate into the basic estimate, with the weight `share`.
  void blend(Slot& slot, const Planes& other, float share) const {
    for (int i = 0; i < format_.planes(); ++i) {
      if (!is_filtered(i)) continue;
      for (int y = 0; y < slot.basic[i].height(); ++y) {
        const float* const more = other[i].view().row(y);
        float* const basic = slot.basic[i].view().row(y);
        for (int x = 0; x < slot.basic[i].width(); ++x) basic[x] += share * (more[x] - basic[x]);
      }
    }
  }

  /// Blends the result with the result of the parallel Wiener filter. The basic estimate, which is
  /// no longer needed, is overwritten.
  void blend_parallel_wiener(Slot& slot) {
    divide(slot.parallel_sums, plan(parallel_wiener), slot.basic);
    blend(slot, result_, result_share);
    for (int i = 0; i < format_.planes(); ++i)
      if (is_filtered(i)) std::swap(slot.basic[i], result_[i]);
  }

  static void clear(Plane<float>& plane) {
    for (int y = 0; y < plane.height(); ++y) std::fill_n(plane.view().row(y), plane.width(), 0.0f);
  }

  const PhasePlan& plan(Phase phase) const { return plans_[static_cast<std::size_t>(phase)]; }

  /// Makes the composite guide of a phase, if one of its sets has one. At most one set does.
  void make_guide(const PhasePlan& plan, const Planes& planes, Plane<float>& guide) const {
    for (const PlaneSet& set : plan.sets) {
      if (!set.is_composite()) continue;
      if (set.uses_luma)
        box_average(read(planes[0]), format_.chroma_shift_x, format_.chroma_shift_y, guide.view());
      else
        clear(guide);
      for (const int i : {1, 2})
        if (const float weight = set.chroma_weights[i - 1]; weight != 0)
          add_weighted(read(planes[i]), weight, guide.view());
    }
  }

  using SlotSums = std::array<std::unique_ptr<PhaseSums>, 3>;

  /// Runs a phase on a set, for the reference patches of frames[0].
  void run(const PhasePlan& plan, const PlaneSet& set, std::span<const SlotFrame> frames,
           SlotSums Slot::*sums) {
    std::vector<PhaseFrame> parts;
    for (const auto& [offset, at] : frames) {
      const Slot& slot = slots_[at];
      PhasePlanes part;
      part.guide.samples = read(guide_of(plan.phase, set, slot));
      part.guide.holes = slot.holes.get();
      for (std::size_t p = 0; p < set.planes.size(); ++p) {
        part.noisy[p] = read(slot.noisy[set.planes[p]]);
        part.basic[p] = read(slot.basic[set.planes[p]]);
        part.sums[p] = (slot.*sums)[set.planes[p]].get();
      }
      parts.push_back({offset, part});
    }
    const PhaseInput input{plan, set, parts,
                           plan.guide_share * guide_sigma(set, format_, plan.noise),
                           &slots_[frames[0].frame].groups[set.planes.front()]};
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
    if (phase == Phase::first && !params_.guided) return slot.noisy[0];
    if (stores_luma_guide()) return slot.luma_guide;
    return params_.guided ? slot.guide_planes[0] : slot.basic[0];
  }

  /// Motion from the frame in slot `from` to the frame in slot `to`, for bundles of reference
  /// patches of `plane` at distance `step`.
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

  void divide(const SlotSums& sums, const PhasePlan& plan, Planes& to) {
    for (int i = 0; i < format_.planes(); ++i)
      if (is_filtered(i)) engine_->finish(plan, *sums[i], to[i].view());
  }

  Params params_;
  FrameFormat format_;
  std::vector<PhasePlan> plans_;
  SessionPlan session_;
  FilteredSamples samples_;
  std::unique_ptr<PhaseEngine> engine_;
  FramePool pool_;
  bool has_composite_guide_ = false;   // some set has a composite guide
  bool passes_through_ = false;        // some plane passes through
  Frame last_frame_, previous_frame_;  // last accepted frame, and the one before it
  std::vector<Slot> slots_;
  std::optional<HostMotion> motion_;  // only over time
  Planes mixed_, result_;
};

/// A session that returns its frames unchanged, because no plane is filtered.
class PassThroughSession : public Denoiser {
 public:
  explicit PassThroughSession(const FrameFormat& format) : format_(format) {}
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    refuse_device_memory(noisy);
    return noisy;
  }
  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  FrameFormat format_;
};

}  // namespace

std::unique_ptr<Denoiser> open_host(const Params& params, const FrameFormat& format,
                                    std::unique_ptr<PhaseEngine> engine) {
  auto worker = std::make_unique<HostWorker>(params, format, std::move(engine));
  if (!worker->filters()) return std::make_unique<PassThroughSession>(format);
  return open_session(session_plan(params, format), format, std::move(worker));
}

}  // namespace lull::bm3d
