#include "io/encode/sample_depth.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/segments/segmented_sink.h"
#include "io/stacks/stack.h"
#include "io/write/encoding_sink.h"
#include "io/write/plain_sinks.h"
#include "io/write/sequence_sink.h"
#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

void refuse_second_frame(const std::string& path, const Container& container, FileSource& source,
                         const SinkOptions& options) {
  if (container.still() && !options.single && source.has_second_frame())
    throw InvalidArgument("'" + path + "' is a still picture (the input has several frames)" +
                          "; use .mkv");
}

class FileSink final : public EncodingSink {
 public:
  FileSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : EncodingSink(path, source, options),
        input_(source.demuxer().context()),
        selector_(source.selector()) {
    refuse_second_frame(path, container_, source, options);
    const auto choices = choose_encoders(container_, source, options);
    std::unique_ptr<Output> file;
    if (container_.pipe) {
      file = std::make_unique<OutputPipe>(options.descriptor);
    } else {
      file = std::make_unique<OutputFile>(path, file_options(options));
    }
    open(std::move(file), choices, source, options);
    relay_ = source.demuxer().share_relay();
    relay_->attach();
  }

  ~FileSink() override {
    if (relay_) relay_->close();
  }

  void write(Frame frame) override {
    check_frame(frame);
    if (frame.on_device) throw InternalError("the sink got a frame in GPU memory");
    if (container_.still() && ++frames_ > 1)
      throw InvalidArgument("a still picture cannot hold a second frame; use .mkv");
    if (embedder_) embedder_->push(frame);
    encoder_->send(frame);
    note_losses(frame);
    write_encoded();
    write_copies_until(frame);
  }

 private:
  void write_end() override {
    encoder_->send_end();
    write_encoded();
    for (auto rest = relay_->take(); !rest.empty(); rest = relay_->take())
      for (PacketPtr& packet : rest) muxer_->write_copied(std::move(packet));
    muxer_->flush_copies();
    muxer_->write_trailer();
  }

  void write_encoded() {
    while (PacketPtr packet = encoder_->receive())
      muxer_->write_video(embedder_ ? embedder_->embed(std::move(packet)) : std::move(packet));
  }

  // Writes the packets of the copied streams up to the time of `frame`. The order of packets in the
  // output thus does not depend on how far the demuxer has read ahead.
  void write_copies_until(const Frame& frame) {
    const std::int64_t end = selector_ ? selector_->input_time(frame.pts) : frame.pts;
    const auto is_due = [&](const AVPacket& packet) {
      const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
      const AVRational tick = input_.streams[packet.stream_index]->time_base;
      return time == AV_NOPTS_VALUE || av_compare_ts(time, tick, end, to_av(frame.time_base)) < 0;
    };
    for (PacketPtr& packet : relay_->take(is_due)) muxer_->write_copied(std::move(packet));
  }

  const AVFormatContext& input_;
  const std::shared_ptr<const FrameSelector> selector_;
  std::shared_ptr<PacketRelay> relay_;
  int frames_ = 0;
};

/// Dry run of opening a sink for one file: throws the errors that opening would throw, but creates
/// no output.
void check_file_output(const std::string& path, FileSource& source, const SinkOptions& options) {
  if (options.segments) return check_segmented_output(path, source, options);
  const Container container = container_of(path, source, options);
  refuse_second_frame(path, container, source, options);
  if (!container.pipe) try_output(path, source, options, file_options(options));
}

/// Throws an error with the reason `why` if the user requests segments. make_sink() calls this
/// function for outputs that do not support segments.
void refuse_segments(const std::string& path, const SinkOptions& options, const char* why) {
  if (options.segments)
    throw InvalidArgument("--segment-frames with the output '" + path + "' (" + why +
                          "); leave it out");
}

/// Returns the permissions that all files of a source have in common. For the input `-`, returns
/// the permissions of standard input.
Access access_of_source(const MediaSource& source) {
  if (const auto* file = dynamic_cast<const FileSource*>(&source)) {
    std::vector<std::string> files;
    for (const SequenceFile& one : file->demuxer().sequence()) files.push_back(one.path);
    if (files.empty()) files.push_back(file->path());
    return access_of(files, file->options().descriptor);
  }
  const auto* stack = dynamic_cast<const StackSource*>(&source);
  return stack ? access_of(stack->files()) : Access{};
}

/// Opens a sink. If `is_trial` is true, only performs the checks, creates no output, and may return
/// null.
std::unique_ptr<MediaSink> make_sink(const std::string& path, MediaSource& source,
                                     const SinkOptions& options, bool is_trial) {
  if (path == "null" || path == "hash") {
    refuse_stack(path, options);
    refuse_segments(path, options, "no file that could be continued");
    return path == "null" ? open_null_sink(source, options) : open_hash_sink(source, options);
  }
  if (!dynamic_cast<FileSource*>(&source)) {
    refuse_segments(path, options, "a stack of slices cannot be continued");
    if (options.width > 0)
      throw InvalidArgument("slices of another size for '" + path +
                            "' (a stack keeps its voxels); give a picture or a video");
  }
  if (auto sink = open_nifti_sink(path, source, options)) return sink;
  if (auto sink = open_zarr_sink(path, source, options)) return sink;
  if (auto sink = open_tiff_sink(path, source, options)) return sink;
  refuse_stack(path, options);
  auto* file = dynamic_cast<FileSource*>(&source);
  if (!file) throw InternalError("open_sink needs a source of open_source");
  check_drops(options.drops, *file);
  if (same_file(path, file->demuxer().path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  if (makes_sequence(path, *file, options) || makes_tiff(path, *file, options) ||
      makes_layered_exr(path, *file, options)) {
    refuse_segments(path, options, "each picture is a file of its own already");
    return open_sequence_sink(path, *file, options);
  }
  if (is_trial) {
    check_file_output(path, *file, options);
    return nullptr;
  }
  if (options.segments) return open_segmented_sink(path, *file, options);
  return std::make_unique<FileSink>(path, *file, options);
}

}  // namespace

ResultSamples result_samples(const std::string& path, const MediaSource& source,
                             const SinkOptions& options) {
  const auto* file = dynamic_cast<const FileSource*>(&source);
  if (!file || makes_layered_exr(path, *file, options)) return {};
  if (path == "null" || path == "hash")
    return {.bits = options.bits, .full_range = has_full_range(*file), .dither = options.dither};
  try {
    Container container = container_of(path, *file, options);
    container.numbered = makes_sequence(path, *file, options);
    return samples_for(choose_encoders(container, *file, options).front(), *file, options.dither);
  } catch (const InvalidArgument&) {
    return {};  // open_sink() reports the error
  }
}

bool holds_one_frame(const std::string& path, const MediaSource& source,
                     const SinkOptions& options) {
  const auto* file = dynamic_cast<const FileSource*>(&source);
  return file && path != "null" && path != "hash" && is_still_name(path, options.format) &&
         !file->info().still && !makes_sequence(path, *file, options) &&
         !keeps_tiff_pages(path, *file, options) && !makes_animation(path, *file, options);
}

bool keeps_layers(const std::string& path, const MediaSource& source, const SinkOptions& options) {
  const auto* file = dynamic_cast<const FileSource*>(&source);
  return file && path != "null" && path != "hash" && makes_layered_exr(path, *file, options);
}

std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                     const SinkOptions& options) {
  SinkOptions limited = options;
  limited.access = options.access & access_of_source(source);
  auto sink = make_sink(path, source, limited, false);
  if (options.strict_metadata) refuse_losses(sink->losses());
  return sink;
}

void check_output(const std::string& path, MediaSource& source, const SinkOptions& options) {
  SinkOptions limited = options;
  limited.access = options.access & access_of_source(source);
  const auto sink = make_sink(path, source, limited, true);
  if (options.strict_metadata && sink) refuse_losses(sink->losses());
}

}  // namespace lull::io
