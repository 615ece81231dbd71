#pragma once
// What happens where an input is damaged: an error at once, or a count.

#include <cstdint>
#include <deque>
#include <string>

#include "io/media.h"

namespace lull::io {

/// Counts damage, or throws it where it shall not be passed over.
class DamageCount {
 public:
  explicit DamageCount(bool pass) : pass_(pass) {}

  bool tolerates() const { return pass_; }
  /// Damage is an error from now on.
  void make_strict() { pass_ = false; }
  const Damage& found() const { return found_; }

  /// A frame, named by its time stamp, which counts once; without one (AV_NOPTS_VALUE) always.
  /// @throws BadData(text)  unless damage is passed over
  void add_frame(const std::string& text, std::int64_t pts);
  /// A packet that the demuxer calls damaged: its frame, whatever the decoder makes of it.
  void add_packet(const std::string& text, std::int64_t pts);
  /// One that it does not.
  void add_intact_packet() { ++since_packet_; }
  /// The decoder gave no frame for a packet.
  void add_missing_frame(const std::string& text);
  /// The input ends too early; counts once.
  void add_truncation(const std::string& text);
  /// At the end: a cut counts as so many frames, if that is more than one.
  void finish(std::int64_t missing);

 private:
  void count(const std::string& text);
  bool is_known(std::int64_t pts) const;

  bool pass_, truncated_ = false, ended_ = false;
  Damage found_;
  std::deque<std::int64_t> recent_;  // time stamps of frames that were counted
  // Damaged packets of which the decoder has not complained yet, and how many followed the last.
  std::int64_t packets_ = 0, since_packet_ = 0;
};

}  // namespace lull::io
