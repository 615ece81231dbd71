#include "io/demux/damage.h"

#include <algorithm>

#include "core/error.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {
namespace {

constexpr int max_frames_in_decoder = 64;  // upper bound, for any number of threads

}  // namespace

void DamageCount::note(const std::string& text) {
  if (!pass_) throw BadData(text);
  if (found_.frames == 0) found_.first = text;
  found_.frames = std::max(frames_, faults_);
}

void DamageCount::count(const std::string& text) {
  ++frames_;
  note(text);
}

void DamageCount::add_structure_faults(std::int64_t faults, const std::string& text) {
  if (faults <= faults_) return;
  faults_ = faults;
  note(text);
}

bool DamageCount::is_known(std::int64_t pts) const {
  return pts != AV_NOPTS_VALUE && std::ranges::find(recent_, pts) != recent_.end();
}

void DamageCount::add_frame(const std::string& text, std::int64_t pts) {
  if (is_known(pts)) return;
  count(text);
  recent_.push_back(pts);
  if (recent_.size() > max_frames_in_decoder) recent_.pop_front();
}

void DamageCount::add_packet(const std::string& text, std::int64_t pts) {
  add_frame(text, pts);
  ++packets_;
  since_packet_ = 0;
}

void DamageCount::add_missing_frame(const std::string& text) {
  // If a frame is missing soon after a damaged packet, the function assumes that the packet
  // contained this frame. add_packet() has already counted the frame.
  if (since_packet_ > max_frames_in_decoder) packets_ = 0;
  if (packets_ > 0)
    --packets_;
  else
    count(text);
}

void DamageCount::add_truncation(const std::string& text) {
  if (!truncated_) count(text);
  truncated_ = true;
}

void DamageCount::finish(std::int64_t missing) {
  if (truncated_ && !ended_ && missing > 1) frames_ += missing - 1;
  found_.frames = std::max(frames_, faults_);
  ended_ = true;
}

}  // namespace lull::io
