#include "tools/search/noise_search.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "pipeline/field_denoiser.h"
#include "tools/noise/noise_text.h"
#include "tools/repair/repair_choice.h"
#include "tools/search/codec_steps.h"
#include "tools/search/noise_scenes.h"
#include "tools/search/stack_noise.h"
#include "tools/search/volume_noise_search.h"

namespace lull::tools {
namespace {

/// Number of excerpts of a video, and number of frames in each excerpt.
constexpr int positions = 8, frames_per_excerpt = 3;
/// Number of slices of a stack for the noise estimate, and maximum number of samples to read for
/// these slices.
constexpr int slices = 12;
constexpr double max_samples = 2.7e8;

class Search {
 public:
  Search(const DenoiseOptions& options, const io::MediaSource& source,
         const RepairPlan& repair = {})
      : options_(options),
        source_(source),
        info_(source.info()),
        format_(source.format()),
        repairer_(repair, format_) {}

  NoiseRecord run(const InputSamples& samples) {
    NoiseRecord record{.layout = format_.layout, .unit = unit_of(info_.values), .scenes = {}};
    if (info_.stack && !info_.volume) {
      record.scenes = noise_of_tiff_stack(options_, source_);
      return record;
    }
    if (std::optional<SceneNoise> volume = noise_of_volume(options_, source_)) {
      record.scenes.push_back(*std::move(volume));
      return record;
    }
    if (is_stack()) {
      record.scenes.push_back(scene_of_slices(stack_excerpts()));
      return record;
    }
    start_s_ = samples.start_s;
    if (samples.excerpts.empty())
      throw BadData("'" + options_.input.file + "' has no frame; check the file");
    std::vector<TimedExcerpt> excerpts = samples.excerpts;
    for (TimedExcerpt& excerpt : excerpts)
      for (Frame& frame : excerpt.frames) frame = filter_view(std::move(frame));
    const NoiseEstimate all = estimate_noise(excerpts_of(excerpts));
    NoiseEstimate with_error = all;
    add_codec_error(excerpts_of(samples.excerpts), with_error);
    record.scenes =
        scenes_of(excerpts, all, with_error.codec_error[0], has_scenes() ? by_pts() : FramesFrom{});
    // scenes_of() requires estimates without the coding error (quantisation error), so
    // add_codec_error() must follow scenes_of().
    for (SceneNoise& scene : record.scenes) {
      add_codec_error(excerpts_of(samples.excerpts), scene.estimate);
      add_codec_error_to_half(scene);
    }
    move_to_cut(record.scenes);
    record.scenes.front().from_s = start_s_;
    return record;
  }

  InputSamples samples() {
    InputSamples samples;
    if (is_stack()) return samples;
    samples.excerpts = video_excerpts();
    samples.start_s = start_s_;
    return samples;
  }

 private:
  bool is_stack() const { return info_.stack || options_.input.stack; }

  io::SourceOptions excerpt_options() const {
    io::SourceOptions options = source_options(options_.input);
    options.selection = {};
    options.threads = options_.run.threads;
    options.tolerate_damage = true;
    options.white =
        format_.sample == SampleType::f32 && !info_.stack ? format_.white : options.white;
    return options;
  }

  Frame filter_view(Frame frame) const {
    return options_.input.interlaced == Interlaced::fields ? pipeline::field_of(frame, 0) : frame;
  }

  /// Returns the beginning and the end of the selected part, in seconds relative to the first frame
  /// of the input.
  std::pair<double, double> part() const {
    const io::Selection& selection = options_.input.source.selection;
    double first = static_cast<double>(selection.start_us) * 1e-6, last = info_.duration_s;
    if (selection.duration_us)
      last = std::min(last, first + static_cast<double>(*selection.duration_us) * 1e-6);
    if (!selection.ranges.empty() && info_.frame_rate.num > 0) {
      const double rate =
          static_cast<double>(info_.frame_rate.num) / static_cast<double>(info_.frame_rate.den);
      first = std::max(first, static_cast<double>(selection.ranges.front().first) / rate);
      last = std::min(last, static_cast<double>(selection.ranges.back().last) / rate);
    }
    return {first, std::max(last, first)};
  }

  /// Reads frames, beginning at a keyframe about `time_s` seconds after the first frame.
  void read_from(double time_s, const FrameConsumer& take) const {
    io::SourceOptions options = excerpt_options();
    options.skip_us = std::llround(time_s * 1e6);
    try {
      const auto source = io::open_source(options_.input.file, options);
      for (;;) {
        std::optional<Frame> frame = source->read();
        // The source counts slices from the first frame that it returns, so the index of the slice
        // in the volume is unknown.
        if (frame) frame->slice = -1;
        if (!frame || frame->format != format_ || !take(*std::move(frame))) return;
      }
    } catch (const Error&) {
      if (time_s == 0) throw;  // the input cannot be read at all
    }
  }

  TimedExcerpt excerpt_at(double time_s, int frames) const {
    return read_excerpt([this](double at, const FrameConsumer& take) { read_from(at, take); },
                        time_s, frames);
  }

  /// Returns whether timestamps identify scenes. Timestamps are ambiguous if the selection joins
  /// parts of the input.
  bool has_scenes() const {
    return !info_.still && options_.input.source.selection.ranges.size() <= 1;
  }

  FramesFrom by_pts() const {
    return [this](double time_s, const FrameConsumer& take) {
      read_from(time_s - start_s_, [this, &take](Frame frame) {
        return take(filter_view(repairer_(std::move(frame))));
      });
    };
  }

  std::vector<TimedExcerpt> video_excerpts() {
    if (info_.still) return without_empty({excerpt_at(0, 1)});
    start_s_ = excerpt_at(0, 1).time_s;
    const auto [first, last] = part();
    const bool is_short = info_.duration_s > 0 && last - first < 1.0;
    if (info_.duration_s <= 0 || is_short) return leading_excerpts(first);
    std::vector<TimedExcerpt> excerpts;
    for (int i = 0; i < positions; ++i) {
      TimedExcerpt excerpt =
          excerpt_at(first + (last - first) * (i + 0.5) / positions, frames_per_excerpt);
      // If keyframes are far apart, excerpts at several positions begin at the same keyframe and
      // are identical. The list then contains the excerpt only once.
      const bool known = !excerpts.empty() && excerpt.time_s <= excerpts.back().time_s;
      if (!excerpt.frames.empty() && !known) excerpts.push_back(std::move(excerpt));
    }
    return excerpts.empty() ? leading_excerpts(first) : without_empty(std::move(excerpts));
  }

  /// Returns excerpts from the first frames. The estimation uses these excerpts if the clip is
  /// short or has an unknown length.
  std::vector<TimedExcerpt> leading_excerpts(double time_s) const {
    TimedExcerpt excerpt = excerpt_at(time_s, static_cast<int>(frames_ahead));
    if (excerpt.frames.empty()) excerpt = excerpt_at(0, static_cast<int>(frames_ahead));
    std::vector<TimedExcerpt> excerpts;
    for (Excerpt& part : split_excerpts(excerpt.frames))
      excerpts.push_back({.time_s = time_of(part.front()), .frames = std::move(part)});
    return excerpts;
  }

  static std::vector<TimedExcerpt> without_empty(std::vector<TimedExcerpt> excerpts) {
    std::erase_if(excerpts, [](const TimedExcerpt& excerpt) { return excerpt.frames.empty(); });
    return excerpts;
  }

  std::vector<Excerpt> stack_excerpts() const {
    const auto source = io::open_source(options_.input.file, excerpt_options());
    const double samples = static_cast<double>(format_.width) * format_.height;
    const auto bound = static_cast<std::int64_t>(std::max(max_samples / samples, 1.0));
    const std::int64_t count = std::clamp<std::int64_t>(info_.frames_estimate, 1, bound);
    std::vector<Excerpt> excerpts;
    for (std::int64_t i = 0, next = 0; i < count; ++i) {
      std::optional<Frame> frame = source->read();
      if (!frame) break;
      const std::int64_t place =
          (2 * next + 1) * count / (2 * std::min<std::int64_t>(slices, count));
      if (i < place) continue;
      excerpts.push_back({*std::move(frame)});
      ++next;
    }
    return excerpts;
  }

  /// Makes the times of scenes relative to the selected part of the input, like Frame::pts.
  void move_to_cut(std::vector<SceneNoise>& scenes) const {
    const double cut = part().first;
    for (SceneNoise& scene : scenes) scene.from_s -= cut;
  }

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  const io::VideoInfo& info_;
  const FrameFormat format_;
  mutable FrameRepairer repairer_;
  double start_s_ = 0;  // time of the input's first frame
};

/// Converts the excerpts to the pictures that sessions filter. For Interlaced::fields, each frame
/// becomes the field of its even rows. For other input, the frames do not change.
std::vector<Excerpt> as_filtered(const InputOptions& options, std::vector<Excerpt> excerpts) {
  if (options.interlaced == Interlaced::fields)
    for (Excerpt& excerpt : excerpts)
      for (Frame& frame : excerpt) frame = pipeline::field_of(frame, 0);
  return excerpts;
}

}  // namespace

bool can_read_again(const std::string& input) {
  std::error_code ignored;
  const auto type = std::filesystem::status(input, ignored).type();
  return input != "-" && type != std::filesystem::file_type::fifo &&
         type != std::filesystem::file_type::character;
}

InputSamples read_samples(const DenoiseOptions& options, const io::MediaSource& source) {
  return Search(options, source).samples();
}

NoiseRecord search_noise(const DenoiseOptions& options, const io::MediaSource& source,
                         const InputSamples& samples, const RepairPlan& repair) {
  return Search(options, source, repair).run(samples);
}

FoundNoise search_noise(const DenoiseOptions& options, const io::MediaSource& source) {
  InputSamples samples = read_samples(options, source);
  FoundNoise found;
  found.repair = choose_repair(options, source, excerpts_of(samples.excerpts));
  FrameRepairer repairer(found.repair, source.format());
  for (TimedExcerpt& excerpt : samples.excerpts) repair_all(repairer, excerpt.frames);
  found.noise = search_noise(options, source, samples, found.repair);
  return found;
}

std::vector<Excerpt> excerpts_from(const InputOptions& options, const std::vector<Frame>& frames) {
  return as_filtered(options, split_excerpts(frames));
}

std::vector<Excerpt> excerpts_from(const InputOptions& options, const InputSamples& samples) {
  return as_filtered(options, excerpts_of(samples.excerpts));
}

NoiseRecord noise_of_first_frames(const DenoiseOptions& options, const std::vector<Frame>& frames,
                                  const io::ValueScale& values) {
  if (frames.empty()) throw BadData("'" + options.input.file + "' has no frame; check the file");
  if (std::optional<SceneNoise> volume = noise_of_first_slices(options, frames, values))
    return {.layout = frames.front().format.layout,
            .unit = unit_of(values),
            .scenes = {*std::move(volume)}};
  const std::vector<Excerpt> excerpts = excerpts_from(options.input, frames);
  // The scene begins at the first selected frame, which may follow context frames.
  const auto inside = std::ranges::find(frames, false, &Frame::context_only);
  const double begin = time_of(inside == frames.end() ? frames.front() : *inside);
  SceneNoise scene = scene_noise(begin, excerpts, estimate_noise(excerpts));
  add_codec_error(excerpts, scene.estimate);
  add_codec_error_to_half(scene);
  return {.layout = frames.front().format.layout,
          .unit = unit_of(values),
          .scenes = {std::move(scene)}};
}

std::vector<Frame> read_frames(FrameSource& source, std::size_t count) {
  std::vector<Frame> frames;
  while (frames.size() < count) {
    std::optional<Frame> frame = source.read();
    if (!frame) break;
    frames.push_back(*std::move(frame));
  }
  return frames;
}

std::optional<Frame> PrefixedSource::read() {
  if (first_.empty()) return source_.read();
  std::optional<Frame> frame = std::move(first_.front());
  first_.pop_front();
  return frame;
}

}  // namespace lull::tools
