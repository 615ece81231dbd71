#pragma once
// Encodes frames as independent segments, each with its own encoder.

#include <cstdint>
#include <memory>
#include <vector>

#include "io/encode/encoder.h"
#include "io/segments/segment_file.h"

namespace lull::io {

class SegmentEncoder {
 public:
  /// All arguments must outlive this object.
  /// @param encoder  the encoder of the first segment, which has not encoded any frame
  SegmentEncoder(std::unique_ptr<Encoder>& encoder, const Container& container,
                 const EncoderInput& input, const SinkOptions& options);

  /// Returns whether a segment has begun and has not ended.
  bool busy() const { return writer_ != nullptr; }
  void begin(std::unique_ptr<SegmentWriter> writer);
  /// Encodes the next frame.
  /// @throws InternalError  the frame has no samples
  /// @throws IoError
  void send(const Frame& frame);
  /// Completes the segment and writes its file to the disk.
  /// @throws IoError, CannotCreate
  SegmentRecord end();

 private:
  void write_packets();

  std::unique_ptr<Encoder>& encoder_;
  const Container& container_;
  const EncoderInput& input_;
  const SinkOptions& options_;
  std::vector<std::uint8_t> headers_;  // codec headers, equal for all encoders
  bool used_ = false;                  // whether the first encoder has been used
  std::unique_ptr<SegmentWriter> writer_;
  std::int64_t frames_ = 0;
};

}  // namespace lull::io
