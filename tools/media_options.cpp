// The rows of the option table that say what the input is and what comes out in which form.

#include <charconv>
#include <limits>

#include "core/error.h"
#include "tools/denoise_options.h"

namespace lull::tools {
namespace {

[[noreturn]] void reject(std::string_view option, const std::string& value,
                         const std::string& why) {
  throw InvalidArgument(std::string(option) + " " + (value.empty() ? "''" : value) + " (" + why +
                        "); see lull denoise --help");
}

/// The whole of `text` as a number from 0 in decimal digits.
std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || text[0] == '-' || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// "30000/1001", "25" or "23.976", exactly.
std::optional<Rational> rate(std::string_view text) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();  // FFmpeg's fractions
  Rational result{0, 1};
  std::string digits(text);
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    result.den = whole(text.substr(slash + 1)).value_or(0);
    digits = text.substr(0, slash);
  } else if (const std::size_t point = text.find('.'); point != text.npos) {
    digits.erase(point, 1);
    if (text.size() - point - 1 > 6) return std::nullopt;
    for (std::size_t i = point + 1; i < text.size(); ++i) result.den *= 10;
  }
  result.num = whole(digits).value_or(0);
  if (result.num < 1 || result.den < 1 || result.num > most || result.den > most)
    return std::nullopt;
  return result;
}

void set_size(DenoiseOptions& options, const std::string& text) {
  const std::size_t x = text.find('x');
  const std::string_view sides(text);
  const std::int64_t width = whole(sides.substr(0, x)).value_or(0);
  const std::int64_t height = x == text.npos ? 0 : whole(sides.substr(x + 1)).value_or(0);
  constexpr int most = 1 << 20;
  if (width < 1 || height < 1 || width > most || height > most)
    reject("--size", text, "must be WIDTHxHEIGHT in samples");
  options.raw.width = static_cast<int>(width);
  options.raw.height = static_cast<int>(height);
  options.sized = true;
}

void set_rate(DenoiseOptions& options, const std::string& text) {
  const auto value = rate(text);
  if (!value) reject("--rate", text, "must be frames per second: 25, 23.976 or 30000/1001");
  options.source.rate = *value;
}

constexpr std::string_view input = "Input and output";

constexpr OptionRow rows[] = {
    {"--input-format", "NAME", input,
     "container of the input: y4m, nut or another that FFmpeg knows (default: by its content)",
     [](DenoiseOptions& o, const std::string& v) { o.source.format = v; }},
    {"--raw-format", "PIXFMT", input,
     "the input is samples without any head, in this pixel format of FFmpeg; needs --size",
     [](DenoiseOptions& o, const std::string& v) { o.raw.pix_fmt = v; }},
    {"--size", "WxH", input, "size of a raw input's frames in samples", set_size},
    {"--rate", "R", input,
     "frames per second of a raw input or a sequence: 25 or 30000/1001 (default: 25)", set_rate},
    {"--output-format", "NAME", input,
     "container of the output: y4m, raw, nut or another that FFmpeg knows (default: by the "
     "output's extension; for -, nut or raw where the input is, else y4m)",
     [](DenoiseOptions& o, const std::string& v) { o.output_format = v; }},
};

}  // namespace

std::span<const OptionRow> media_option_rows() { return rows; }

io::SourceOptions source_options(const DenoiseOptions& options) {
  io::SourceOptions source = options.source;
  const bool raw = !options.raw.pix_fmt.empty();
  if (raw && !options.sized)
    throw InvalidArgument("--raw-format without --size (raw video has no head); give --size WxH");
  if (!raw && options.sized)
    throw InvalidArgument("--size without --raw-format (other inputs know theirs); leave it out");
  if (raw && !source.format.empty())
    throw InvalidArgument("--raw-format with --input-format; give one of them");
  if (raw) source.raw = options.raw;
  return source;
}

}  // namespace lull::tools
