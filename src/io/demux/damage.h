#pragma once
// Counts damage of inputs. If the options tolerate no damage, the first damage is an error.

#include <cstdint>
#include <deque>
#include <string>

#include "io/media.h"

namespace lull::io {

/// Counts the damaged frames of an input, or throws at the first damage if lull tolerates no
/// damage.
class DamageCount {
 public:
  explicit DamageCount(bool pass) : pass_(pass) {}

  bool tolerates() const { return pass_; }
  /// From now on, each report of damage throws an error.
  void make_strict() { pass_ = false; }
  const Damage& found() const { return found_; }

  /// Counts a damaged frame. Reports with the same timestamp count once. Reports without a time
  /// stamp (AV_NOPTS_VALUE) always count.
  /// @throws BadData  lull tolerates no damage; `text` is the message
  void add_frame(const std::string& text, std::int64_t pts);
  /// Counts the frame of a packet that the demuxer has flagged as damaged. If this frame is
  /// missing, `add_missing_frame()` does not count it again.
  void add_packet(const std::string& text, std::int64_t pts);
  /// Counts a packet that the demuxer has not flagged as damaged. The caller must report each
  /// undamaged packet: after many of them, `add_missing_frame()` no longer attributes a missing
  /// frame to an earlier damaged packet.
  void add_intact_packet() { ++since_packet_; }
  /// Counts a packet for which the decoder returned no frame.
  void add_missing_frame(const std::string& text);
  /// Records that the input is truncated. Further calls have no effect.
  void add_truncation(const std::string& text);
  /// Sets the number of lost frames that the structure check has found so far, at least one for
  /// each fault. `text` describes the first fault. `found()` returns the maximum of this number and
  /// the number of damaged frames, because both numbers can include the same damage.
  void add_structure_faults(std::int64_t faults, const std::string& text);
  /// Ends the count at the end of the input. If the input is truncated, the `missing` frames at its
  /// end count as damaged. If `missing` is 0, one frame counts.
  void finish(std::int64_t missing);

 private:
  void count(const std::string& text);
  void note(const std::string& text);
  bool is_known(std::int64_t pts) const;

  bool pass_, truncated_ = false, ended_ = false;
  Damage found_;
  std::int64_t frames_ = 0, faults_ = 0;
  std::deque<std::int64_t> recent_;  // timestamps of frames that were counted
  // `packets_` is the number of damaged packets for which the decoder may still return no frame.
  // `since_packet_` is the number of undamaged packets since the last damaged packet.
  std::int64_t packets_ = 0, since_packet_ = 0;
};

}  // namespace lull::io
