#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "io/media.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/part_denoiser.h"
#include "pipeline/run.h"
#include "tools/commands.h"
#include "tools/device_choice.h"
#include "tools/exit_code.h"
#include "tools/job.h"
#include "tools/open_denoiser.h"
#include "tools/progress.h"
#include "tools/signals.h"

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

/// The sink of a run, which does not give a result of damaged input its name, and takes the frame
/// of
/// --keep alone.
class JudgingSink final : public FrameSink {
 public:
  JudgingSink(io::MediaSink& sink, const io::MediaSource& source, const DenoiseOptions& options)
      : sink_(sink), source_(source), options_(options) {}

  void write(Frame frame) override {
    if (const auto number = written_++; !options_.keep || number == *options_.keep)
      sink_.write(std::move(frame));
  }

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
};

/// A pipe gives what it has once.
bool can_read_again(const std::string& input) {
  std::error_code ignored;
  const auto type = std::filesystem::status(input, ignored).type();
  return input != "-" && type != std::filesystem::file_type::fifo &&
         type != std::filesystem::file_type::character;
}

/// Why no GPU decodes though --hwaccel asks for it; empty if one may. Frames in its memory are for
/// nobody but the denoiser on it.
std::string why_no_gpu_decodes(const DenoiseOptions& options, const Backends& backends) {
  if (backends.front().kind != bm3d::BackendKind::cuda) return "frames are not denoised on a GPU";
  if (backends.size() > 1 && may_be_temporal(options))
    return "several GPUs look at the same frames over time";
  if (options.interlaced == Interlaced::fields) return "fields are taken apart there";
  if (options.fallback == Fallback::cpu && !can_read_again(options.input))
    return "--fallback cpu would have to read the input again, which is a pipe";
  return {};
}

io::SourceOptions source_options(const DenoiseOptions& options, const Backends& backends) {
  io::SourceOptions source = tools::source_options(options);
  source.memory = bm3d::frame_memory(backends.front());
  source.threads = options.threads;
  source.pass_damage = true;
  source.refuse_interlaced = options.interlaced == Interlaced::refuse;
  if (options.hwaccel == Hwaccel::cuda && why_no_gpu_decodes(options, backends).empty())
    source.gpu = backends.front().device;
  return source;
}

/// Why the CPU decodes although --hwaccel asks for a GPU; empty if none does.
std::string decoder_note(const DenoiseOptions& options, const Backends& backends,
                         const io::MediaSource& source) {
  if (options.hwaccel == Hwaccel::none) return {};
  std::string reason = why_no_gpu_decodes(options, backends);
  if (reason.empty()) reason = source.why_not_gpu();
  return reason.empty() ? "" : "decoding on the CPU, not with --hwaccel cuda (" + reason + ")";
}

io::SinkOptions sink_options(const DenoiseOptions& options, const bm3d::Params& params,
                             const std::vector<bm3d::Backend>& backends) {
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
  if (options.segment_frames > 0)
    sink.segments = {.frames = options.segment_frames,
                     .resume = options.resume,
                     .facts = job_facts(options, params, backends)};
  // The encoder keeps its own choice of threads: with some encoders the bytes depend on it, and
  // --threads must not change them.
  return sink;
}

void say_left_out(Reports& reports, const io::MediaSink& sink, std::size_t from) {
  for (std::size_t i = from; i < sink.left_out().size(); ++i)
    reports.warn("not in the output: " + sink.left_out()[i]);
}

/// A job in segments has one kind of device, so that its bytes do not depend on when one fails.
Fallback fallback_of(const DenoiseOptions& options) {
  const bool other_later = options.fallback == Fallback::cpu && options.segment_frames > 0;
  return other_later ? Fallback::cpu_at_start : options.fallback;
}

/// What denoises a stream: one session for whole frames, or one for the fields of either parity.
OpenedDenoisers open_sessions(const DenoiseOptions& options, const bm3d::Params& params,
                              const FrameFormat& format, const std::vector<bm3d::Backend>& backends,
                              Reports& reports) {
  return open_denoisers(options.interlaced == Interlaced::fields ? 2 : 1, params, format, backends,
                        fallback_of(options),
                        [&](const std::string& text) { reports.warn_once(text); });
}

/// Of a job that goes on, only what is missing is denoised, and with --keep one frame. `format` is
/// what sessions see.
void leave_out_others(OpenedDenoisers& opened, const std::vector<io::FrameRange>& wanted,
                      const bm3d::Params& params, const FrameFormat& format, Reports& reports) {
  std::vector<pipeline::FrameSpan> spans;
  for (const io::FrameRange& range : wanted) spans.push_back({range.first, range.last});
  const bool all =
      spans.size() == 1 && spans.front().first == 0 && spans.front().last == io::FrameRange{}.last;
  if (all) return;
  // Without fallback: another device would give other bytes.
  const pipeline::SessionOpener reopen = [params, format, backends = opened.backends, &reports] {
    return open_denoiser(params, format, backends, Fallback::none,
                         [&](const std::string& text) { reports.warn_once(text); })
        .denoiser;
  };
  for (std::unique_ptr<Denoiser>& session : opened.denoisers)
    session =
        pipeline::by_parts(std::move(session), reopen, spans, surroundings_of(params, format));
}

/// For whole frames.
std::unique_ptr<Denoiser> one_of(OpenedDenoisers opened, const FrameFormat& format) {
  std::vector<std::unique_ptr<Denoiser>>& sessions = opened.denoisers;
  if (sessions.size() == 1) return std::move(sessions.front());
  return pipeline::by_fields(format, std::move(sessions[0]), std::move(sessions[1]));
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
  SignalWatch signals([&](int signal) {
    leftover.remove();
    reports.stopped(options, signal);
  });
  const ChosenDevices devices = choose_devices(options);
  auto source = io::open_source(options.input, source_options(options, devices.backends));
  if (const io::Damage damage = source->damage(); damage.frames > 0)
    reports.warn(damage.first + "; going on with what is there");
  rescale_sigma(options, source->info().values);
  const bm3d::Params params = make_params(options, temporal_radius(options, source->info()));
  const bool fields = options.interlaced == Interlaced::fields;
  const FrameFormat seen = fields ? pipeline::field_format(source->format()) : source->format();
  OpenedDenoisers opened = open_sessions(options, params, seen, devices.backends, reports);
  // Frames in a GPU's memory are not for the CPU that took over.
  const bool reopen = opened.backends.front().kind != devices.backends.front().kind &&
                      source_options(options, devices.backends).gpu;
  if (reopen) source = io::open_source(options.input, source_options(options, opened.backends));
  auto sink =
      io::open_sink(options.output, *source, sink_options(options, params, opened.backends));
  leftover.name(sink->temporary());
  const std::vector<io::FrameRange> wanted = sink->wanted();
  const std::vector<io::FrameRange> kept{{options.keep.value_or(0), options.keep.value_or(0)}};
  leave_out_others(opened, options.keep ? kept : wanted, params, seen, reports);
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
    stats.skipped = done_before(wanted, stats.frames);
    reports.progress.update(stats);
  }};
  pipeline::PipelineStats stats;
  try {
    stats = pipeline::run(*source, *denoiser, judging, pipeline_options, signals.token());
  } catch (...) {
    damaged_frames = judging.damage().frames;
    reports.progress.clear();
    if (signals.signal() == 0) throw;
    stats.cancelled = true;  // the failure came of the stop, or made no difference any more
  }
  damaged_frames = judging.damage().frames;
  if (!stats.cancelled) {
    stats.skipped = done_before(wanted, stats.frames);
    say_left_out(reports, *sink, said);
    reports.progress.done(stats, damaged_frames);
    if (damaged_frames > 0) reports.warn(describe(judging.damage(), options.input));
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
