#pragma once
// What an edit list takes away from copied streams (ISO/IEC 14496-12, 8.6.6): FFmpeg gives such
// packets all the same, marked to be discarded.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Before the first packet that stays, a decoder needs some to get preroll: so much of it, as Opus
/// asks for (RFC 7845, 4.6), more than any other codec of sound in use.
inline constexpr std::int64_t preroll_us = 80000;

/// Passes a stream's packets output, without those that are marked. Of those before the first that
/// stays the last ones remain, with their mark, for whoever can hide them.
class EditListFilter {
 public:
  void filter(PacketPtr packet, const AVStream& stream, const std::function<void(PacketPtr)>& output);

 private:
  struct Stream {
    bool has_kept = false;
    std::deque<PacketPtr> preroll;  // marked; the first ones
  };
  std::map<int, Stream> streams_;  // by number
};

}  // namespace lull::io
