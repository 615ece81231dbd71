#include "io/read/quantiser_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "io/ffmpeg/log_trace.h"
#include "io/read/quantiser_tag.h"

namespace lull::io {
namespace {

/// Returns the quantisation step of AV1, on the 0..255 scale, for a quantiser index. The function
/// interpolates in a table of 8-bit steps from the AV1 specification (section 7.12.2). The unit of
/// these steps is 1/8. The error of the interpolation is at most 3 %.
double step_of_av1(double index) {
  struct Point {
    double index, step;
  };
  constexpr std::array<Point, 11> points = {{{0, 4},
                                             {1, 8},
                                             {95, 102},
                                             {120, 152},
                                             {137, 203},
                                             {160, 305},
                                             {180, 440},
                                             {200, 639},
                                             {220, 933},
                                             {240, 1369},
                                             {255, 1828}}};
  std::size_t next = 1;
  while (next + 1 < points.size() && points[next].index < index) ++next;
  const Point &a = points[next - 1], &b = points[next];
  const double at = std::clamp((index - a.index) / (b.index - a.index), 0.0, 1.0);
  return std::lerp(a.step, b.step, at) / 8;
}

/// Stores the value of the syntax element `name` from a log line "<position> <name> <bits> =
/// <value>". Returns false if the line describes another element.
bool has_element(const std::string& line, const char* name, double& value) {
  const std::size_t at = line.find(name);
  const std::size_t equals = line.rfind("= ");
  if (at == std::string::npos || equals == std::string::npos || equals < at) return false;
  value = std::atof(line.c_str() + equals + 2);
  return true;
}

/// Returns the chroma QP for the luma QP `luma` (ITU-T H.264, table 8-15).
double chroma_parameter(double luma) {
  constexpr std::array<double, 22> table = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                            36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
  if (luma < 30) return luma;
  const double at = std::min(luma - 30, static_cast<double>(table.size() - 1));
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, table.size() - 1);
  return std::lerp(table[below], table[above], at - static_cast<double>(below));
}

}  // namespace

QuantiserTrace::QuantiserTrace(const AVStream& stream) : codec_(stream.codecpar->codec_id) {
  if (codec_ != AV_CODEC_ID_H264 && codec_ != AV_CODEC_ID_HEVC && codec_ != AV_CODEC_ID_AV1) return;
  const AVBitStreamFilter* const trace = av_bsf_get_by_name("trace_headers");
  if (!trace || av_bsf_alloc(trace, &filter_) < 0) return;
  const LogTrace lines([this](const std::string& line) { read(line); });
  if (avcodec_parameters_copy(filter_->par_in, stream.codecpar) < 0 || av_bsf_init(filter_) < 0)
    av_bsf_free(&filter_);
}

QuantiserTrace::~QuantiserTrace() { av_bsf_free(&filter_); }

void QuantiserTrace::add(const AVPacket& packet) {
  constexpr std::size_t max_waiting = 256;  // more than any decoder holds back
  if (!filter_ || packet.pts == AV_NOPTS_VALUE) return;
  const PacketPtr copy(av_packet_clone(&packet));
  if (!copy) return;
  sum_ = count_ = 0;
  const LogTrace lines([this](const std::string& line) { read(line); });
  if (av_bsf_send_packet(filter_, copy.get()) < 0) return;
  while (av_bsf_receive_packet(filter_, copy.get()) >= 0) av_packet_unref(copy.get());
  if (count_ == 0) return;
  by_time_[packet.pts] = sum_ / count_;
  if (by_time_.size() > max_waiting) by_time_.erase(by_time_.begin());
}

void QuantiserTrace::read(const std::string& line) {
  double value = 0;
  if (has_element(line, " init_qp_minus26 ", value) ||
      has_element(line, " pic_init_qp_minus26 ", value)) {
    initial_ = 26 + value;
  } else if (has_element(line, " slice_qp_delta ", value)) {
    sum_ += initial_ + value;
    ++count_;
  } else if (has_element(line, " base_q_idx ", value)) {
    sum_ += value;
    ++count_;
  }
}

std::array<double, 2> QuantiserTrace::steps_of(double parameter) const {
  if (codec_ == AV_CODEC_ID_AV1) return {step_of_av1(parameter), step_of_av1(parameter)};
  // Up to a luma QP of 43, the chroma QPs of ITU-T H.265 and H.264 differ by at most 1. Above 43,
  // the chroma QP of H.265 is the luma QP minus 6.
  const bool is_hevc_above = codec_ == AV_CODEC_ID_HEVC && parameter > 43;
  const double chroma = is_hevc_above ? parameter - 6 : chroma_parameter(parameter);
  return {0.63 * std::exp2(parameter / 6), 0.63 * std::exp2(chroma / 6)};
}

void QuantiserTrace::mark(AVFrame& picture) {
  const auto found = by_time_.find(picture.pts);
  if (found == by_time_.end()) return;
  const auto [luma, chroma] = steps_of(found->second);
  by_time_.erase(found);
  set_quantiser_steps(picture, luma, chroma);
}

}  // namespace lull::io
