#pragma once
// Counts damage of inputs. If the options tolerate no damage, the first damage is an error.

#include <cstdint>
#include <deque>
#include <string>

#include "io/media.h"

namespace lull::io {

/// Counts the damaged frames of an input. If the caller does not tolerate damage, DamageCount
/// throws an error at the first damage.
class DamageCount {
 public:
  explicit DamageCount(bool pass) : pass_(pass) {}

  bool tolerates() const { return pass_; }
  /// After a call of this function, each report of damage throws an error.
  void make_strict() { pass_ = false; }
  const Damage& found() const { return found_; }

  /// Counts a damaged frame. Several reports with the same time stamp count as one frame. Each
  /// report without a time stamp (AV_NOPTS_VALUE) counts as one frame.
  /// @throws BadData  damage is not tolerated; `text` is the message
  void add_frame(const std::string& text, std::int64_t pts);
  /// Counts the frame of a packet that the demuxer flags as damaged. If the decoder returns no
  /// frame for this packet, `add_missing_frame()` does not count the frame again.
  void add_packet(const std::string& text, std::int64_t pts);
  /// Records a packet that the demuxer does not flag as damaged. The caller must call this function
  /// for each undamaged packet.
  void add_intact_packet() { ++since_packet_; }
  /// Counts a packet for which the decoder returned no frame.
  void add_missing_frame(const std::string& text);
  /// Records that the input ends too early. Further calls have no effect.
  void add_truncation(const std::string& text);
  /// Reports that the structure check has found `faults` faults so far. `text` describes the first
  /// fault. The same damage can cause a fault and a damaged frame. The total in `found()` is
  /// therefore the larger of the number of faults and the number of damaged frames.
  void add_structure_faults(std::int64_t faults, const std::string& text);
  /// Ends the count at the end of the input. For a truncated input, the function counts `missing`
  /// frames as damaged, and at least one frame.
  void finish(std::int64_t missing);

 private:
  void count(const std::string& text);
  void note(const std::string& text);
  bool is_known(std::int64_t pts) const;

  bool pass_, truncated_ = false, ended_ = false;
  Damage found_;
  std::int64_t frames_ = 0, faults_ = 0;
  std::deque<std::int64_t> recent_;  // time stamps of frames that were counted
  // Number of damaged packets for which the decoder may still return no frame, and number of
  // undamaged packets since the last damaged packet.
  std::int64_t packets_ = 0, since_packet_ = 0;
};

}  // namespace lull::io
