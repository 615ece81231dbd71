#include "tools/sessions/grain.h"

#include <utility>

#include "core/error.h"
#include "io/media.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/observed_denoiser.h"
#include "tools/search/noise_search.h"

namespace lull::tools {
namespace {

// Sampling of frames in the first pass of --grain keep. This sampling is sparser than in a run with
// a single pass, because the first pass must be short.
constexpr GrainSampling sparse{.step = 6, .dense = 48, .sparse_step = 48};

void check_grain_format(const FrameFormat& format) {
  if (format.layout == Layout::rgb)
    throw InvalidArgument(
        "a film grain table of RGB (AV1 has film grain only for Y, Cb and Cr); convert the input "
        "to YUV "
        "first");
}

/// Returns whether the run removes all noise, so that the removed grain has the statistics of the
/// estimated noise. Runs that filter fields and runs with a strength below 1 do not remove all
/// noise.
bool removes_all_noise(const DenoiseOptions& options) {
  return options.input.interlaced != Interlaced::fields && options.noise.strength >= 1;
}

/// Returns the noise of each scene for the grain table. The function omits uncertain estimates, and
/// estimates from a single picture, which are too high.
std::vector<KnownNoise> known_noise(const std::vector<SceneNoise>& scenes) {
  std::vector<KnownNoise> known;
  for (const SceneNoise& scene : scenes) {
    KnownNoise& noise = known.emplace_back(KnownNoise{scene.from_s, std::nullopt});
    if (scene.over_time && scene.estimate.certain) noise.noise = scene.estimate;
  }
  return known;
}

}  // namespace

GrainJob::GrainJob(const DenoiseOptions& options, const FrameFormat& format)
    : keep_(options.output.keep_grain),
      has_file_(!options.output.grain_table.empty()),
      removes_all_noise_(removes_all_noise(options)),
      collector_(format, keep_ ? sparse : GrainSampling{}) {
  if (!keep_ && !has_file_) return;
  check_grain_format(format);
  if (keep_ && !can_read_again(options.input.file)) refuse_grain_of_pipe(options.input.file);
  if (has_file_)
    file_ = std::make_unique<io::TextFile>(
        options.output.grain_table, io::TextFileOptions{.overwrite = options.output.overwrite,
                                                        .access = options.output.access});
  else
    temporary_ = std::make_unique<io::TemporaryText>();
}

void GrainJob::on_new_scene(const SceneNoise& scene) {
  const std::lock_guard lock(mutex_);
  add_scene(scenes_, scene);
}

std::string GrainJob::table() {
  const std::lock_guard lock(mutex_);
  return text_of(
      collector_.finish(removes_all_noise_ ? known_noise(scenes_) : std::vector<KnownNoise>{}));
}

bool GrainJob::run_first_pass(const DenoiseOptions& options, InputNoise& noise,
                              const std::vector<bm3d::Backend>& backends, const Notify& notify,
                              const std::stop_token& stop) {
  if (!keep_) return true;
  io::SourceOptions reading = source_options(options, backends);
  reading.margins = false;
  const auto source = io::open_source(options.input.file, reading);
  ClipPlan plan = noise.plan();
  plan.frame_by_frame = true;  // the sampled frames are far apart in time
  const bool fields = options.input.interlaced == Interlaced::fields;
  const FrameFormat filtered = fields ? pipeline::field_format(source->format()) : source->format();
  const auto denoiser =
      pipeline::observed(merge_fields(open_sessions(options, plan, filtered, backends, notify),
                                      plan, source->format()),
                         pipeline::in_input_samples([&](const Frame& noisy, const Frame& result) {
                           collector_.add(noisy, result);
                         }));
  const auto frames =
      noise.frames(*source, source->info(),
                   [this](const SceneNoise& scene, const ScenePlan&) { on_new_scene(scene); });
  while (const auto frame = frames->read()) {
    if (stop.stop_requested()) return false;
    if (!collector_.observe(*frame)) continue;
    for (auto result = denoiser->push(*frame); result; result = denoiser->next()) continue;
  }
  while (denoiser->drain()) continue;
  noise.keep_scenes(source->info());
  if (has_file_)
    file_->write(table());
  else
    temporary_->write(table());
  return !stop.stop_requested();
}

std::string GrainJob::encoder_table() const {
  if (!keep_) return {};
  return has_file_ ? file_->temporary() : temporary_->path();
}

std::unique_ptr<Denoiser> GrainJob::observe(std::unique_ptr<Denoiser> denoiser) {
  if (keep_ || !has_file_) return denoiser;
  return pipeline::observed(
      std::move(denoiser),
      pipeline::in_input_samples([this](const Frame& noisy, const Frame& result) {
        if (!noisy.context_only && collector_.observe(noisy)) collector_.add(noisy, result);
      }));
}

void GrainJob::finish() {
  if (!has_file_) return;
  if (!keep_) file_->write(table());
  file_->commit();
}

}  // namespace lull::tools
