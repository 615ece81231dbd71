// Implements `lull preview`, which writes one picture with three panels: a frame before denoising,
// the same frame after denoising, and the residual.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "io/files/output_file.h"
#include "io/picture.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/repeat_notes.h"
#include "tools/commands/commands.h"
#include "tools/commands/frame_window.h"
#include "tools/options/run_files.h"
#include "tools/pages/cuts.h"
#include "tools/pages/panels.h"
#include "tools/pages/pictures.h"
#include "tools/repair/repair_choice.h"
#include "tools/report/log.h"
#include "tools/search/noise_scenes.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/depth.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/job.h"
#include "tools/sessions/memory_need.h"
#include "tools/sessions/noise_choice.h"
#include "tools/sessions/sessions.h"
#include "tools/volumes/masks.h"
#include "tools/wrap/side_inputs.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

/// Returns the name of the input without folder, frame number and extension: "shot" for
/// "dir/shot_%04d.exr", "scan" for "scan.nii.gz".
std::string stem_of(const std::string& input) {
  std::string name = input.substr(input.rfind('/') + 1);
  name = name.substr(0, name.find_first_of("%#*?["));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0)
    name.resize(dot);
  while (!name.empty() && (name.back() == '.' || name.back() == '_' || name.back() == '-'))
    name.pop_back();
  return name.empty() ? "lull" : name;
}

void choose_output(DenoiseOptions& options) {
  if (options.output.file.empty())
    options.output.file = stem_of(options.input.file) + ".preview.png";
  std::string extension = fs::path(options.output.file).extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  if (extension != ".png")
    throw InvalidArgument("-o " + options.output.file +
                          " (a preview is a PNG file); give a name that ends in .png");
  const RunFiles files = files_of(options);
  files.check();
  options.output.access = files.access();
  const io::OutputFile trial(options.output.file, {.overwrite = options.output.overwrite});
}

FramePosition position_in(const io::VideoInfo& info, const DenoiseOptions& options) {
  if (info.stack || info.still || options.input.stack) {
    if (options.input.at_us)
      throw InvalidArgument("--at with '" + options.input.file + "' (" +
                            (info.still ? "a still picture has no time" : "slices have no times") +
                            "); leave it out");
    return {.time = 0, .number = info.frames_estimate / 2};
  }
  if (options.input.at_us)
    return {.time = static_cast<double>(*options.input.at_us) * 1e-6, .number = {}};
  if (info.duration_s > 0) return {.time = info.duration_s / 3, .number = {}};
  return {.time = 0, .number = info.frames_estimate / 3};
}

/// Reads and denoises the frames of one preview.
class Preview {
 public:
  Preview(const DenoiseOptions& options, Log& log) : options_(options), log_(log) {}

  void run() {
    const ChosenDevices devices = choose_devices(options_.run);
    backends_ = {devices.backends.front()};  // a single frame cannot use several devices
    open_source();
    params_ = choose_method(options_, given_noise(options_.noise), source_->info());
    check_memory(options_.input, {params_, source_->format(), backends_});
    mask_ = given_mask(options_.input, *source_);
    if (const std::string note = method_note(options_, source_->info()); !note.empty())
      log_.write(LogLevel::warning, note);
    log_.write(LogLevel::info, devices.reason);
    log_.write(LogLevel::info, thickness_note(options_, source_->info()));
    if (has_cuts()) return show_cuts();
    if (!options_.input.at_voxel.empty())
      throw InvalidArgument("--at X,Y,Z with '" + options_.input.file +
                            "' (it is not a grey volume of 8 slices or more); leave it out");
    // lull determines the scale of depth maps and of renders before the call of find_window(),
    // because find_window() detects repeated frames on this scale.
    if (options_.input.depth.on) estimate_depth_noise();
    if (uses_features(options_.method)) find_noise({}, 0);
    const Window window = find_window();
    find_noise(window.frames, time_of(window.frames[window.target]));
    const int factor = show(window.frames[window.target], denoised(window));
    std::string which = "the frame at " + text_of(window.time) + " s";
    if (source_->info().stack) which = "slice " + std::to_string(window.number);
    if (source_->info().still) which = "the picture";
    log_summary(which, factor);
  }

 private:
  void open_source() {
    check_one_picture(options_.input);
    io::SourceOptions options = source_options(options_, backends_);
    options.layers = FeatureLayers(options_).choice();
    source_ = io::open_source(options_.input.file, options);
    if (options_.input.depth.on) samples_ = depth_samples(options_.input, *source_);
    rescale_sigma(options_, source_->info().values);
    check_volume_noise(options_, source_->info());
    side_inputs_ = SideInputs(options_, options, *source_);
  }

  FrameFormat filtered_format() const {
    return fields() ? pipeline::field_format(source_->format()) : source_->format();
  }
  bool fields() const { return options_.input.interlaced == Interlaced::fields; }

  /// Determines the noise at the time `position`, in seconds. For a pipe, the noise comes from the
  /// frames in `read`, which the caller has read, because lull cannot read a pipe again.
  void find_noise(const std::vector<Frame>& read, double position) {
    if (options_.input.depth.on) return;  // estimate_depth_noise() has already set the plan
    const io::ValueScale& values = source_->info().values;
    std::optional<NoiseRecord> noise = stated_noise(options_, source_->format(), source_->info());
    const bool again = can_read_again(options_.input.file);
    InputSamples samples;
    const io::VideoInfo& info = source_->info();
    if (again &&
        (!noise || needs_clipping(options_, *noise, info) || searches_defects(options_, info)))
      samples = read_samples(options_, *source_);
    const std::vector<Excerpt> complete =
        again ? excerpts_of(samples.excerpts) : split_excerpts(read);
    repair_ = choose_repair(options_, *source_, complete);
    FrameRepairer repairer(repair_, source_->format());
    for (TimedExcerpt& excerpt : samples.excerpts) repair_all(repairer, excerpt.frames);
    std::vector<Frame> first = read;
    repair_all(repairer, first);
    const bool stated = noise.has_value();
    if (!noise)
      noise = again ? search_noise(options_, *source_, samples, repair_)
                    : noise_of_first_frames(options_, first, values);
    add_clipping(
        options_, source_->info(),
        again ? excerpts_from(options_.input, samples) : excerpts_from(options_.input, first),
        *noise);
    determine_noise_kind(options_, *source_, *noise);
    if (stated && info.stack) assign_to_channels(*source_, *noise);
    for (const std::string& line : noise_lines(options_, *noise, repair_))
      log_.write(LogLevel::info, line);
    const ClipPlan plan = clip_plan(options_, *noise, source_->info());
    const auto scene = std::ranges::upper_bound(plan.starts, position) - plan.starts.begin();
    plan_ = {.scenes = {plan.scenes[scene]}, .starts = {}};
    params_ = plan_.method();
  }

  void estimate_depth_noise() {
    const bool again = can_read_again(options_.input.file);
    std::vector<Frame> first =
        again ? read_first_maps(options_.input) : read_frames(*source_, frames_ahead);
    const DepthPlan depth = plan_depth(options_, *source_, first);
    for (const std::string& line : depth.lines) log_.write(LogLevel::info, line);
    plan_ = clip_plan(options_, depth, source_->info());
    params_ = plan_.method();
    if (!again) prefixed_.emplace(*source_, std::move(first));
  }

  /// Returns whether the preview shows cross-sections. If so, lull denoises the complete volume.
  bool has_cuts() const {
    if (options_.input.depth.on) return false;
    constexpr int min_slices = 8;
    const io::VideoInfo& info = source_->info();
    const std::int64_t slices = info.stack ? info.slices : info.frames_estimate;
    return (info.stack || params_.is_volume()) && slices >= min_slices &&
           source_->format().layout == Layout::gray;
  }

  /// Returns the geometry of the cross-sections, which intersect at the requested voxel, and the
  /// index of the volume in its series.
  std::pair<CutGeometry, std::int64_t> cut_position() const {
    CutGeometry geometry = cut_geometry(*source_, options_.input.source.axis.value_or(io::Axis::z));
    const std::int64_t slices = geometry.size[geometry.of_slice[2]];
    const std::int64_t volumes = source_->info().frames_estimate / slices;
    std::vector<std::int64_t> at = options_.input.at_voxel;
    if (options_.input.at_us)
      (void)position_in(source_->info(), options_);  // throws, because a volume has no times
    if (at.empty()) return {geometry, volumes / 2};
    if (at.size() == 3) at.push_back(volumes / 2);
    const std::int64_t sizes[] = {geometry.size[0], geometry.size[1], geometry.size[2], volumes};
    for (int i = 0; i < 4; ++i) {
      if (at[i] < sizes[i]) continue;
      std::string size;
      for (const std::int64_t length : sizes)
        size += (size.empty() ? "" : "x") + std::to_string(length);
      throw InvalidArgument("--at " + std::to_string(at[i]) + " along axis " +
                            std::to_string(i + 1) + " ('" + options_.input.file + "' has " + size +
                            " voxels, counted from 0); give a smaller coordinate");
    }
    for (int i = 0; i < 3; ++i) geometry.at[i] = static_cast<int>(at[i]);
    return {geometry, at[3]};
  }

  void show_cuts() {
    const auto [geometry, volume] = cut_position();
    std::vector<Frame> first;
    if (!can_read_again(options_.input.file)) first = read_frames(*source_, frames_ahead);
    // For a stack, find_noise() expects the index of a slice instead of a time.
    const std::int64_t slices_before = volume * geometry.size[geometry.of_slice[2]];
    find_noise(first, source_->info().stack ? static_cast<double>(slices_before) : 0);
    const Notify warn = [this](const std::string& text) { log_.write(LogLevel::warning, text); };
    auto denoiser = merge_fields(open_sessions(options_, plan_, source_->format(), backends_, warn),
                                 plan_, source_->format());
    denoiser = with_side_inputs(std::move(denoiser), slices_before);
    VolumeCuts before(geometry), after(geometry);
    PrefixedSource source(*source_, std::move(first));
    const int slices = geometry.size[geometry.of_slice[2]];
    int pushed = 0, received = 0;
    const auto collect = [&](std::optional<Frame> result) {
      if (result) after.add(*result, received++);
      return result.has_value();
    };
    for (std::int64_t number = 0; pushed < slices; ++number) {
      std::optional<Frame> slice = source.read();
      if (!slice)
        throw BadData("'" + options_.input.file + "' has fewer slices than its header says");
      if (number < volume * slices) continue;
      before.add(*slice, pushed++);
      for (bool has_more = collect(denoiser->push(*std::move(slice))); has_more;)
        has_more = collect(denoiser->next());
    }
    while (collect(denoiser->drain())) continue;
    const int factor = amplification();
    io::write_png(options_.output.file, cuts_picture(geometry, before, after, factor),
                  options_.output.overwrite, options_.output.access);
    log_summary("cuts through voxel " + std::to_string(geometry.at[0]) + "," +
                    std::to_string(geometry.at[1]) + "," + std::to_string(geometry.at[2]) +
                    " of volume " + std::to_string(volume),
                factor);
  }

  Window find_window() {
    const FramePosition position = position_in(source_->info(), options_);
    FrameSource& frames = prefixed_ ? static_cast<FrameSource&>(*prefixed_) : *source_;
    std::optional<Frame> first = frames.read();
    if (!first) throw BadData("'" + options_.input.file + "' has no frame; check the file");
    const double start = seconds(first->pts, first->time_base);
    if (std::optional<Window> window = skip_to(position, start)) return *std::move(window);
    std::optional<Window> window = read_window(frames, position, start, std::move(first));
    if (window) return *std::move(window);
    throw InvalidArgument("--at " + text_of(position.time) + " (the input ends before, after " +
                          text_of(source_->info().duration_s) + " s); give an earlier time");
  }

  /// Seeks to a position shortly before the target, and reads the frames of the window. Returns no
  /// value if seeking is impossible, or unnecessary because the target is near the start.
  std::optional<Window> skip_to(const FramePosition& position, double start) {
    constexpr double lead_s = 2;  // covers repeated frames, which do not count in the margin
    const Rational rate = source_->info().frame_rate;
    if (position.number || rate.num <= 0 || !can_read_again(options_.input.file) ||
        side_inputs_.has_files() || names_defect_file(options_.noise))
      return std::nullopt;
    const double margin = (margin_of(params_).before + 2) / seconds(rate.num, {1, rate.den});
    const double skip = position.time - margin - lead_s;
    if (skip < lead_s) return std::nullopt;  // reading from the start is fast enough
    try {
      io::SourceOptions options = source_options(options_, backends_);
      options.skip_us = std::llround(skip * 1e6);
      const auto source = io::open_source(options_.input.file, options);
      std::optional<Frame> first = source->read();
      const bool early = first && seconds(first->pts, first->time_base) - start <= position.time;
      if (!early || source->format() != source_->format()) return std::nullopt;
      return read_window(*source, position, start, std::move(first));
    } catch (const Error&) {
      return std::nullopt;  // the caller reads from the start and reports any error
    }
  }

  std::optional<Window> read_window(FrameSource& source, const FramePosition& position,
                                    double start, std::optional<Frame> first) {
    pipeline::RepeatNotes notes(part_context_of(params_, filtered_format()).repeats);
    // For interlaced video, the sessions detect repeated fields, so the reader must not detect
    // repeated frames.
    WindowReader reader(source, position, margin_of(params_), fields() ? nullptr : &notes, start);
    return reader.read(std::move(first));
  }

  Frame denoised(const Window& window) {
    const Notify warn = [this](const std::string& text) { log_.write(LogLevel::warning, text); };
    const FrameFormat format = filtered_format();
    OpenedDenoisers opened = open_sessions(options_, plan_, format, backends_, warn);
    const auto number = static_cast<std::int64_t>(window.target);
    select_frames(opened, {{number, number}}, plan_, format, nullptr, warn);
    auto denoiser = with_side_inputs(merge_fields(std::move(opened), plan_, source_->format()),
                                     window.number - number);
    std::vector<Frame> results;
    FrameRepairer repairer(repair_, source_->format());
    for (const Frame& frame : window.frames)
      for (auto out = denoiser->push(repairer(frame)); out; out = denoiser->next())
        results.push_back(*std::move(out));
    while (auto out = denoiser->drain()) results.push_back(*std::move(out));
    if (results.size() != window.frames.size())
      throw InternalError("the denoiser of a preview did not return all frames");
    return std::move(results[window.target]);
  }

  /// Returns a denoiser that sets the mask, the guide and the feature buffers of every frame.
  /// `first` is the index, in the input, of the first frame that the denoiser receives.
  std::unique_ptr<Denoiser> with_side_inputs(std::unique_ptr<Denoiser> denoiser,
                                             std::int64_t first) {
    denoiser = side_inputs_.attach_to(std::move(denoiser), first);
    if (mask_) denoiser = masked(std::move(denoiser), *std::move(mask_));
    return denoiser;
  }

  /// Writes the picture with the panels. Returns the gain of the residual in this picture.
  int show(const Frame& before, const Frame& after) {
    std::optional<DisplayedDepths> depths;
    if (options_.input.depth.on) depths = displayed_depths(before, samples_);
    const auto displayed = [&](const Frame& frame) {
      return depths ? depth_picture(frame, samples_, *depths) : io::to_rgb(frame);
    };
    const Frame a = displayed(before), b = displayed(after);
    // If the noise level has the scale of the displayed samples, it determines the gain of the
    // residual. The noise level of depth maps, renders and float pictures has another scale. For
    // such inputs, the difference between the two pictures determines the gain.
    const bool from_difference =
        depths || uses_features(options_.method) || before.format.sample == SampleType::f32;
    const int factor =
        from_difference ? tools::amplification(rms_difference(a, b)) : amplification();
    io::write_png(options_.output.file, panels(a, b, factor), options_.output.overwrite,
                  options_.output.access);
    if (depths)
      log_.write(LogLevel::info, "depths from " + text_of(depths->low) + " (dark) to " +
                                     text_of(depths->high) + " (bright), holes black");
    return factor;
  }

  int amplification() const {
    return tools::amplification(std::ranges::max(params_.noise().levels_in_samples()));
  }

  static std::string text_of(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  void log_summary(const std::string& which, int factor) {
    log_.write(LogLevel::info, options_.output.file + ": " + which +
                                   ", before | after | the residual, amplified " +
                                   std::to_string(factor) + (factor == 1 ? " time" : " times"));
  }

  DenoiseOptions options_;
  Log& log_;
  std::vector<bm3d::Backend> backends_;
  std::unique_ptr<io::MediaSource> source_;
  SideInputs side_inputs_;
  std::optional<VolumeMask> mask_;
  RepairPlan repair_;
  DepthSamples samples_;                    // only for depth maps
  std::optional<PrefixedSource> prefixed_;  // only for depth maps from a pipe
  Method params_;
  ClipPlan plan_;
};

}  // namespace

int preview(const DenoiseOptions& given) {
  DenoiseOptions options = given;
  choose_output(options);
  check(options);
  set_default_max_memory(options.input);
  Log log(options.run.log, options.run.quiet);
  try {
    Preview(options, log).run();
    return 0;
  } catch (const Error& error) {
    log.note_failure(error.what());
    throw;
  }
}

}  // namespace lull::tools
