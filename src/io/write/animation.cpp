#include "io/write/animation.h"

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <optional>
#include <string_view>

extern "C" {
#include <libavutil/opt.h>
}

#include "io/files/file_bytes.h"

namespace lull::io {
namespace {

constexpr int endless = 0;  // a number of plays, as APNG and WebP define it
constexpr std::string_view apng_signature{"\x89PNG\r\n\x1a\n", 8};

bool reads(FileBytes& file, std::uint64_t at, std::string_view expected) {
  std::array<char, 16> bytes;
  return file.read(at, bytes.data(), expected.size()) &&
         std::string_view(bytes.data(), expected.size()) == expected;
}

/// Returns the number of bytes of a GIF colour table, from the flags of its descriptor.
std::uint64_t colour_table_bytes(std::uint8_t flags) {
  return (flags & 0x80) != 0 ? std::uint64_t{3} << ((flags & 7) + 1) : 0;
}

/// Returns the loop count of a GIF file: the total number of plays. The Netscape extension before
/// the first picture states the number of repetitions, where 0 means endless repetition.
std::optional<int> plays_of_gif(FileBytes& file) {
  constexpr std::uint64_t header_bytes = 13, name_bytes = 11;
  std::uint8_t flags = 0, head[2];
  if (!file.read(10, &flags, 1)) return std::nullopt;
  std::uint64_t at = header_bytes + colour_table_bytes(flags);
  while (file.read(at, head, 2) && head[0] == 0x21) {  // an extension
    at += 2;
    const bool is_loop =
        head[1] == 0xFF && (reads(file, at, "\x0BNETSCAPE2.0") || reads(file, at,
                                                                        "\x0B"
                                                                        "ANIMEXTS1.0"));
    std::uint8_t loop[4];
    if (is_loop && file.read(at + 1 + name_bytes, loop, 4) && loop[0] == 3 && loop[1] == 1) {
      const int repetitions = loop[2] | loop[3] << 8;
      return repetitions == 0 ? endless : repetitions + 1;
    }
    for (std::uint8_t bytes = 1; bytes != 0; at += 1 + std::uint64_t{bytes})
      if (!file.read(at, &bytes, 1)) return std::nullopt;
  }
  return 1;
}

/// Returns the loop count of an APNG file (the number of plays in the chunk acTL, before the first
/// IDAT).
std::optional<int> plays_of_png(FileBytes& file) {
  std::uint8_t head[8], counts[8];
  for (std::uint64_t at = apng_signature.size(); file.read(at, head, 8);) {
    if (reads(file, at + 4, "acTL") && file.read(at + 8, counts, 8)) {
      const std::uint64_t plays = big_endian(counts + 4, 4);
      return plays <= 65535 ? static_cast<int>(plays) : endless;
    }
    if (reads(file, at + 4, "IDAT")) return std::nullopt;
    at += 12 + big_endian(head, 4);
  }
  return std::nullopt;
}

std::optional<int> plays_of(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return std::nullopt;
  const std::uintmax_t bytes = std::filesystem::file_size(path, code);
  if (code) return std::nullopt;
  FileBytes file(path, bytes);
  if (reads(file, 0, "GIF8")) return plays_of_gif(file);
  if (reads(file, 0, apng_signature)) return plays_of_png(file);
  return std::nullopt;
}

}  // namespace

void copy_plays(const std::string& path, const AVOutputFormat& to, Dictionary& options) {
  const std::string_view format = to.name;
  const bool is_gif = format == "gif";
  if (!is_gif && format != "apng" && format != "webp") return;
  const char* key = format == "apng" ? "plays" : "loop";
  const std::optional<int> plays = plays_of(path);
  if (!plays || options.has(key)) return;
  // FFmpeg's GIF muxer expects the number of repetitions in the option `loop`; -1 means no
  // repetition.
  const int repetitions = *plays == 1 ? -1 : std::max(*plays - 1, 0);
  options.set(key, std::to_string(is_gif ? repetitions : *plays));
}

void set_last_duration(AVFormatContext& context, std::int64_t duration) {
  constexpr int max_delay = 65535;
  const std::string_view format = context.oformat->name;
  const AVRational tick = context.streams[0]->time_base;
  if (duration <= 0) return;
  if (format == "gif") {
    std::int64_t delay = -1;
    if (av_opt_get_int(context.priv_data, "final_delay", 0, &delay) < 0 || delay >= 0) return;
    delay = std::min<std::int64_t>(av_rescale_q(duration, tick, {1, 100}), max_delay);
    av_opt_set_int(context.priv_data, "final_delay", delay, 0);
  } else if (format == "apng") {
    AVRational delay{0, 1};
    if (av_opt_get_q(context.priv_data, "final_delay", 0, &delay) < 0 || delay.num > 0) return;
    const AVRational seconds =
        av_mul_q({static_cast<int>(std::min<std::int64_t>(duration, INT_MAX)), 1}, tick);
    av_reduce(&delay.num, &delay.den, seconds.num, seconds.den, max_delay);
    av_opt_set_q(context.priv_data, "final_delay", delay, 0);
  }
}

}  // namespace lull::io
