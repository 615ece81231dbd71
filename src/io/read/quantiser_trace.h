#pragma once
// Reads the quantisation of H.264, HEVC and AV1 from the headers of slices and frames.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

extern "C" {
#include <libavcodec/bsf.h>
}

namespace lull::io {

/// The quantisation of each packet of a stream. FFmpeg parses the headers (its bitstream filter
/// trace_headers) and logs their elements.
class QuantiserTrace {
 public:
  /// Does nothing if the codec is another one, or if FFmpeg lacks the filter.
  explicit QuantiserTrace(const AVStream& stream);
  ~QuantiserTrace();
  QuantiserTrace(const QuantiserTrace&) = delete;
  QuantiserTrace& operator=(const QuantiserTrace&) = delete;

  /// Reads the headers of a packet. Damaged packets and packets without a time are ignored.
  void add(const AVPacket& packet);
  /// Stores in `picture` the quantisation of the packet that has the same time, for
  /// quantiser_steps().
  void mark(AVFrame& picture);
  /// Forgets all packets, after a seek.
  void restart() { by_time_.clear(); }

 private:
  void read(const std::string& line);
  std::array<double, 2> steps_of(double parameter) const;

  AVBSFContext* filter_ = nullptr;
  AVCodecID codec_ = AV_CODEC_ID_NONE;
  double initial_ = 26;  // parameter to which slices add their difference
  double sum_ = 0;       // of the parameters of the slices or frames of a packet
  int count_ = 0;
  std::map<std::int64_t, double> by_time_;  // mean parameter of each packet
};

}  // namespace lull::io
