// Sessions for renders. The class FrameSession (time/frame_session.h) schedules frames, and the
// worker filters the demodulated illumination (the picture divided by its albedo).

#include <tbb/task_arena.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/instructions.h"
#include "core/samples.h"
#include "core/validate_format.h"
#include "cuda/session_on_device.h"
#include "nlm/features/engine.h"
#include "nlm/features/features.h"
#include "time/frame_session.h"
#include "time/frame_statistics.h"
#include "time/host_motion.h"
#include "time/repeat_finder.h"

namespace lull::nlm {
namespace {

/// Noise levels on the 0..255 scale: `repetition_noise` for the detection of repeated frames,
/// `motion_noise` for motion estimation in the albedo or, if there is no albedo, in the picture.
constexpr std::array<float, 3> repetition_noise = {1, 1, 1};
constexpr float motion_noise = 4;

SessionPlan light_session_plan(const FeatureParams& params) {
  return {.radius = params.temporal,
          .phases = 1,
          .scene_cut = params.scene_cut,
          .main_sigma = motion_noise,
          .gathers = true};
}

FeaturePlan feature_plan(const FeatureParams& params, const FrameFormat& format) {
  return {.width = format.width,
          .height = format.height,
          .planes = format.planes(),
          .search_radius = params.search_radius,
          .slots = light_session_plan(params).slots()};
}

class LightWorker final : public FrameWorker {
 public:
  LightWorker(const FeatureParams& params, const FrameFormat& format, int threads,
              std::unique_ptr<FeatureEngine> engine)
      : params_(params),
        format_(format),
        pool_(format),
        slots_(light_session_plan(params).slots()),
        arena_(threads > 0 ? threads : tbb::task_arena::automatic),
        engine_(std::move(engine)) {
    for (Slot& slot : slots_) slot.light = std::make_unique<Light>(format);
    for (int c = 0; c < format.planes(); ++c)
      results_[c] = Plane<float>(format.width, format.height);
    if (params.temporal > 0) motion_.emplace(format, motion_noise, static_cast<int>(slots_.size()));
  }

  void take(const Frame& frame) override {
    if (frame.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (frames with features must be in host memory); decode it "
          "on the CPU");
    // The worker compares the stored frame with the next frame, so the stored frame must be valid.
    // The check therefore comes before the assignment.
    check_features(frame);
    previous_frame_ = std::exchange(last_frame_, frame);
  }

  FrameDifference difference() override {
    return difference_of(last_frame_, previous_frame_, repetition_noise);
  }

  void load(int at) override {
    Slot& slot = slots_[at];
    slot.noisy = last_frame_;
    slot.is_filtered = false;
    arena_.execute([&] { slot.light->decompose(last_frame_, params_.noise); });
    LightViews views{.regressors = slot.light->regressors()};
    for (int c = 0; c < format_.planes(); ++c) {
      views.light[c] = slot.light->light(c);
      views.variance[c] = slot.light->variance(c);
    }
    for (int i = 0; i < views.regressors; ++i) {
      views.regressor[i] = slot.light->regressor(i);
      views.regressor_noise[i] = slot.light->regressor_noise(i);
    }
    engine_->load(at, views);
    if (motion_) {
      // Albedos contain no noticeable noise.
      const auto* albedo =
          last_frame_.features ? (*last_frame_.features)[Feature::albedo].get() : nullptr;
      motion_->load(at, albedo && albedo->format.layout == format_.layout ? *albedo : last_frame_);
    } else {
      last_frame_ = {};  // not needed: without motion estimation no frame is compared with it
    }
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase, std::span<const SlotFrame> frames) override {
    Slot& slot = slots_[frames[0].frame];
    std::array<CandidateFrame, max_frames> candidates;
    std::size_t count = 0;
    for (const SlotFrame& frame : frames) {
      // The filter cannot compare frames with different numbers of regressors.
      if (slots_[frame.frame].light->regressors() != slot.light->regressors()) continue;
      candidates[count++] = {frame.frame,
                             &frame == frames.data()
                                 ? std::span<const Motion>{}
                                 : motion_->cells(frames[0].frame, frame.frame, frame.offset)};
    }
    std::array<PlaneView<float>, 3> results;
    std::array<PlaneView<const float>, 3> filtered;
    for (int c = 0; c < format_.planes(); ++c) filtered[c] = results[c] = results_[c].view();
    engine_->estimate({candidates.data(), count}, results);
    slot.clean = pool_.acquire();
    slot.is_filtered = true;
    arena_.execute([&] { slot.light->recompose(filtered, slot.noisy, slot.clean); });
  }

  void finish_phase(Phase, int) override {}

  Frame finish(int at) override {
    Slot& slot = slots_[at];
    const Frame noisy = std::exchange(slot.noisy, {});
    if (slot.is_filtered) return std::exchange(slot.clean, {});
    // The caller discards the result of an unfiltered frame.
    Frame same = pool_.acquire();
    for (int i = 0; i < format_.planes(); ++i) copy_plane(noisy, i, same);
    return same;
  }

 private:
  /// A frame whose result the worker has not returned yet.
  struct Slot {
    Frame noisy;
    std::unique_ptr<Light> light;
    bool is_filtered = false;
    Frame clean;
  };

  FeatureParams params_;
  FrameFormat format_;
  FramePool pool_;
  std::vector<Slot> slots_;
  std::array<Plane<float>, 3> results_;
  tbb::task_arena arena_;  // runs the calculations of light
  std::unique_ptr<FeatureEngine> engine_;
  std::optional<HostMotion> motion_;   // null without a temporal radius
  Frame last_frame_, previous_frame_;  // the last frame taken, and the frame before it
};

void validate_features(const FeatureParams& p) {
  const auto need = [](bool holds, const std::string& what, const char* range) {
    if (!holds)
      throw InvalidArgument(what + " (must be " + range + "); see nlm/features/features.h");
  };
  need(p.search_radius >= 1 && p.search_radius <= max_search_radius,
       "search_radius = " + std::to_string(p.search_radius), "1..20");
  need(p.temporal >= 0 && p.temporal <= max_temporal, "temporal = " + std::to_string(p.temporal),
       "from 0 to the maximum temporal radius");
  need(p.noise.strength > 0 && p.noise.strength < 1e6f,
       "strength = " + std::to_string(p.noise.strength), "> 0");
  need(p.noise.sigma >= 0, "sigma = " + std::to_string(p.noise.sigma), "at least 0");
  need(p.scene_cut >= 0 && p.scene_cut <= 1, "scene_cut = " + std::to_string(p.scene_cut), "0..1");
}

}  // namespace

std::unique_ptr<Denoiser> open_features(const FeatureParams& params, const FrameFormat& format,
                                        const Backend& backend) {
  validate_features(params);
  lull::validate(format);
  lull::validate(backend);
  if (backend.results_on_device)
    throw InvalidArgument(
        "results of a render in the memory of a GPU (sessions download them to the host); request "
        "results in host memory");
  require_instructions();
  const Light light(format);  // throws if the format is not that of a render
  const FeaturePlan plan = feature_plan(params, format);
  const auto open_here = [&] {
    auto engine = backend.kind == BackendKind::reference ? make_reference_feature_engine(plan)
                  : backend.kind == BackendKind::cpu
                      ? make_cpu_feature_engine(plan, backend.threads)
                      : make_cuda_feature_engine(plan);
    return open_session(
        light_session_plan(params), format,
        std::make_unique<LightWorker>(params, format, backend.threads, std::move(engine)));
  };
  return backend.kind == BackendKind::cuda ? lull::cuda::open_on_device(backend.device, open_here)
                                           : open_here();
}

Margin margin(const FeatureParams& params) { return light_session_plan(params).margin(); }

std::unique_ptr<RepeatFinder> open_repeat_finder(const FeatureParams& params, const FrameFormat&) {
  return make_repeat_finder(repetition_noise, params.temporal);
}

double host_bytes(const FeatureParams& params, const FrameFormat& format) {
  const double samples = 1.0 * format.width * format.height;
  const int slots = light_session_plan(params).slots();
  // Number of planes in memory for each frame: illumination, albedo, regressors, noise, and the
  // copies in the engine.
  const double of_frame =
      3 * format.planes() + 2 * max_regressors + 2 * format.planes() + 2 * max_regressors + 8;
  return samples * sizeof(float) * (of_frame * slots + 5 * format.planes() + 4);
}

}  // namespace lull::nlm
