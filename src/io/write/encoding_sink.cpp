#include "io/write/encoding_sink.h"

#include <utility>

#include "io/write/losses.h"

namespace lull::io {
namespace {

/// A sink that encodes no frames. The constructor throws an error if lull cannot write the output.
class TrialSink final : public EncodingSink {
 public:
  TrialSink(const std::string& path, const FileSource& source, const SinkOptions& options,
            const OutputFileOptions& file)
      : EncodingSink(path, source, options) {
    const auto choices = choose_encoders(container_, source, options);
    open(std::make_unique<OutputFile>(path, file), choices, source, options);
    losses_.check();
  }
  void write(Frame) override { throw InternalError("a trial sink got a frame"); }

 private:
  void write_end() override {}
};

}  // namespace

EncodingSink::EncodingSink(const std::string& path, const FileSource& source,
                           const SinkOptions& options)
    : container_(container_of(path, source, options)),
      losses_(options.strict_metadata),
      format_(written_format(source, options)),
      container_name_(container_.format->name) {}

void EncodingSink::open(std::unique_ptr<Output> file, const std::vector<EncoderChoice>& choices,
                        const FileSource& source, const SinkOptions& options) {
  file_ = std::move(file);
  if (container_.still()) embed_metadata(choices, source, options);
  Dictionary leftover;
  encoder_ = open_encoder(choices, container_, source, options, leftover);
  encoder_name_ = encoder_->choice().codec->name;
  pixel_format_name_ = name_of(encoder_->choice().format);
  muxer_.emplace(*file_, container_, source, *encoder_, leftover);
  const EncoderChoice& choice = encoder_->choice();
  if (!choice.note.empty()) notes_.push_back(choice.note);
  notes_.insert(notes_.end(), muxer_->notes().begin(), muxer_->notes().end());
  losses_.add(choice.loss);
  losses_.add(muxer_->losses());
  losses_.add(lost_layers(source));
  if (container_.still()) return;
  losses_.add(picture_losses_in_video(source, container_));
  losses_.add(losses_of(source, container_, encoder_->context()));
  losses_.add(loss_of_frame(source.first(), encoder_->context()));
}

void EncodingSink::embed_metadata(const std::vector<EncoderChoice>& choices,
                                  const FileSource& source, const SinkOptions& options) {
  embedder_.emplace(source, container_, options, choices);
  container_.rotation = embedder_->rotation();
  losses_.add(embedder_->losses());
  notes_.insert(notes_.end(), embedder_->notes().begin(), embedder_->notes().end());
}

void EncodingSink::check_frame(const Frame& frame) const {
  if (frame.pixels && frame.format != format_)
    throw InternalError("the sink got a frame of another format");
}

void EncodingSink::note_losses(const Frame& frame) {
  if (!container_.still()) losses_.add_of_frame(frame, *encoder_, container_);
  losses_.check();
}

void EncodingSink::finish() {
  write_end();
  commit();
}

std::string EncodingSink::finish_if(const std::function<bool()>& accepts) {
  write_end();
  if (!accepts()) return file_->keep_partial();
  commit();
  return {};
}

void try_output(const std::string& path, const FileSource& source, const SinkOptions& options,
                const OutputFileOptions& file) {
  const TrialSink sink(path, source, options, file);
}

}  // namespace lull::io
