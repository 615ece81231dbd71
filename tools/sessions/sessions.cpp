#include "tools/sessions/sessions.h"

#include <algorithm>
#include <utility>

#include "noise/estimate/clipped_noise.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/part_denoiser.h"
#include "pipeline/scale_denoiser.h"
#include "pipeline/scene_denoiser.h"
#include "tools/search/noise_search.h"
#include "tools/search/series_search.h"
#include "tools/sessions/job.h"

namespace lull::tools {
namespace {

using Backends = std::vector<bm3d::Backend>;

/// Returns the cases in which the CPU may replace a GPU. In a job in segments, the CPU may replace
/// a GPU only at the start, because results must not depend on failures.
Fallback fallback_of(const RunOptions& options) {
  const bool other_later = options.fallback == Fallback::cpu && options.segment_frames > 0;
  return other_later ? Fallback::cpu_at_start : options.fallback;
}

Backends with_results(Backends backends, const ResultSamples& results) {
  for (bm3d::Backend& backend : backends) backend.results = results;
  return backends;
}

/// Returns the backends for the full-size session of a scene. If the scene also has a half-size
/// session, the results of the full-size session are intermediate, so the backends return them with
/// a higher precision.
Backends fine_backends(const ScenePlan& plan, const Backends& backends) {
  if (!plan.half) return backends;
  return with_results(backends, precise_samples(backends.front().results));
}

/// Combines the full-size session `fine` with a half-size session. If the scene requires no
/// half-size session, returns `fine`.
std::unique_ptr<Denoiser> with_half(std::unique_ptr<Denoiser> fine, const ScenePlan& plan,
                                    const FrameFormat& format, const Backends& backends,
                                    Fallback fallback, const Notify& notify) {
  if (!plan.half) return fine;
  auto half = open_denoiser(*plan.half, pipeline::half_format(format), backends, fallback, notify);
  return pipeline::by_scales(format, std::move(fine), std::move(half.denoiser),
                             backends.front().results);
}

/// Opens the session of a scene.
std::unique_ptr<Denoiser> open_scene(const ScenePlan& plan, const FrameFormat& format,
                                     const Backends& backends, Fallback fallback,
                                     const Notify& notify) {
  OpenedDenoiser fine =
      open_denoiser(plan.method, format, fine_backends(plan, backends), fallback, notify);
  return with_half(std::move(fine.denoiser), plan, format, backends, fallback, notify);
}

/// Returns a denoiser that opens a session for each new scene. `first` is the full-size session of
/// the first scene, on fine_backends().
std::unique_ptr<Denoiser> follow_scenes(std::unique_ptr<Denoiser> first, const ClipPlan& plan,
                                        const FrameFormat& format, const Backends& backends,
                                        Fallback fallback, const Notify& notify) {
  first = with_half(std::move(first), plan.scene(0), format, backends, fallback, notify);
  if (!plan.has_scenes()) return first;
  const auto open = [=](std::size_t scene) {
    return open_scene(plan.scene(scene), format, backends, fallback, notify);
  };
  const auto find = [plan](const Frame& frame) { return plan.scene_at(frame); };
  return pipeline::by_scenes(std::move(first), find, open);
}

/// A detector of repeated frames for clips with several scenes, which uses for each frame the
/// parameters of its scene.
class RepeatsOfScenes final : public RepeatFinder {
 public:
  RepeatsOfScenes(const ClipPlan& plan, const FrameFormat& format,
                  std::unique_ptr<RepeatFinder> first)
      : plan_(plan), format_(format), finder_(std::move(first)) {}

  RepeatState find(const Frame& frame) override {
    if (const std::size_t scene = plan_.scene_at(frame); scene != scene_) {
      finder_ = open_repeat_finder(plan_.scene(scene).method, format_);
      scene_ = scene;
    }
    return finder_->find(frame);
  }
  void clear() override { finder_->clear(); }

 private:
  const ClipPlan plan_;
  const FrameFormat format_;
  std::unique_ptr<RepeatFinder> finder_;
  std::size_t scene_ = 0;
};

/// Returns a function that returns the noise levels for the scene of a frame.
LevelsOfFrame levels_for_areas(const ClipPlan& plan) {
  const std::array<float, 3> first = tools::levels_for_areas(plan.scene(0).method);
  if (!plan.has_scenes()) return [first](const Frame&) { return first; };
  return [plan, first](const Frame& frame) {
    const std::size_t scene = plan.scene_at(frame);
    return scene == 0 ? first : tools::levels_for_areas(plan.scene(scene).method);
  };
}

}  // namespace

bool needs_margins(const DenoiseOptions& options) {
  return (may_be_temporal(options) || may_be_volume(options)) &&
         !options.input.source.selection.all();
}

std::string why_no_gpu_decodes(const DenoiseOptions& options, const Backends& backends) {
  if (backends.front().kind != bm3d::BackendKind::cuda) return "frames are not denoised on a GPU";
  if (backends.size() > 1 && may_be_temporal(options))
    return "several GPUs use the same frames over time";
  if (uses_features(options.method)) return "features require frames in host memory";
  if (options.input.depth.on) return "depth maps must be in host memory";
  if (may_be_volume(options)) return "the slices of volumes must be in host memory";
  if (options.input.interlaced == Interlaced::fields) return "fields are split in host memory";
  if (options.method.align) return "frames are aligned in host memory";
  if (options.output.has_grain()) return "the grain is measured in host memory";
  if (!options.output.residuals.empty()) return "residuals are computed in host memory";
  if (!options.run.page.file.empty()) return "the report uses frames in host memory";
  if (needs_margins(options)) return "context frames are kept in host memory";
  if (options.run.fallback == Fallback::cpu && !can_read_again(options.input.file))
    return "--fallback cpu would have to read the input again, which is a pipe";
  if (can_read_again(options.input.file)) return {};
  if (finds_noise(options)) return "the noise of a pipe is estimated in host memory";
  if (!options.noise.sigma || may_show_clipping(NoiseModel(*options.noise.sigma), Layout::rgb))
    return "clipped samples of a pipe are detected in host memory";
  return {};
}

io::SourceOptions source_options(const DenoiseOptions& options, const Backends& backends) {
  io::SourceOptions source = tools::source_options(options.input);
  source.memory = bm3d::frame_memory(backends.front());
  source.threads = options.run.threads;
  source.tolerate_damage = true;
  source.margins = needs_margins(options);
  source.scratch = folder_of(options.output.file);
  source.refuse_interlaced = options.input.interlaced == Interlaced::refuse;
  if (options.run.hwaccel == Hwaccel::cuda && why_no_gpu_decodes(options, backends).empty())
    source.gpu = backends.front().device;
  return source;
}

void LaterScenes::add(double from_s, ScenePlan plan) {
  const std::lock_guard lock(mutex_);
  starts_.push_back(from_s);
  plans_.push_back(std::move(plan));
}

std::size_t LaterScenes::count_at(const Frame& frame) const {
  const std::lock_guard lock(mutex_);
  return pipeline::scene_at(frame, starts_);
}

ScenePlan LaterScenes::plan(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return plans_[number];
}

std::size_t ClipPlan::scene_at(const Frame& frame) const {
  return later ? later->count_at(frame) : pipeline::scene_at(frame, starts);
}

ScenePlan ClipPlan::scene(std::size_t number) const {
  ScenePlan plan = later && number > 0 ? later->plan(number - 1) : scenes[number];
  if (frame_by_frame) plan.method.disable_temporal();
  if (frame_by_frame && plan.half) plan.half->disable_temporal();
  return plan;
}

bool ClipPlan::has_halves() const {
  return std::ranges::any_of(scenes, [](const ScenePlan& scene) { return scene.half.has_value(); });
}

pipeline::PartContext part_context_of(const ClipPlan& plan, const FrameFormat& format) {
  pipeline::PartContext part_context = part_context_of(plan.method(), format);
  if (part_context.repeats && plan.has_scenes())
    part_context.repeats =
        std::make_unique<RepeatsOfScenes>(plan, format, std::move(part_context.repeats));
  return part_context;
}

OpenedDenoisers open_sessions(const DenoiseOptions& options, const ClipPlan& plan,
                              const FrameFormat& format, const Backends& backends,
                              const Notify& notify) {
  const Fallback fallback = fallback_of(options.run);
  OpenedDenoisers opened =
      open_denoisers(options.input.interlaced == Interlaced::fields ? 2 : 1, plan.scene(0).method,
                     format, fine_backends(plan.scene(0), backends), fallback, notify);
  opened.backends = with_results(std::move(opened.backends), backends.front().results);
  for (std::unique_ptr<Denoiser>& denoiser : opened.denoisers)
    denoiser = follow_scenes(std::move(denoiser), plan, format, opened.backends, fallback, notify);
  return opened;
}

std::function<void(std::int64_t)> ContextEnd::listener(std::size_t session) {
  return [this, session](std::int64_t number) {
    idle_[session] = number;
    source_.end_context_at(*std::ranges::min_element(idle_));
  };
}

void select_frames(OpenedDenoisers& opened, const std::vector<io::FrameRange>& ranges,
                   const ClipPlan& plan, const FrameFormat& format, ContextEnd* context_end,
                   const Notify& notify, std::size_t first_session) {
  std::vector<pipeline::FrameSpan> spans;
  for (const io::FrameRange& range : ranges) spans.push_back({range.first, range.last});
  const bool all =
      spans.size() == 1 && spans.front().first == 0 && spans.front().last == io::FrameRange{}.last;
  if (all && !context_end) return;
  // The CPU does not replace a failed device (Fallback::none), because the CPU would compute
  // different results.
  const pipeline::SessionOpener reopen = [plan, format, backends = opened.backends, notify] {
    OpenedDenoiser again = open_denoiser(
        plan.method(), format, fine_backends(plan.scene(0), backends), Fallback::none, notify);
    return follow_scenes(std::move(again.denoiser), plan, format, backends, Fallback::none, notify);
  };
  for (std::size_t i = 0; i < opened.denoisers.size(); ++i) {
    std::unique_ptr<Denoiser>& session = opened.denoisers[i];
    pipeline::PartContext part_context = part_context_of(plan, format);
    if (context_end) part_context.idle = context_end->listener(first_session + i);
    session = pipeline::by_parts(std::move(session), reopen, spans, std::move(part_context));
  }
}

FrameFormat filtered_format(const DenoiseOptions& options, const FrameFormat& format) {
  return options.input.interlaced == Interlaced::fields ? pipeline::field_format(format) : format;
}

std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser, const ClipPlan& plan,
                                         const FrameFormat& format, const ResultSamples& results) {
  return preserve_areas(std::move(denoiser), plan.method(), levels_for_areas(plan), format,
                        results);
}

std::unique_ptr<Denoiser> merge_fields(OpenedDenoisers opened, const ClipPlan& plan,
                                       const FrameFormat& format) {
  std::vector<std::unique_ptr<Denoiser>>& sessions = opened.denoisers;
  const ResultSamples& results = opened.backends.front().results;
  const FrameFormat filtered = sessions.size() == 1 ? format : pipeline::field_format(format);
  for (std::unique_ptr<Denoiser>& session : sessions)
    session = preserve_areas(std::move(session), plan, filtered, results);
  if (sessions.size() == 1) return std::move(sessions.front());
  return pipeline::by_fields(format, std::move(sessions[0]), std::move(sessions[1]),
                             opened.backends.front().results);
}

}  // namespace lull::tools
