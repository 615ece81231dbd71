#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "io/media.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/run.h"
#include "tools/commands/commands.h"
#include "tools/commands/signals.h"
#include "tools/report/exit_code.h"
#include "tools/report/progress.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/job.h"
#include "tools/sessions/memory_need.h"
#include "tools/sessions/noise_choice.h"
#include "tools/sessions/noise_search.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {
namespace {

using Backends = std::vector<bm3d::Backend>;

/// What tells the user of one run.
struct Reports {
  Log log;
  Progress progress;
  std::mutex mutex{};
  std::set<std::string> warned{};

  void info(const std::string& text) { log.write(LogLevel::info, text); }
  void warn(const std::string& text) { log.write(LogLevel::warning, text); }
  /// What several sessions, at a time or one after the other, say alike. From any thread.
  void warn_once(const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      if (!warned.insert(text).second) return;
    }
    warn(text);
  }
  void debug(const std::string& text) { log.write(LogLevel::debug, text); }
  void stopped(const DenoiseOptions& options, int signal) {
    const bool pipe = options.output == "-";
    progress.stopped(signal);
    log.write(LogLevel::error, "stopped by signal " + std::to_string(signal) + "; " +
                                   (pipe ? "standard output" : options.output) + " was not " +
                                   (pipe ? "written to its end" : "written") +
                                   (options.segment_frames > 0 ? "; go on with --resume" : ""));
  }
};

/// The temporary file, for the thread that ends the process when a stop takes too long.
class Leftover {
 public:
  void name(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

 private:
  std::mutex mutex_;
  std::string path_;
};

std::string describe(const io::Damage& damage, const std::string& input) {
  return std::to_string(damage.frames) + (damage.frames == 1 ? " frame" : " frames") + " of '" +
         input + "' damaged or missing (" + damage.first + ")";
}

/// The sink of a run. It does not give a result of damaged input its name, and it drops the frames
/// around those that were asked for, with --keep all but one.
class JudgingSink final : public FrameSink {
 public:
  JudgingSink(io::MediaSink& sink, const io::MediaSource& source, const DenoiseOptions& options)
      : sink_(sink), source_(source), options_(options) {}

  void write(Frame frame) override {
    if (frame.outside) {
      ++outside_;
      return;
    }
    const auto number = written_++;
    if (!options_.keep || number == *options_.keep) sink_.write(std::move(frame));
    if (number == options_.keep) kept_ = true;
  }

  /// Whether the frame of --keep is written. From any thread.
  bool has_kept() const { return kept_; }
  /// Frames that came around those that were asked for.
  std::int64_t outside() const { return outside_; }

  void finish() override {
    if (options_.keep && written_ <= *options_.keep)
      throw InvalidArgument("--keep " + std::to_string(*options_.keep) + " (there are " +
                            std::to_string(written_) +
                            " frames, counted from 0); choose one of "
                            "them");
    const auto accepts = [&] { return damage().frames <= options_.max_decode_errors; };
    const std::string kept = sink_.finish_if(accepts);
    if (accepts()) return;
    const io::Damage found = damage();
    throw BadData(describe(found, options_.input) +
                  (kept.empty() ? "" : "; what could be denoised is in '" + kept + "'") +
                  "; --max-decode-errors " + std::to_string(found.frames) + " accepts it");
  }

  /// Of what is decoded and what is copied. Once the source was read to its end: nobody else uses
  /// it then.
  io::Damage damage() const {
    io::Damage sum = source_.damage();
    const io::Damage copied = sink_.damage();
    sum.frames += copied.frames;
    if (sum.first.empty()) sum.first = copied.first;
    return sum;
  }

 private:
  io::MediaSink& sink_;
  const io::MediaSource& source_;
  const DenoiseOptions& options_;
  std::int64_t written_ = 0;  // or dropped for --keep
  std::int64_t outside_ = 0;
  std::atomic<bool> kept_ = false;
};

/// A source that ends once a single picture has its frame: nothing behind it matters then.
class SourceOfOne final : public FrameSource {
 public:
  SourceOfOne(FrameSource& source, const JudgingSink& sink) : source_(source), sink_(sink) {}
  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override { return sink_.has_kept() ? std::nullopt : source_.read(); }
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  FrameSource& source_;
  const JudgingSink& sink_;
};

/// A video of which one picture is made gives its first frame, unless another is asked for.
void take_first_frame(DenoiseOptions& options, Reports& reports) {
  if (options.keep) return;
  options.keep = 0;
  reports.warn("'" + options.output + "' is one picture: it gets the first frame of '" +
               options.input +
               "' alone (--start, --frames and --keep choose another, a name such as out.%04d.png "
               "takes them all)");
}

/// Why the CPU decodes although --hwaccel asks for a GPU; empty if none does.
std::string decoder_note(const DenoiseOptions& options, const Backends& backends,
                         const io::MediaSource& source) {
  if (options.hwaccel == Hwaccel::none) return {};
  std::string reason = why_no_gpu_decodes(options, backends);
  if (reason.empty()) reason = source.why_not_gpu();
  return reason.empty() ? "" : "decoding on the CPU, not with --hwaccel cuda (" + reason + ")";
}

io::SinkOptions sink_options(const DenoiseOptions& options) {
  io::SinkOptions sink;
  sink.vcodec = options.vcodec;
  sink.crf = options.crf;
  sink.vopts = options.vopts;
  sink.pix_fmt = options.pix_fmt;
  sink.lossless = options.lossless;
  sink.single = options.keep.has_value();
  sink.overwrite = options.overwrite;
  sink.format = options.output_format;
  sink.datatype = options.datatype;
  sink.strict_metadata = options.strict_metadata;
  sink.drops = options.drops;
  if (options.segment_frames > 0)
    sink.segments = {.frames = options.segment_frames, .resume = options.resume, .facts = {}};
  // The encoder keeps its own choice of threads: with some encoders the bytes depend on it, and
  // --threads must not change them.
  return sink;
}

/// What is known of the noise before anything is written. A pipe, which gives its frames once, is
/// looked at behind its sink, which has to be open before the first frame is read.
std::optional<NoiseRecord> noise_beforehand(const DenoiseOptions& options,
                                            const io::MediaSource& source) {
  auto noise = stated_noise(options, source.format(), source.info().values);
  if (noise || !can_read_again(options.input)) return noise;
  return search_noise(options, source);
}

void say_left_out(Reports& reports, const io::MediaSink& sink, std::size_t from) {
  for (std::size_t i = from; i < sink.left_out().size(); ++i)
    reports.warn("not in the output: " + sink.left_out()[i]);
}

/// How many of the first `frames` an earlier run has made.
std::int64_t done_before(const std::vector<io::FrameRange>& wanted, std::int64_t frames) {
  std::int64_t count = frames;
  for (const io::FrameRange& range : wanted)
    count -= std::max<std::int64_t>(std::min(range.last, frames - 1) - range.first + 1, 0);
  return count;
}

void refuse_overwriting(const DenoiseOptions& options) {
  const bool files = options.input != "-" && options.output != "-";
  if (files && io::same_file(options.input, options.output))
    throw InvalidArgument(options.output +
                          " is its own input (it would be overwritten while it "
                          "is read); choose another output");
  for (const std::string& file : {options.input, options.output})
    if (!options.log.file.empty() &&
        (file == options.log.file || io::same_file(file, options.log.file)))
      throw InvalidArgument("the log " + options.log.file +
                            " is the input or the output; choose another name");
}

JobFacts facts_of(const DenoiseOptions& options, const io::MediaSource& source,
                  const std::vector<bm3d::Backend>& backends) {
  JobFacts facts{.input = options.input,
                 .output = options.output,
                 .format = source.format(),
                 .frames = source.info().frames_estimate,
                 .devices = {}};
  for (const bm3d::Backend& backend : backends) facts.devices.push_back(name_of(backend));
  return facts;
}

int run(DenoiseOptions options, Reports& reports, std::int64_t& damaged_frames) {
  Leftover leftover;
  std::int64_t& most_memory = options.source.limits.memory;
  if (most_memory == 0) most_memory = default_max_memory();
  SignalWatch signals([&](int signal) {
    leftover.remove();
    reports.stopped(options, signal);
  });
  const ChosenDevices devices = choose_devices(options);
  auto source = io::open_source(options.input, source_options(options, devices.backends));
  if (const io::Damage damage = source->damage(); damage.frames > 0)
    reports.warn(damage.first + "; going on with what is there");
  reports.info(scale_note(options, source->info().values));
  rescale_sigma(options, source->info().values);
  std::optional<NoiseRecord> noise = noise_beforehand(options, *source);
  std::unique_ptr<io::MediaSink> sink;
  bool one = false;
  const auto open_sink = [&](const std::vector<io::JobFact>& facts) {
    one = io::holds_one_frame(options.output, *source, sink_options(options));
    if (one) take_first_frame(options, reports);
    io::SinkOptions given = sink_options(options);
    if (given.segments) given.segments->facts = facts;
    sink = io::open_sink(options.output, *source, given);
  };
  std::vector<Frame> first;
  if (!noise) {
    open_sink({});  // a pipe is no job in segments
    first = read_some(*source, frames_ahead);
    noise = noise_of_first(options, first, source->info().values);
  }
  for (const std::string& line : noise_lines(options, *noise)) reports.info(line);
  const ClipPlan plan = clip_plan(options, *noise, temporal_radius(options, source->info()));
  const bm3d::Params& params = plan.params();
  const bool fields = options.interlaced == Interlaced::fields;
  const FrameFormat seen = fields ? pipeline::field_format(source->format()) : source->format();
  check_memory(options, {params, source->format(), devices.backends});
  const Say say = [&](const std::string& text) { reports.warn_once(text); };
  OpenedDenoisers opened = open_sessions(options, plan, seen, devices.backends, say);
  // Frames in a GPU's memory are not for the CPU, be it that it took over or makes them smaller.
  const bool other = opened.backends.front().kind != devices.backends.front().kind;
  if ((other || plan.has_halves()) && source_options(options, devices.backends).gpu) {
    io::SourceOptions again = source_options(options, opened.backends);
    again.gpu.reset();
    source = io::open_source(options.input, again);
  }
  if (!sink) open_sink(job_facts(options, params, *noise, opened.backends));
  leftover.name(sink->temporary());
  const std::vector<io::FrameRange> wanted = sink->wanted();
  const std::vector<io::FrameRange> kept{{options.keep.value_or(0), options.keep.value_or(0)}};
  std::optional<Enough> enough;
  if (needs_margins(options)) enough.emplace(*source, opened.denoisers.size());
  leave_out_others(opened, options.keep ? kept : wanted, plan, seen, enough ? &*enough : nullptr,
                   say);
  reports.info(devices.reason);
  reports.info(decoder_note(options, opened.backends, *source));
  for (const std::string& text : source->info().notes) reports.warn(text);
  for (const std::string& text : sink->notes()) reports.info(text);
  say_left_out(reports, *sink, 0);
  const std::size_t said = sink->left_out().size();
  reports.debug("input: " + source->info().container + ", " + source->info().codec + ", " +
                source->info().pixel_format);
  reports.debug("output: " + sink->container() + ", " + sink->encoder() + ", " +
                sink->pixel_format());

  reports.progress.start(facts_of(options, *source, opened.backends));
  const auto denoiser = one_of(std::move(opened), source->format());
  JudgingSink judging(*sink, *source, options);
  const pipeline::PipelineOptions pipeline_options{.observer = [&](pipeline::PipelineStats stats) {
    stats.frames -= judging.outside();
    stats.skipped = done_before(wanted, stats.frames);
    if (stats.frames > 0) reports.progress.update(stats);
  }};
  pipeline::PipelineStats stats;
  try {
    BegunSource begun(*source, std::move(first));
    SourceOfOne of_one(begun, judging);
    FrameSource& frames = one ? static_cast<FrameSource&>(of_one) : begun;
    stats = pipeline::run(frames, *denoiser, judging, pipeline_options, signals.token());
  } catch (...) {
    damaged_frames = judging.damage().frames;
    reports.progress.clear();
    if (signals.signal() == 0) throw;
    stats.cancelled = true;  // the failure came of the stop, or made no difference any more
  }
  damaged_frames = judging.damage().frames;
  stats.frames -= judging.outside();
  if (!stats.cancelled) {
    stats.skipped = done_before(wanted, stats.frames);
    say_left_out(reports, *sink, said);
    reports.progress.done(stats, damaged_frames);
    if (damaged_frames > 0) reports.warn(describe(judging.damage(), options.input));
    if (options.keep) stats.frames = 1;
    reports.info(summary(stats, options.output));
    return 0;
  }
  sink.reset();
  reports.stopped(options, signals.signal());
  return 128 + signals.signal();
}

}  // namespace

int denoise(const DenoiseOptions& options) {
  check(options);
  refuse_overwriting(options);
  Reports reports{{options.log, options.quiet}, {options.progress, options.quiet}};
  std::int64_t damaged_frames = 0;
  try {
    return run(options, reports, damaged_frames);
  } catch (...) {
    const Failure failure = current_failure();
    reports.log.note_failure(failure.text);
    reports.progress.failed(failure.code, failure.text, damaged_frames);
    throw;
  }
}

}  // namespace lull::tools
