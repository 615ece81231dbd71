#pragma once
// Handling of damaged inputs: damage is either reported as an error or counted.

#include <cstdint>
#include <deque>
#include <string>

#include "io/media.h"

namespace lull::io {

/// Counts damage of an input, or throws an error if damage is not tolerated.
class DamageCount {
 public:
  explicit DamageCount(bool pass) : pass_(pass) {}

  bool tolerates() const { return pass_; }
  /// After this call, any damage throws an error.
  void make_strict() { pass_ = false; }
  const Damage& found() const { return found_; }

  /// Counts a damaged frame. Several reports with the same time stamp count as one frame; reports
  /// without a time stamp (AV_NOPTS_VALUE) count one frame each.
  /// @throws BadData(text) unless damage is tolerated
  void add_frame(const std::string& text, std::int64_t pts);
  /// Counts the frame of a packet that the demuxer marks as damaged. If the decoder later returns
  /// no frame for this packet, the loss is not counted a second time.
  void add_packet(const std::string& text, std::int64_t pts);
  /// Must be called for each packet that the demuxer does not mark as damaged.
  void add_intact_packet() { ++since_packet_; }
  /// Counts a packet for which the decoder returned no frame.
  void add_missing_frame(const std::string& text);
  /// Counts the premature end of the input; further calls have no effect.
  void add_truncation(const std::string& text);
  /// Reports `faults` faults in the structure of the input; `text` describes the first fault. The
  /// faults and the counted frames may result from the same damage, so only the larger of the two
  /// numbers counts.
  void add_structure_faults(std::int64_t faults, const std::string& text);
  /// Must be called at the end of the input. If the input was truncated, the function counts
  /// `missing` frames as damaged, but at least one frame.
  void finish(std::int64_t missing);

 private:
  void count(const std::string& text);
  void note(const std::string& text);
  bool is_known(std::int64_t pts) const;

  bool pass_, truncated_ = false, ended_ = false;
  Damage found_;
  std::int64_t frames_ = 0, faults_ = 0;
  std::deque<std::int64_t> recent_;  // time stamps of frames that were counted
  // Number of damaged packets that the decoder may still report, and number of intact packets since
  // the most recent damaged packet.
  std::int64_t packets_ = 0, since_packet_ = 0;
};

}  // namespace lull::io
