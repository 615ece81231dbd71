#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "io/media.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/run.h"
#include "pipeline/sharded_denoiser.h"
#include "tools/commands.h"
#include "tools/device_choice.h"
#include "tools/progress.h"
#include "tools/signals.h"

namespace lull::tools {
namespace {

void say(const DenoiseOptions& options, const std::string& text) {
  if (!options.quiet && !text.empty()) std::fprintf(stderr, "lull: %s\n", text.c_str());
}

void say_stopped(const DenoiseOptions& options, int signal) {
  const bool pipe = options.output == "-";
  std::fprintf(stderr, "%slull: stopped by signal %d; %s was not %s\n",
               isatty(STDERR_FILENO) ? "\r\033[K" : "", signal,
               pipe ? "standard output" : options.output.c_str(),
               pipe ? "written to its end" : "written");
}

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

std::unique_ptr<Denoiser> open_sessions(const bm3d::Params& params, const FrameFormat& format,
                                        const std::vector<bm3d::Backend>& backends) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (const bm3d::Backend& backend : backends)
    sessions.push_back(bm3d::open(params, format, backend));
  if (sessions.size() == 1) return std::move(sessions.front());
  return pipeline::shard(std::move(sessions));
}

std::unique_ptr<Denoiser> open_denoiser(const DenoiseOptions& options, const bm3d::Params& params,
                                        const io::MediaSource& source,
                                        const std::vector<bm3d::Backend>& backends) {
  const FrameFormat& format = source.format();
  if (options.interlaced != Interlaced::fields) return open_sessions(params, format, backends);
  return pipeline::by_fields(format,
                             open_sessions(params, pipeline::field_format(format), backends));
}

io::SourceOptions source_options(const DenoiseOptions& options, const bm3d::Backend& first) {
  io::SourceOptions source = tools::source_options(options);
  source.memory = bm3d::frame_memory(first);
  source.threads = options.threads;
  source.refuse_interlaced = options.interlaced == Interlaced::refuse;
  const bool by_fields = options.interlaced == Interlaced::fields;  // taken apart by the CPU
  if (!by_fields && options.hwaccel == Hwaccel::cuda && first.kind == bm3d::BackendKind::cuda)
    source.gpu = first.device;
  return source;
}

/// Why the CPU decodes although --hwaccel asks for a GPU; empty if none does.
std::string decoder_note(const DenoiseOptions& options, const bm3d::Backend& first,
                         const io::MediaSource& source) {
  if (options.hwaccel == Hwaccel::none) return {};
  std::string reason = first.kind == bm3d::BackendKind::cuda ? source.why_not_gpu()
                                                             : "frames are not denoised on a GPU";
  if (options.interlaced == Interlaced::fields) reason = "fields are taken apart there";
  return reason.empty() ? "" : "decoding on the CPU, not with --hwaccel cuda (" + reason + ")";
}

io::SinkOptions sink_options(const DenoiseOptions& options) {
  io::SinkOptions sink;
  sink.vcodec = options.vcodec;
  sink.crf = options.crf;
  sink.vopts = options.vopts;
  sink.pix_fmt = options.pix_fmt;
  sink.lossless = options.lossless;
  sink.overwrite = options.overwrite;
  sink.format = options.output_format;
  sink.datatype = options.datatype;
  sink.strict_metadata = options.strict_metadata;
  // The encoder keeps its own choice of threads: with some encoders the bytes depend on it, and
  // --threads must not change them.
  return sink;
}

void say_left_out(const DenoiseOptions& options, const io::MediaSink& sink, std::size_t from) {
  for (std::size_t i = from; i < sink.left_out().size(); ++i)
    say(options, "warning: not in the output: " + sink.left_out()[i]);
}

}  // namespace

int denoise(const DenoiseOptions& given) {
  DenoiseOptions options = given;
  Leftover leftover;
  SignalWatch signals([&](int signal) {
    leftover.remove();
    say_stopped(options, signal);
  });
  check(options);
  const ChosenDevices devices = choose_devices(options);
  const bool files = options.input != "-" && options.output != "-";
  if (files && io::same_file(options.input, options.output))
    throw InvalidArgument(options.output +
                          " is its own input (it would be overwritten while it "
                          "is read); choose another output");

  const bm3d::Backend& first = devices.backends.front();
  const auto source = io::open_source(options.input, source_options(options, first));
  rescale_sigma(options, source->info().values);
  const bm3d::Params params = make_params(options);
  const auto denoiser = open_denoiser(options, params, *source, devices.backends);
  auto sink = io::open_sink(options.output, *source, sink_options(options));
  leftover.name(sink->temporary());
  say(options, devices.reason);
  say(options, decoder_note(options, first, *source));
  for (const std::string& text : source->info().notes) say(options, "warning: " + text);
  say_left_out(options, *sink, 0);
  const std::size_t said = sink->left_out().size();

  Progress progress(source->info().frames_estimate, options.quiet);
  const pipeline::PipelineOptions pipeline_options{
      .observer = [&](const pipeline::PipelineStats& stats) { progress.update(stats); }};
  pipeline::PipelineStats stats;
  try {
    stats = pipeline::run(*source, *denoiser, *sink, pipeline_options, signals.token());
  } catch (...) {
    progress.clear();
    if (signals.signal() == 0) throw;
    stats.cancelled = true;  // the failure came of the stop, or made no difference any more
  }
  if (!stats.cancelled) {
    say_left_out(options, *sink, said);
    progress.summary(stats, options.output);
    return 0;
  }
  progress.clear();
  sink.reset();
  say_stopped(options, signals.signal());
  return 128 + signals.signal();
}

}  // namespace lull::tools
