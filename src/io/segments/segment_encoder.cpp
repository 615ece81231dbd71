#include "io/segments/segment_encoder.h"

#include <algorithm>
#include <utility>

namespace lull::io {

SegmentEncoder::SegmentEncoder(std::unique_ptr<Encoder>& encoder, const Container& container,
                               const EncoderInput& input, const SinkOptions& options)
    : encoder_(encoder), container_(container), input_(input), options_(options) {
  const AVCodecContext& context = encoder_->context();
  headers_.assign(context.extradata, context.extradata + context.extradata_size);
}

// Begins a segment. The first segment uses the encoder that is already open; each further segment
// opens a new encoder.
void SegmentEncoder::begin(std::unique_ptr<SegmentWriter> writer) {
  frames_ = 0;
  writer_ = std::move(writer);
  if (!std::exchange(used_, true)) return;
  const EncoderChoice choice = encoder_->choice();
  const std::shared_ptr<FrameTimes> times = encoder_->times();
  encoder_.reset();  // frees the memory of the encoder before the next one is opened
  Dictionary leftover;
  encoder_ = std::make_unique<Encoder>(choice, container_, input_, options_, leftover, times);
  const AVCodecContext& context = encoder_->context();
  if (!std::equal(headers_.begin(), headers_.end(), context.extradata,
                  context.extradata + context.extradata_size))
    throw IoError(std::string(choice.codec->name) +
                  " writes different headers for each video (segments could not be joined); leave "
                  "--segment-frames out");
}

void SegmentEncoder::send(const Frame& frame) {
  if (!frame.pixels) throw InternalError("the sink got a frame without samples");
  encoder_->send(frame);
  ++frames_;
  write_packets();
}

SegmentRecord SegmentEncoder::end() {
  encoder_->send_end();
  write_packets();
  const SegmentRecord record = writer_->finish(frames_);
  writer_.reset();
  return record;
}

void SegmentEncoder::write_packets() {
  while (const PacketPtr packet = encoder_->receive()) writer_->write(*packet);
}

}  // namespace lull::io
