#include "tools/commands/run_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/describe.h"
#include "core/error.h"
#include "core/slices.h"
#include "core/version.h"
#include "io/digest.h"
#include "pipeline/observed_denoiser.h"
#include "tools/commands/quality.h"
#include "tools/html/markup.h"
#include "tools/noise/noise_text.h"
#include "tools/search/series_search.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/job.h"
#include "tools/volumes/gradients.h"

namespace lull::tools {
namespace {

io::SourceOptions reference_options(const InputOptions& options, const io::MediaSource& source) {
  const io::SourceOptions of_input = source_options(options);
  io::SourceOptions of_reference;
  of_reference.threads = of_input.threads;
  of_reference.rate = of_input.rate;
  of_reference.selection = of_input.selection;
  of_reference.limits = of_input.limits;
  of_reference.axis = of_input.axis;
  of_reference.protocols = of_input.protocols;
  const bool floats = source.format().sample == SampleType::f32 && !source.info().stack;
  if (floats) of_reference.white = static_cast<double>(source.format().white);
  return of_reference;
}

bool is_regular(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

template <class T>
double plane_error(const Frame& a, const Frame& b, int plane) {
  return mean_squared_error<T>(a.plane<T>(plane), b.plane<T>(plane));
}

double error_of(const Frame& a, const Frame& b, int plane) {
  switch (a.format.sample) {
    case SampleType::u8:
      return plane_error<std::uint8_t>(a, b, plane);
    case SampleType::u16:
      return plane_error<std::uint16_t>(a, b, plane);
    case SampleType::f32:
      return plane_error<float>(a, b, plane);
  }
  return 0;
}

/// Returns the value of a voxel of a grey slice, in the units of the file.
double value_at(const Frame& slice, const io::ValueScale& values, int x, int y) {
  double sample = 0;
  switch (slice.format.sample) {
    case SampleType::u8:
      sample = slice.plane<std::uint8_t>(0)(x, y);
      break;
    case SampleType::u16:
      sample = slice.plane<std::uint16_t>(0)(x, y);
      break;
    case SampleType::f32:
      sample = static_cast<double>(slice.plane<float>(0)(x, y));
      break;
  }
  return values.low + values.span * sample / slice.format.full_scale();
}

}  // namespace

ReferenceReader::ReferenceReader(const DenoiseOptions& options, const io::MediaSource& source)
    : name_(options.run.page.reference),
      source_(io::open_source(name_, reference_options(options.input, source))),
      reference_values_(source_->info().values),
      input_values_(source.info().values),
      stack_(source.info().stack && source.format().layout == Layout::gray) {
  FrameFormat format = source_->format();
  if (stack_) format.sample = source.format().sample, format.bits = source.format().bits;
  if (stack_) format.white = source.format().white;
  if (format != source.format())
    throw BadData("--reference " + name_ + " is " + describe(source_->format()) +
                  ", the input is " + describe(source.format()) +
                  " (only equal formats can be compared); convert one of them");
  start_reading();
}

void ReferenceReader::start_reading() {
  next_ = std::async(std::launch::async, [this] { return source_->read(); });
}

std::optional<Frame> ReferenceReader::next_frame() {
  if (ended_) return std::nullopt;
  std::optional<Frame> frame;
  try {
    frame = next_.get();
  } catch (const Error& error) {
    problem_ = error.what();
  }
  if (!frame && problem_.empty()) problem_ = "'" + name_ + "' has fewer frames than the input";
  ended_ = !frame;
  if (!ended_) start_reading();
  return frame;
}

void ReferenceReader::skip() { (void)next_frame(); }

FrameErrors ReferenceReader::in_file_units(const Frame& noisy, const Frame& result,
                                           const Frame& clean) {
  FrameErrors errors;
  double count = 0;
  for (int y = 0; y < clean.format.height; ++y)
    for (int x = 0; x < clean.format.width; ++x) {
      const double value = value_at(clean, reference_values_, x, y);
      const double a = value_at(noisy, input_values_, x, y),
                   b = value_at(result, input_values_, x, y);
      if (std::isfinite(value))
        min_value_ = std::min(min_value_, value), max_value_ = std::max(max_value_, value);
      if (noisy.mask && !noisy.mask->inside(x, y)) continue;
      if (!std::isfinite(value) || !std::isfinite(a) || !std::isfinite(b)) continue;
      errors.before[0] += (a - value) * (a - value);
      errors.after[0] += (b - value) * (b - value);
      ++count;
    }
  if (count > 0) errors.before[0] /= count, errors.after[0] /= count;
  errors.peak = max_value_ - min_value_;
  return errors;
}

std::optional<FrameErrors> ReferenceReader::errors(const Frame& noisy, const Frame& result) {
  const std::optional<Frame> clean = next_frame();
  if (!clean) return std::nullopt;
  if (stack_) return in_file_units(noisy, result, *clean);
  FrameErrors errors{.peak = noisy.format.full_scale()};
  for (int i = 0; i < noisy.format.planes(); ++i) {
    errors.before[i] = error_of(noisy, *clean, i);
    errors.after[i] = error_of(result, *clean, i);
  }
  return errors;
}

RunReport::RunReport(const DenoiseOptions& options, const io::MediaSource& source)
    : options_(options) {
  const PageOptions& page = options.run.page;
  if (page.file.empty()) return;
  info_ = source.info();
  facts_ = {.input = options.input.file,
            .output = options.output.file,
            .origin = options.noise.sigma ? NoiseOrigin::stated : NoiseOrigin::found,
            .stack = info_.stack || options.input.stack,
            .unit = unit_of(info_.values),
            .reference = page.reference,
            .given = options.given};
  if (!page.reference.empty()) reference_.emplace(options, source);
  const io::Access access = options.output.access & io::access_of({page.reference});
  file_ = std::make_unique<io::TextFile>(
      page.file, io::TextFileOptions{.overwrite = options.output.overwrite, .access = access});
  record_.emplace(source.format(), page.frames);
  geometry_ = cut_geometry(source, options.input.source.axis.value_or(io::Axis::z));
  if (is_regular(options.input.file))
    input_digest_ =
        std::async(std::launch::async, [name = options.input.file, stop = stop_.get_token()] {
          return io::sha256_of_file(name, stop);
        });
}

RunReport::~RunReport() { stop_.request_stop(); }

void RunReport::begin(const NoiseRecord& noise, const ClipPlan& plan,
                      const std::vector<bm3d::Backend>& backends) {
  if (!file_) return;
  NoiseRecord with_unit = noise;
  with_unit.unit = facts_.unit;  // a level that the user gave is recorded without a unit
  record_->begin(with_unit, plan, options_.input.interlaced == Interlaced::fields);
  const SceneNoise& first = noise.scenes.front();
  const bool certain = first.volume ? first.volume->certain : first.estimate.certain;
  if (!certain && facts_.origin == NoiseOrigin::found) facts_.origin = NoiseOrigin::assumed;
  for (const bm3d::Backend& backend : backends) facts_.devices.push_back(name_of(backend));
  facts_.parameters = plain_facts(job_facts(options_, plan.method(), noise, {}, backends));
  constexpr std::int64_t min_slices = 8;  // same limit as in lull preview
  const std::int64_t slices = info_.stack ? info_.slices : info_.frames_estimate;
  const bool volume = info_.stack || (options_.input.stack && plan.method().volumes);
  if (volume && slices >= min_slices && record_->format().layout == Layout::gray &&
      options_.run.page.frames.empty())
    record_->show_cuts(geometry_, info_.frames_estimate / slices / 2, slices);
  if (first.fitted) begin_series(first);
}

void RunReport::begin_series(const SceneNoise& scene) {
  const series::Fit& fit = scene.fitted->fit;
  const auto volumes = volumes_of(info_);
  series_.emplace(SeriesRecord::Facts{.noise = fit.noise,
                                      .spectrum = fit.spectrum,
                                      .eigenvalues = fit.eigenvalues,
                                      .volumes = static_cast<int>(volumes),
                                      .combined = fit.combined,
                                      .filtered = fit.basis.components(),
                                      .unweighted = unweighted_volumes(
                                          b_values_of(options_.input.file, volumes)),
                                      .unit = facts_.unit},
                  geometry_, static_cast<int>(info_.slices));
}

void RunReport::on_new_scene(const SceneNoise& scene, const ScenePlan& plan) {
  if (!file_) return;
  const std::lock_guard lock(mutex_);
  new_scenes_.emplace_back(scene, plan);
}

/// An error of the report does not stop the run. finish() reports the first error.
void RunReport::add_frame(const Frame& noisy, const Frame& result) {
  if (noisy.context_only) return;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [scene, plan] : new_scenes_) record_->add_scene(scene, plan);
    new_scenes_.clear();
  }
  try {
    std::optional<FrameErrors> errors;
    if (reference_ && result.pixels) errors = reference_->errors(noisy, result);
    if (reference_ && !result.pixels) reference_->skip();
    record_->add_frame(noisy, result, errors);
    if (series_ && result.pixels) series_->add(noisy, result);
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    if (problem_.empty()) problem_ = error.what();
  }
}

std::unique_ptr<Denoiser> RunReport::observe(std::unique_ptr<Denoiser> denoiser) {
  if (!file_) return denoiser;
  return pipeline::observed(
      std::move(denoiser),
      pipeline::in_input_samples(
          [this](const Frame& noisy, const Frame& result) { add_frame(noisy, result); }),
      pipeline::ObservedFrames::all);
}

void RunReport::note(const pipeline::PipelineStats& stats) {
  if (record_) record_->add_load(stats);
}

/// Returns the checksum of the input, computed in another thread, or an empty string after
/// `patience_s` seconds.
std::string RunReport::digest_of_input(double patience_s) {
  if (!input_digest_.valid()) return {};
  const auto patience = std::chrono::duration<double>(patience_s);
  if (input_digest_.wait_for(patience) != std::future_status::ready) stop_.request_stop();
  return input_digest_.get();
}

std::string RunReport::digest_of_output(double patience_s) {
  if (!is_regular(options_.output.file)) return {};
  std::stop_source stop;
  auto digest = std::async(std::launch::async, [&] {
    return io::sha256_of_file(options_.output.file, stop.get_token());
  });
  const auto patience = std::chrono::duration<double>(patience_s);
  if (digest.wait_for(patience) != std::future_status::ready) stop.request_stop();
  return digest.get();
}

/// Returns the requested frames (--report-frames) that are not on the page, as text.
std::string RunReport::frames_not_shown() const {
  const std::vector<std::int64_t> absent = record_->frames_not_shown();
  if (absent.empty()) return {};
  std::string numbers;
  for (const std::int64_t number : absent)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
  return (absent.size() == 1 ? "frame " : "frames ") + numbers +
         " of --report-frames (this run did not denoise them)";
}

void RunReport::write_page(const pipeline::PipelineStats& stats, std::int64_t damaged_frames) {
  const double patience = std::max(5.0, stats.seconds / 4);
  const auto name_and_digest = [](const std::string& name, const std::string& digest) {
    return name + (digest.empty() ? "" : ", SHA-256 " + digest);
  };
  Facts& versions = facts_.versions;
  versions.emplace_back("input", name_and_digest(options_.input.file, digest_of_input(patience)));
  versions.emplace_back("output",
                        name_and_digest(options_.output.file, digest_of_output(patience)));
  if (reference_) versions.emplace_back("reference", options_.run.page.reference);
  versions.emplace_back("frame format", describe(record_->format()));
  versions.emplace_back("input format",
                        info_.container + ", " + info_.codec + ", " + info_.pixel_format);
  versions.emplace_back("lull", version);
  versions.emplace_back("FFmpeg", io::library_versions());
  versions.emplace_back("CPU", cpu_target());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  versions.emplace_back("written",
                        time_text(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
  versions.emplace_back("took", printed("%.2f s", stats.seconds));
  if (!problem_.empty()) facts_.notes.push_back("The report is not complete: " + problem_);
  if (reference_ && !reference_->problem().empty())
    facts_.notes.push_back("The comparison with the reference is not complete: " +
                           reference_->problem());
  if (const std::string absent = frames_not_shown(); !absent.empty())
    facts_.notes.push_back("Not shown: " + absent + ".");
  if (record_->frames() == 0)
    facts_.notes.emplace_back("No frame was denoised in this run.");
  else if (record_->frames() < stats.frames)
    facts_.notes.push_back("The figures and pictures cover the " +
                           std::to_string(record_->frames()) +
                           " frames of this run; an earlier run denoised the others.");
  if (series_) facts_.series = series_->section();
  file_->write(run_page(*record_, stats, damaged_frames, facts_));
  file_->commit();
}

std::string RunReport::write_failure_text(const std::exception& error) const {
  return "cannot write the report '" + options_.run.page.file + "' (" +
         without_suggestion(error.what()) + "); the result '" + options_.output.file +
         "' is complete";
}

std::string RunReport::finish(const pipeline::PipelineStats& stats, std::int64_t damaged_frames) {
  if (!file_) return {};
  try {
    write_page(stats, damaged_frames);
  } catch (const CannotCreate& error) {
    throw CannotCreate(write_failure_text(error));
  } catch (const std::exception& error) {
    throw IoError(write_failure_text(error));
  }
  if (!problem_.empty()) return "the report is not complete (" + problem_ + ")";
  if (reference_ && !reference_->problem().empty())
    return "the report compares only a part of the frames (" + reference_->problem() + ")";
  if (const std::string absent = frames_not_shown(); !absent.empty())
    return "the report does not show " + absent;
  return {};
}

}  // namespace lull::tools
