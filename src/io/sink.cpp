#include <exception>

#include "io/ffmpeg_log.h"
#include "io/muxer.h"
#include "io/stack.h"

namespace lull::io {
namespace {

class FileSink final : public MediaSink {
 public:
  FileSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : container_(container_of(path, source.traits())),
        format_(source.format()),
        container_name_(container_.format->name) {
    if (container_.still() && source.has_second_frame())
      throw InvalidArgument("'" + path + "' is a still picture (the input has several frames)" +
                            "; use .mkv");
    const auto choices = choose_encoders(container_, source, options);
    file_.emplace(path, options.overwrite);
    temporary_ = file_->temporary();
    Dictionary leftover;
    open_encoder(choices, source, options, leftover);
    muxer_.emplace(*file_, container_, source, *encoder_, leftover);
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
  const std::vector<std::string>& left_out() const noexcept override { return muxer_->left_out(); }
  const std::string& temporary() const noexcept override { return temporary_; }

 private:
  // The first that takes frames of this size; if none does, the first one's reason.
  void open_encoder(const std::vector<EncoderChoice>& choices, const FileSource& source,
                    const SinkOptions& options, Dictionary& leftover) {
    std::exception_ptr reason;
    for (const EncoderChoice& choice : choices) {
      try {
        leftover.clear();
        encoder_.emplace(choice, container_, source, options, leftover);
        encoder_name_ = choice.codec->name;
        pixel_format_name_ = name_of(choice.format);
        return;
      } catch (const InvalidArgument&) {
        if (!reason) reason = std::current_exception();
        if (!options.vopts.empty() || options.crf) break;  // these are not for another encoder
      }
    }
    std::rethrow_exception(reason);
  }

  void write_end() {
    encoder_->send_end();
    pass_on();
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
  std::string temporary_;
  std::optional<OutputFile> file_;
  std::optional<Encoder> encoder_;
  std::optional<Muxer> muxer_;
  std::shared_ptr<PacketRelay> relay_;
  int frames_ = 0;
};

}  // namespace

std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                     const SinkOptions& options) {
  if (auto sink = open_nifti_sink(path, source, options)) return sink;
  if (auto sink = open_tiff_sink(path, source, options)) return sink;
  refuse_stack(path, options);
  auto* file = dynamic_cast<FileSource*>(&source);
  if (!file) throw InternalError("open_sink needs a source of open_source");
  if (same_file(path, file->demuxer().path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  return std::make_unique<FileSink>(path, *file, options);
}

}  // namespace lull::io
