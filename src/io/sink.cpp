#include "io/ffmpeg_log.h"
#include "io/loss_notes.h"
#include "io/losses.h"
#include "io/muxer.h"
#include "io/plain_sinks.h"
#include "io/segmented_sink.h"
#include "io/sequence_sink.h"
#include "io/stack.h"

namespace lull::io {
namespace {

class FileSink final : public MediaSink {
 public:
  FileSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : container_(container_of(path, source, options.format)),
        format_(source.format()),
        container_name_(container_.format->name),
        losses_(options.strict_metadata) {
    if (container_.still() && !options.single && source.has_second_frame())
      throw InvalidArgument("'" + path + "' is a still picture (the input has several frames)" +
                            "; use .mkv");
    const auto choices = choose_encoders(container_, source, options);
    if (container_.pipe) {
      file_ = std::make_unique<OutputPipe>(options.descriptor);
    } else {
      file_ = std::make_unique<OutputFile>(path, options.overwrite);
    }
    Dictionary leftover;
    encoder_ = open_encoder(choices, container_, source, options, leftover);
    encoder_name_ = encoder_->choice().codec->name;
    pixel_format_name_ = name_of(encoder_->choice().format);
    muxer_.emplace(*file_, container_, source, *encoder_, leftover);
    losses_.add(muxer_->left_out());
    if (!container_.still()) {
      losses_.add(losses_of(source, container_, encoder_->context()));
      losses_.add(loss_of_frame(source.first(), encoder_->context()));
    }
    relay_ = source.demuxer().share_relay();
    relay_->attach();
  }

  ~FileSink() override {
    if (relay_) relay_->close();
  }

  void write(Frame frame) override {
    if (frame.format != format_) throw InternalError("a frame of another format came to the sink");
    if (frame.on_device) throw InternalError("a frame in the memory of a GPU came to the sink");
    if (container_.still() && ++frames_ > 1)
      throw InvalidArgument("a still picture cannot hold a second frame; use .mkv");
    encoder_->send(frame);
    if (!container_.still()) losses_.add_of_frame(frame, *encoder_, container_);
    losses_.check();
    pass_on();
  }

  void finish() override {
    write_end();
    file_->commit();
  }

  Damage damage() const override { return muxer_->damage(); }

  std::string finish_if(const std::function<bool()>& accepts) override {
    write_end();
    if (!accepts()) return file_->keep();
    file_->commit();
    return {};
  }

  const std::string& encoder() const noexcept override { return encoder_name_; }
  const std::string& pixel_format() const noexcept override { return pixel_format_name_; }
  const std::string& container() const noexcept override { return container_name_; }
  const std::vector<std::string>& left_out() const noexcept override { return losses_.list(); }
  const std::string& temporary() const noexcept override { return file_->temporary(); }

 private:
  void write_end() {
    encoder_->send_end();
    pass_on();
    muxer_->end_copies();
    muxer_->write_trailer();
  }

  // What is ready in the encoder and what the demuxer left for copying.
  void pass_on() {
    while (PacketPtr packet = encoder_->receive()) muxer_->write_video(std::move(packet));
    for (PacketPtr& packet : relay_->take()) muxer_->write_copied(std::move(packet));
  }

  Container container_;
  FrameFormat format_;
  std::string encoder_name_, pixel_format_name_, container_name_;
  LossNotes losses_;
  std::unique_ptr<Output> file_;
  std::unique_ptr<Encoder> encoder_;
  std::optional<Muxer> muxer_;
  std::shared_ptr<PacketRelay> relay_;
  int frames_ = 0;
};

/// Only what FileSink makes can be made in segments.
void refuse_segments(const std::string& path, const SinkOptions& options, const char* why) {
  if (options.segments)
    throw InvalidArgument("--segment-frames with the output '" + path + "' (" + why +
                          "); leave it out");
}

std::unique_ptr<MediaSink> make_sink(const std::string& path, MediaSource& source,
                                     const SinkOptions& options) {
  if (path == "null" || path == "hash") {
    refuse_stack(path, options);
    refuse_segments(path, options, "no file that could be continued");
    return path == "null" ? open_null_sink(source) : open_hash_sink(source, options.descriptor);
  }
  if (!dynamic_cast<FileSource*>(&source))
    refuse_segments(path, options, "a stack of slices is written as a whole");
  if (auto sink = open_nifti_sink(path, source, options)) return sink;
  if (auto sink = open_tiff_sink(path, source, options)) return sink;
  refuse_stack(path, options);
  auto* file = dynamic_cast<FileSource*>(&source);
  if (!file) throw InternalError("open_sink needs a source of open_source");
  if (same_file(path, file->demuxer().path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  if (makes_sequence(path, *file, options) || makes_float_tiff(path, *file, options)) {
    refuse_segments(path, options, "each picture is a file of its own already");
    return open_sequence_sink(path, *file, options);
  }
  if (options.segments) return open_segmented_sink(path, *file, options);
  return std::make_unique<FileSink>(path, *file, options);
}

}  // namespace

std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                     const SinkOptions& options) {
  auto sink = make_sink(path, source, options);
  if (options.strict_metadata) refuse_losses(sink->left_out());
  return sink;
}

}  // namespace lull::io
