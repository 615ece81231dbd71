#include "io/write/start_shift.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

// Maximum delay of audio encoders in seconds. An audio encoder inserts silence of this length, so
// audio can begin before 0. Audio within this limit counts as beginning at 0, because some
// containers cannot hide the silence.
constexpr double max_encoder_delay_s = 0.1;
// Subtitles and data that begin more than this number of seconds before all other streams do not
// determine the start of the output. The ffmpeg command has the same rule.
constexpr double max_text_lead_s = 1;

struct Start {
  std::int64_t time;
  AVRational tick;

  double seconds() const { return static_cast<double>(time) * av_q2d(tick); }
};

/// Returns the start time of a copied or converted stream; nullopt for other streams, cover
/// pictures and unknown times.
std::optional<Start> start_of(const AVStream& stream, const Container& container) {
  if (stream.discard == AVDISCARD_ALL || stream.start_time == AV_NOPTS_VALUE ||
      stream.disposition & AV_DISPOSITION_ATTACHED_PIC)
    return std::nullopt;
  const StreamHandling handling = handling_of(stream, container);
  if (handling != StreamHandling::copied && handling != StreamHandling::converted)
    return std::nullopt;
  return Start{stream.start_time, stream.time_base};
}

bool is_audio_or_video(const AVStream& stream) {
  const AVMediaType type = stream.codecpar->codec_type;
  return type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_VIDEO;
}

/// Returns whether the selection omits the input's first frame. If so, all streams of the output
/// begin at the same time as the video.
bool begins_later(const FileSource& source) {
  if (!source.selector()) return false;
  const Selection& part = source.options().selection;
  return part.start_us > 0 || (!part.ranges.empty() && part.ranges.front().first > 0);
}

/// Returns the start of the earliest stream of the output.
Start earliest_start(const FileSource& source, const Container& container) {
  const AVStream& video = source.demuxer().video();
  Start earliest{source.first_time(), video.time_base};
  if (begins_later(source)) return earliest;
  const AVFormatContext& input = source.demuxer().context();
  for (const bool dense : {true, false}) {  // subtitles are compared with all other streams
    const double limit_s = dense ? -HUGE_VAL : earliest.seconds() - max_text_lead_s;
    for (unsigned i = 0; i < input.nb_streams; ++i) {
      const AVStream& stream = *input.streams[i];
      if (&stream == &video || is_audio_or_video(stream) != dense) continue;
      std::optional<Start> start = start_of(stream, container);
      if (!start || start->seconds() < limit_s) continue;
      const bool is_delay = start->time < 0 && start->seconds() >= -max_encoder_delay_s;
      if (is_delay && stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) start->time = 0;
      if (start->seconds() < earliest.seconds()) earliest = *start;
    }
  }
  return earliest;
}

/// Returns the time of the first frame in seconds, after the shift of all timestamps.
long double start_in_seconds(const FileSource& source, const StartShift& shift) {
  const AVRational tick = source.demuxer().video().time_base;
  return static_cast<long double>(source.first_time()) * tick.num / tick.den +
         static_cast<long double>(shift.ticks) * shift.tick.num / shift.tick.den;
}

std::string three_decimals(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

}  // namespace

StartShift start_shift(const FileSource& source, const Container& container) {
  if (container.still() || container.frames_only()) return {};
  const Start earliest = earliest_start(source, container);
  if (container.keep_times && earliest.time >= 0) return {};
  return {-earliest.time, earliest.tick};
}

StartShift shift_on_grid(const FileSource& source, const Container& container, AVRational tick) {
  const StartShift shift = start_shift(source, container);
  const bool keeps_start = container.keep_times && shift.ticks == 0;
  constexpr double max_rounding_s = 1e-3;  // rounding errors of finer ticks have no effect
  if (container.still() || container.frames_only() || keeps_start || av_q2d(tick) <= max_rounding_s)
    return shift;
  constexpr long double nanoseconds = 1e9L, rounding_error = 1e-6L;
  const long double tick_s = static_cast<long double>(tick.num) / tick.den;
  const long double frame = std::ceil(start_in_seconds(source, shift) / tick_s - rounding_error);
  const long double needed_s = frame * tick_s - start_in_seconds(source, {});
  return {std::llround(needed_s * nanoseconds), {1, 1000000000}};
}

std::int64_t shifted_start(const FileSource& source, const StartShift& shift, AVRational tick) {
  return std::llround(start_in_seconds(source, shift) * tick.den / tick.num);
}

std::string note_of_start(const FileSource& source, const Container& container) {
  if (container.keep_times || begins_later(source)) return {};
  const double start_s = -start_shift(source, container).seconds();
  if (std::abs(start_s) < 0.0005) return {};
  return "the output begins at 0 (the input begins at " + three_decimals(start_s) +
         "; --keep-times keeps its times)";
}

}  // namespace lull::io
