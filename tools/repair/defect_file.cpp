// Reads the defects of a sensor from a text file or a mask picture.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/files/regular_file.h"
#include "io/text_file.h"
#include "tools/repair/repair_choice.h"

namespace lull::tools {
namespace {

using repair::DefectiveSample;

constexpr std::size_t max_list_bytes = std::size_t{1} << 26;
constexpr int max_share = 10;  // at most a tenth of the samples may be defective

std::string size_text(const FrameFormat& format) {
  return std::to_string(format.width) + "x" + std::to_string(format.height);
}

/// Splits a line into non-negative integers. Returns no value for other text.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view line) {
  constexpr std::string_view separators = " \t\r,;";
  std::vector<std::int64_t> numbers;
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;
       at = line.find_first_not_of(separators, at)) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    std::int64_t value = 0;
    const auto [rest, code] = std::from_chars(line.data() + at, line.data() + end, value);
    if (code != std::errc{} || rest != line.data() + end || value < 0) return std::nullopt;
    numbers.push_back(value);
    at = end;
  }
  return numbers;
}

/// Returns the defect in a line, or no value for an empty line or a comment.
std::optional<DefectiveSample> defect_in(std::string_view line, const std::string& where,
                                         const FrameFormat& format) {
  const auto numbers = numbers_of(line.substr(0, line.find('#')));
  if (numbers && numbers->empty()) return std::nullopt;
  if (!numbers || (numbers->size() != 2 && numbers->size() != 4))
    throw BadData(where + " is not a defect; write x y, or x y FIRST-FRAME LAST-FRAME");
  const auto& n = *numbers;
  if (n[0] >= format.width || n[1] >= format.height)
    throw BadData(where + " lies outside of the frame (the input has " + size_text(format) +
                  " samples, counted from 0); correct it");
  DefectiveSample sample{.x = static_cast<int>(n[0]), .y = static_cast<int>(n[1])};
  if (n.size() == 4) sample.first = n[2], sample.last = n[3];
  if (sample.first > sample.last)
    throw BadData(where + " has a last frame before its first frame; correct it");
  return sample;
}

std::vector<DefectiveSample> defects_of_text(const std::string& text, const std::string& path,
                                             const FrameFormat& format) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors write it
  std::vector<DefectiveSample> defects;
  std::size_t number = 0;
  for (std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
       begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string where = "--repair " + path + ": line " + std::to_string(++number);
    if (auto defect = defect_in(std::string_view(text).substr(begin, end - begin), where, format))
      defects.push_back(*defect);
    begin = end + 1;
  }
  return defects;
}

std::vector<DefectiveSample> defects_of_picture(const std::string& path,
                                                const DenoiseOptions& options,
                                                const FrameFormat& format) {
  io::SourceOptions reading;
  reading.limits = options.input.source.limits;
  const auto source = io::open_source(path, reading);
  const std::optional<Frame> mask = source->read();
  if (!mask || mask->format.width != format.width || mask->format.height != format.height)
    throw BadData("--repair " + path + " has " + size_text(source->format()) +
                  " samples, the input has " + size_text(format) +
                  "; give a mask of the same size");
  const int planes = mask->format.layout == Layout::rgb ? 3 : 1;
  std::vector<bool> marks(static_cast<std::size_t>(format.width) * format.height);
  Plane<float> plane(format.width, format.height);
  for (int i = 0; i < planes; ++i) {
    load_plane(*mask, i, plane.view());
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        if (const float value = plane.view()(x, y); value != 0 && !std::isnan(value))
          marks[static_cast<std::size_t>(y) * format.width + x] = true;
  }
  std::vector<DefectiveSample> defects;
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      if (marks[static_cast<std::size_t>(y) * format.width + x])
        defects.push_back({.x = x, .y = y});
  return defects;
}

/// Returns whether `content` is text: it contains no control characters except line feed, carriage
/// return and tab.
bool is_text(const std::string& content) {
  return std::ranges::none_of(content, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && c != '\n' && c != '\r' && c != '\t';
  });
}

/// Returns the text of a file with a list of defects, or no value if the file is a picture. The
/// function recognises a picture from its first bytes and does not read the rest, because pictures
/// can be larger than any list.
std::optional<std::string> read_list(const std::string& path) {
  std::string beginning(4096, ' ');
  io::RegularFile file(path);
  beginning.resize(file.read(beginning.data(), beginning.size()));
  if (!is_text(beginning) || beginning.starts_with('P')) return std::nullopt;
  std::string text = io::read_text(path, max_list_bytes);
  return is_text(text) ? std::optional(std::move(text)) : std::nullopt;
}

/// Returns the defects in each plane. A chroma sample is defective if one of its luma samples is
/// defective.
RepairPlan plan_of(const std::vector<DefectiveSample>& defects, const FrameFormat& format,
                   bool by_fields) {
  RepairPlan plan{.by_fields = by_fields, .defects = {}};
  for (int i = 0; i < format.planes(); ++i)
    for (DefectiveSample sample : defects) {
      const int parity = by_fields ? sample.y % 2 : 0;
      if (by_fields) sample.y /= 2;
      if (i > 0) sample.x >>= format.chroma_shift_x, sample.y >>= format.chroma_shift_y;
      std::vector<DefectiveSample>& samples = plan.defects[parity].planes[i].samples;
      samples.push_back(sample);
    }
  return plan;
}

}  // namespace

RepairPlan read_defects(const std::string& path, const DenoiseOptions& options,
                        const FrameFormat& format) {
  const std::optional<std::string> list = read_list(path);
  const std::vector<DefectiveSample> defects =
      list ? defects_of_text(*list, path, format) : defects_of_picture(path, options, format);
  const auto samples = static_cast<std::size_t>(format.width) * format.height;
  if (defects.empty())
    throw BadData("--repair " + path + " marks no defect; give another file, or --repair auto");
  if (defects.size() * max_share > samples)
    throw BadData("--repair " + path + " marks " + std::to_string(defects.size()) + " of " +
                  std::to_string(samples) +
                  " samples (at most a tenth can be estimated from the others); mark fewer");
  return plan_of(defects, format, options.input.interlaced == Interlaced::fields);
}

}  // namespace lull::tools
