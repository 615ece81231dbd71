#include "tools/commands/denoise_run.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "io/files/temporary_name.h"
#include "io/media.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/run.h"
#include "tools/commands/run_report.h"
#include "tools/commands/run_sink.h"
#include "tools/report/progress.h"
#include "tools/report/signals.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/depth.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/grain.h"
#include "tools/sessions/input_noise.h"
#include "tools/sessions/job.h"
#include "tools/sessions/memory_need.h"
#include "tools/sessions/noise_choice.h"
#include "tools/sessions/series_filter.h"
#include "tools/sessions/sessions.h"
#include "tools/sessions/shared_job.h"
#include "tools/volumes/masks.h"
#include "tools/volumes/phase_file.h"
#include "tools/volumes/residual_file.h"
#include "tools/wrap/bursts.h"
#include "tools/wrap/enlarging.h"
#include "tools/wrap/layer_plan.h"
#include "tools/wrap/layer_sessions.h"
#include "tools/wrap/side_inputs.h"

namespace lull::tools {
namespace {

using Backends = std::vector<bm3d::Backend>;

/// If the CPU decodes although --hwaccel requests a GPU, returns the reason. Otherwise, returns an
/// empty string.
std::string decoder_note(const DenoiseOptions& options, const Backends& backends,
                         const io::MediaSource& source) {
  if (options.run.hwaccel == Hwaccel::none) return {};
  std::string reason = why_no_gpu_decodes(options, backends);
  if (reason.empty()) reason = source.why_not_gpu();
  return reason.empty() ? "" : "decoding on the CPU in spite of --hwaccel cuda (" + reason + ")";
}

JobFacts facts_of(const DenoiseOptions& options, const io::MediaSource& source,
                  const Backends& backends, const InputNoise& noise) {
  JobFacts facts{.input = options.input.file,
                 .output = options.output.file,
                 .format = source.format(),
                 .frames = source.info().frames_estimate,
                 .devices = {},
                 .noise = {},
                 .follows = noise.plan().later != nullptr};
  for (const bm3d::Backend& backend : backends) facts.devices.push_back(name_of(backend));
  for (const SceneNoise& scene : noise.known().scenes)
    facts.noise.push_back(levels_of(scene, facts.format.planes()));
  return facts;
}

/// A run of `lull denoise`.
class Run {
 public:
  Run(DenoiseOptions options, Reports& reports)
      : options_(std::move(options)), reports_(reports), signals_([this](int signal) {
          unfinished_.remove();
          reports_.stopped(options_, signal);
        }) {}

  int run() {
    const std::optional<cuda::ContextWarmup> warmup = warm_up_devices(options_.run);
    open_source();
    open_outputs();
    find_noise();
    if (!open_sessions()) return stopped();
    if (sink_->done()) {
      reports_.info("'" + options_.output.file +
                    "' was finished already by a job with these options");
      return 0;
    }
    limit_to_needed_frames();
    if (is_task() && needed_frames_.empty()) {
      // prepare_part() found missing segments, but other processes have completed these segments in
      // the meantime.
      reports_.info("all segments are done");
      return 0;
    }
    report_start();
    return denoise_all();
  }

  std::int64_t damaged_frames() const { return damaged_frames_; }

 private:
  void open_source() {
    set_default_max_memory(options_.input);
    devices_ = choose_devices(options_.run);
    options_.input.source.narrow_page_is_slice =
        may_be_slice(options_) && io::may_hold_stack(options_.output.file);
    io::check_output_name(options_.output.file, options_.input.file, source_options(options_.input),
                          sink_options(options_));
    open_source_on(devices_.backends, true);
    if (const io::Damage damage = source_->damage(); damage.frames > 0)
      reports_.warn(damage.first + "; continuing with the remaining data");
    reports_.info(scale_note(options_, source_->info().values));
    if (const std::string& axes = source_->info().axes; !axes.empty())
      reports_.info("'" + options_.input.file + "': " + axes);
    open_layers();
    rescale_sigma(options_, source_->info().values);
    if (options_.input.depth.on) (void)depth_samples(options_.input, *source_);
    check_scale(options_, *source_);
    check_align(options_, *source_);
    mask_ = given_mask(options_.input, *source_);
    check_volume_noise(options_, source_->info());
    page_.emplace(options_, *source_);
    makes_one_picture_ =
        io::holds_one_frame(options_.output.file, *source_, sink_options(options_));
    if (makes_one_picture_) select_first_frame(options_, reports_);
    // Depth maps keep the sample type of the input, because the bit depth determines the unit of
    // depths.
    if (!options_.input.depth.on)
      results_ = io::result_samples(options_.output.file, *source_, sink_options(options_));
  }

  /// Opens all outputs before the noise estimation, to report missing permissions early. For
  /// outputs that need the noise or a grain table, only checks whether lull can write the output.
  void open_outputs() {
    const io::SinkOptions given = options_of_sink();
    if (given.segments || options_.output.keep_grain)
      io::check_output(options_.output.file, *source_, given);
    else
      open_sink({}, {});
    check_noise_map(options_, *source_);
    residuals_.emplace(options_, *source_);
    phases_.emplace(options_, *source_);
    grain_.emplace(options_, source_->format());
  }

  void open_source_on(const Backends& backends, bool may_decode_on_gpu) {
    io::SourceOptions options = source_options(options_, backends);
    if (!may_decode_on_gpu) options.gpu.reset();
    add_part(options_, options);
    options.layers = layers_to_read(options_);
    source_ = io::open_source(options_.input.file, options);
    side_inputs_ = SideInputs(options_, options, *source_);
  }

  /// Plans the denoising of all layers except the main layer. This function must run before
  /// rescale_sigma(), because each layer has its own white level and so needs its own conversion.
  void open_layers() {
    io::SinkOptions given = sink_options(options_);
    add_size(options_.output, source_->format(), given);
    const bool keeps = io::keeps_layers(options_.output.file, *source_, given);
    layer_plan_ = plan_layers(source_->layers(), options_.input.layers, keeps, options_.input.file,
                              options_.output.file);
    layers_ = LayerSessions(options_, layer_plan_);
  }

  void find_noise() {
    noise_.emplace(options_, [this](const std::string& text) { reports_.info(text); });
    noise_->find(*source_);
    layers_.find_noise(devices_.backends, [this](const std::string& text) { reports_.info(text); });
  }

  /// Reports a new scene. The reading thread calls on_new_scene().
  void on_new_scene(const SceneNoise& scene, const ScenePlan& plan) {
    page_->on_new_scene(scene, plan);
    grain_->on_new_scene(scene);
    reports_.progress.on_new_scene(levels_of(scene, source_->format().planes()));
  }

  /// Returns the options of the sink, except the recorded settings of a job and the film grain
  /// table. open_sink() adds both.
  io::SinkOptions options_of_sink() const {
    io::SinkOptions given = sink_options(options_);
    given.samples = results_;
    if (given.segments) given.segments->additional = side_inputs_.job_sources();
    add_size(options_.output, source_->format(), given);
    return given;
  }

  void open_sink(const std::vector<io::JobFact>& facts, const std::string& grain_table) {
    io::SinkOptions given = options_of_sink();
    if (given.segments) given.segments->facts = facts;
    given.grain_table = grain_table;
    sink_ = io::open_sink(options_.output.file, *source_, given);
    unfinished_.set_path(sink_->temporary());
  }

  const ClipPlan& plan() const { return noise_->plan(); }

  FrameFormat filtered_format() const {
    return tools::filtered_format(options_, source_->format());
  }

  Notify notify() {
    return [this](const std::string& text) { reports_.warn_once(text); };
  }

  const std::shared_ptr<FittedSeries>& series() const {
    return noise_->known().scenes.front().fitted;
  }

  /// Opens the sessions, and then the sink unless the sink is already open. Returns false if the
  /// user has stopped the run.
  bool open_sessions() {
    check_memory(options_.input, {plan().method(), source_->format(), devices_.backends,
                                  scale_memory(options_, source_->format(), devices_.backends) +
                                      layers_.memory(devices_.backends)});
    grain_->set_noise(noise_->record());
    if (options_.output.keep_grain)
      reports_.info("--grain keep: measuring the grain of the input first");
    if (!grain_->run_first_pass(options_, *noise_, devices_.backends, notify(), signals_.token()))
      return false;
    const bool is_enlarged = options_.output.scale != 1;
    for (bm3d::Backend& backend : devices_.backends)
      backend.results = is_enlarged ? precise_samples(results_) : results_;
    // The session of a series opens after the sink, because this session filters all components of
    // the series when it opens.
    if (series())
      opened_.backends = devices_.backends;
    else
      opened_ =
          tools::open_sessions(options_, plan(), filtered_format(), devices_.backends, notify());
    layers_.open(opened_.backends, notify());
    // Opens the source again without GPU decoding if the CPU must read the frames: after a fallback
    // to the CPU, for filtering at half size, for repairs, or for constant areas.
    const bool other = opened_.backends.front().kind != devices_.backends.front().kind;
    const bool needs_host = plan().has_halves() || !noise_->repair().none() || noise_->has_areas();
    if ((other || needs_host) && source_options(options_, devices_.backends).gpu) {
      sink_.reset();  // the sink refers to the source
      open_source_on(opened_.backends, false);
    }
    if (!sink_)
      open_sink(
          job_facts(options_, plan().method(), noise_->known(), noise_->repair(), opened_.backends),
          grain_->encoder_table());
    return true;
  }

  /// Returns whether the run filters segments of a shared job.
  bool is_task() const { return !options_.run.job.folder.empty() && !options_.run.job.plans; }

  void limit_to_needed_frames() {
    needed_frames_ = sink_->needed_frames();
    if (options_.run.job.plans) return;
    const std::vector<io::FrameRange> kept{
        {options_.output.keep.value_or(0), options_.output.keep.value_or(0)}};
    const std::size_t sessions = opened_.denoisers.size();
    if (needs_margins(options_)) context_end_.emplace(*source_, sessions + layers_.sessions());
    ContextEnd* const context_end = context_end_ ? &*context_end_ : nullptr;
    const auto& ranges = options_.output.keep ? kept : needed_frames_;
    tools::select_frames(opened_, ranges, plan(), filtered_format(), context_end, notify());
    layers_.select_frames(ranges, context_end, sessions, notify());
  }

  void report_start() {
    reports_.info(devices_.reason);
    reports_.info(thickness_note(options_, source_->info()));
    reports_.info(decoder_note(options_, opened_.backends, *source_));
    for (const std::string& text : source_->info().notes)
      if (!options_.input.depth.on ||
          text.find("white") == std::string::npos)  // depth maps have no white level
        reports_.warn(text);
    if (const std::string note = method_note(options_, source_->info()); !note.empty())
      reports_.warn(note);
    for (const std::string& text : sink_->notes())
      if (!options_.input.all_videos || text.find("not denoised") == std::string::npos)
        reports_.info(text);
    report_losses(reports_, *sink_, 0);
    reports_.debug("input: " + source_->info().container + ", " + source_->info().codec + ", " +
                   source_->info().pixel_format);
    reports_.debug("output: " + sink_->container() + ", " + sink_->encoder() + ", " +
                   sink_->pixel_format());
    page_->begin(noise_->known(), plan(), opened_.backends);
    reports_.progress.start(facts_of(options_, *source_, opened_.backends, *noise_));
  }

  int denoise_all() {
    const std::size_t reported = sink_->losses().size();
    if (!series() && !options_.input.phase.empty())
      throw BadData("--phase for '" + options_.input.file +
                    "' (its complex samples contain too little noise to filter); leave it out");
    if (series() && !open_series()) return stopped();
    const auto denoiser = build_denoiser();
    RunSink run_sink(*sink_, *source_, options_);
    const pipeline::PipelineOptions pipeline_options{
        .observer = [&](pipeline::PipelineStats stats) {
          stats.frames -= run_sink.context_frames();
          stats.skipped = done_before(needed_frames_, stats.frames);
          page_->note(stats);
          if (stats.frames > 0) reports_.progress.update(stats, run_sink.time_s());
        }};
    pipeline::PipelineStats stats;
    try {
      const auto all = noise_->frames(
          *source_, source_->info(),
          [this](const SceneNoise& scene, const ScenePlan& plan) { on_new_scene(scene, plan); });
      StoppingSource stopping(*all, run_sink);
      const bool stops_early = makes_one_picture_ || !options_.run.job.folder.empty();
      FrameSource& frames = stops_early ? stopping : *all;
      stats = pipeline::run(frames, *denoiser, run_sink, pipeline_options, signals_.token());
    } catch (...) {
      damaged_frames_ = run_sink.damage().frames;
      reports_.progress.clear();
      if (signals_.signal() == 0) throw;
      stats.cancelled = true;  // the failure occurred because of the stop, or after it
    }
    damaged_frames_ = run_sink.damage().frames;
    stats.frames -= run_sink.context_frames();
    if (stats.cancelled) return stopped();
    grain_->finish();
    residuals_->finish();
    phases_->finish();
    stats.skipped = done_before(needed_frames_, stats.frames);
    report_losses(reports_, *sink_, reported);
    for (const std::string& text : source_->clock_jumps()) reports_.warn(text);
    if (options_.output.keep) stats.frames = 1;
    // If the report fails, the run fails, although the output file is complete.
    const std::string problem = page_->finish(stats, damaged_frames_);
    reports_.progress.done(stats, damaged_frames_);
    if (damaged_frames_ > 0) reports_.warn(describe(run_sink.damage(), options_.input.file));
    if (!problem.empty()) reports_.warn(problem);
    reports_.info(options_.run.job.folder.empty() ? complete_summary(stats) : decoded());
    return 0;
  }

  /// Filters the components of a series and opens the session for its slices. Returns false if the
  /// user has stopped the run.
  bool open_series() {
    reports_.info("series: filtering " + std::to_string(series()->fit.basis.components()) +
                  " components of " + std::to_string(series()->store.samples().shape.volumes) +
                  " volumes");
    SeriesProgress progress([this](const std::string& text) { reports_.info(text); });
    series::PartsObserver parts;
    if (phases_->is_requested())
      parts = [this](const Frame& noisy, const Frame& real, const Frame& imaginary) {
        phases_->write(noisy, real, imaginary);
      };
    auto session = filter_series(options_, *source_, series(), opened_.backends, notify(), progress,
                                 parts, signals_.token());
    if (!session) return false;
    opened_.denoisers.push_back(std::move(session));
    return true;
  }

  std::unique_ptr<Denoiser> build_denoiser() {
    if (options_.run.job.plans) {
      const Backends backends = std::move(opened_.backends);
      opened_ = {};
      const auto context_end = [this](std::int64_t number) { source_->end_context_at(number); };
      const auto at_end = [this, backends] {
        update_facts(*options_.run.job.plan, job_facts(options_, plan().method(), noise_->record(),
                                                       noise_->repair(), backends));
      };
      auto indexing = index_frames(options_, plan(), filtered_format(), context_end, at_end);
      // Sessions replace constant areas before they detect repeated frames. `indexing` must
      // therefore do the same, so that the plan contains the same repeated frames. For interlaced
      // video, `indexing` detects no repeated frames.
      if (options_.input.interlaced != Interlaced::fields)
        indexing = preserve_areas(std::move(indexing), plan(), filtered_format(), results_);
      return side_inputs_.attach_to(std::move(indexing));
    }
    const Backends backends = opened_.backends;
    auto denoiser = aligned(merge_fields(std::move(opened_), plan(), source_->format()), options_,
                            plan().method(), *source_);
    const bool part = !options_.run.job.folder.empty();
    denoiser = side_inputs_.attach_to(page_->observe(grain_->observe(std::move(denoiser))),
                                      part ? FirstFrame(0) : std::nullopt);
    denoiser = layers_.attach_to(std::move(denoiser));
    if (mask_) denoiser = masked(std::move(denoiser), *std::move(mask_));
    denoiser = residuals_->observe(std::move(denoiser));
    return enlarged(std::move(denoiser), options_, *source_, backends, results_);
  }

  std::string complete_summary(const pipeline::PipelineStats& stats) const {
    const std::string layers = layer_plan_.text();
    const std::string file = std::filesystem::path(options_.output.file).filename().string();
    const bool is_intermediate = options_.input.all_videos && io::parse_temporary_name(file);
    return summary(stats, is_intermediate ? "the stream" : options_.output.file) +
           (layers.empty() ? "" : "; layers " + layers);
  }

  std::string decoded() const {
    const std::int64_t all =
        static_cast<std::int64_t>(options_.run.job.plan->index.pictures.size());
    return "decoded " + std::to_string(source_->decoded()) + " of " + std::to_string(all) +
           " pictures, starting at " + std::to_string(options_.run.job.start_picture);
  }

  int stopped() {
    sink_.reset();
    reports_.stopped(options_, signals_.signal());
    return 128 + signals_.signal();
  }

  DenoiseOptions options_;
  Reports& reports_;
  UnfinishedOutput unfinished_;
  SignalWatch signals_;
  ChosenDevices devices_;
  std::unique_ptr<io::MediaSource> source_;
  SideInputs side_inputs_;
  LayerPlan layer_plan_;
  LayerSessions layers_;
  std::optional<VolumeMask> mask_;
  std::optional<InputNoise> noise_;
  std::optional<GrainJob> grain_;
  std::optional<RunReport> page_;
  std::optional<ResidualFile> residuals_;
  std::optional<PhaseOutput> phases_;
  std::unique_ptr<io::MediaSink> sink_;
  bool makes_one_picture_ = false;  // the output contains a single picture
  ResultSamples results_;           // samples that the sink gets
  std::vector<io::FrameRange> needed_frames_;
  std::optional<ContextEnd> context_end_;
  OpenedDenoisers opened_;
  std::int64_t damaged_frames_ = 0;
};

}  // namespace

int run_denoise(const DenoiseOptions& options, Reports& reports, std::int64_t* damaged_frames) {
  Run run(options, reports);
  try {
    return run.run();
  } catch (...) {
    if (damaged_frames) *damaged_frames = run.damaged_frames();
    throw;
  }
}

}  // namespace lull::tools
