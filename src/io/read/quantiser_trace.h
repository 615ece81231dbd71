#pragma once
// Reads the quantisation parameters (QP) of H.264, HEVC and AV1 from slice and frame headers.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

extern "C" {
#include <libavcodec/bsf.h>
}

namespace lull::io {

/// Reads the QP of each packet of a stream from the log of FFmpeg's bitstream filter trace_headers,
/// and stores the QP.
class QuantiserTrace {
 public:
  /// Opens the bitstream filter. If FFmpeg lacks the filter, or if the codec is not H.264, HEVC or
  /// AV1, the object has no effect.
  explicit QuantiserTrace(const AVStream& stream);
  ~QuantiserTrace();
  QuantiserTrace(const QuantiserTrace&) = delete;
  QuantiserTrace& operator=(const QuantiserTrace&) = delete;

  /// Reads the headers of a packet. Ignores damaged packets and packets without a timestamp.
  void add(const AVPacket& packet);
  /// Stores quantisation steps in `picture`, from the packet with the same timestamp, for
  /// quantiser_steps().
  void mark(AVFrame& picture);
  /// Removes all stored packets. The caller must call this function after a seek.
  void restart() { by_time_.clear(); }

 private:
  void read(const std::string& line);
  std::array<double, 2> steps_of(double parameter) const;

  AVBSFContext* filter_ = nullptr;
  AVCodecID codec_ = AV_CODEC_ID_NONE;
  double initial_ = 26;  // parameter to which slices add their difference
  double sum_ = 0;       // sum of the parameters of a packet's slices or frames
  int count_ = 0;
  std::map<std::int64_t, double> by_time_;  // mean parameter of each packet
};

}  // namespace lull::io
