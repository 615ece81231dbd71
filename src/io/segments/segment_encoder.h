#pragma once
// Frames into segments: an encoder for each, so that it depends on no other.

#include <cstdint>
#include <memory>
#include <vector>

#include "io/encode/encoder.h"
#include "io/segments/segment_file.h"

namespace lull::io {

class SegmentEncoder {
 public:
  /// `encoder` is the first one, unused. All must outlive this.
  SegmentEncoder(std::unique_ptr<Encoder>& encoder, const Container& container,
                 const EncoderInput& input, const SinkOptions& options);

  /// Whether a segment is being made, and how many frames it has.
  bool busy() const { return writer_ != nullptr; }
  void begin(std::unique_ptr<SegmentWriter> writer);
  /// @throws InternalError  the frame has no samples; IoError
  void send(const Frame& frame);
  /// The segment is on the disk. @throws IoError, CannotCreate
  SegmentRecord end();

 private:
  void write_packets();

  std::unique_ptr<Encoder>& encoder_;
  const Container& container_;
  const EncoderInput& input_;
  const SinkOptions& options_;
  std::vector<std::uint8_t> headers_;  // that all encoders have to agree on
  bool used_ = false;                  // the encoder
  std::unique_ptr<SegmentWriter> writer_;
  std::int64_t frames_ = 0;
};

}  // namespace lull::io
