// Writes the text header of NRRD files.

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <string_view>

#include "io/volumes/nrrd_header.h"

namespace lull::io {
namespace {

constexpr std::string_view new_nrrd_head =
    "NRRD0004\n"
    "# Complete NRRD file format specification at:\n"
    "# http://teem.sourceforge.net/nrrd/format.html\n";

std::string_view nrrd_name_of(StoredType type) {
  constexpr std::string_view names[] = {"uint8", "int8",   "uint16", "int16", "uint32",
                                        "int32", "uint64", "int64",  "float", "double"};
  return names[static_cast<int>(type)];
}

/// Returns the shortest decimal string that a parser converts back to the same number.
std::string shortest(double value) {
  std::array<char, 32> text;
  // Adding 0.0 converts -0 to 0.
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value + 0.0).ptr;
  return {text.data(), end};
}

std::string vector_text(const std::array<double, 3>& v) {
  return "(" + shortest(v[0]) + "," + shortest(v[1]) + "," + shortest(v[2]) + ")";
}

/// Converts coordinates from RAS to LPS, the coordinate system of DICOM and of most NRRD files.
std::array<double, 3> as_lps(const std::array<double, 3>& ras) {
  return {-ras[0], -ras[1], ras[2]};
}

std::string geometry_lines(const VolumeGeometry& geometry) {
  const bool is_series = geometry.volumes > 1;
  const auto& size = geometry.size;
  std::string lines = is_series ? "dimension: 4\n" : "dimension: 3\n";
  if (geometry.is_oriented) lines += "space: left-posterior-superior\n";
  lines += "sizes: " + std::to_string(size[0]) + " " + std::to_string(size[1]) + " " +
           std::to_string(size[2]) + (is_series ? " " + std::to_string(geometry.volumes) : "") +
           "\n";
  const std::string time = geometry.seconds > 0 ? shortest(geometry.seconds) : "nan";
  if (geometry.is_oriented) {
    lines += "space directions:";
    for (const auto& direction : geometry.directions) lines += " " + vector_text(as_lps(direction));
    lines += is_series ? " none\n" : "\n";
    if (is_series && geometry.seconds > 0) lines += "spacings: nan nan nan " + time + "\n";
    lines += "space origin: " + vector_text(as_lps(geometry.origin)) + "\n";
    lines += "space units: \"mm\" \"mm\" \"mm\"\n";
    if (is_series && geometry.seconds > 0) lines += "units: \"\" \"\" \"\" \"s\"\n";
  } else {
    lines += "spacings: " + shortest(geometry.spacing[0]) + " " + shortest(geometry.spacing[1]) +
             " " + shortest(geometry.spacing[2]) + (is_series ? " " + time : "") + "\n";
    lines += "units: \"mm\" \"mm\" \"mm\"";
    lines += !is_series ? "\n" : geometry.seconds > 0 ? " \"s\"\n" : " \"\"\n";
  }
  lines += is_series ? "kinds: domain domain domain list\n" : "kinds: domain domain domain\n";
  return lines;
}

/// Returns the header lines that do not describe the storage of samples. The result excludes the
/// empty line that ends the header.
std::string kept_lines(const std::string& original) {
  constexpr std::string_view sample_fields[] = {"type",      "endian",    "encoding",
                                                "data file", "datafile",  "byte skip",
                                                "byteskip",  "line skip", "lineskip"};
  std::string kept;
  for (std::size_t at = 0; at < original.size();) {
    const std::size_t end = std::min(original.find('\n', at), original.size());
    std::string line = original.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.empty()) break;
    std::string key = line.substr(0, line.find(": "));
    const bool is_field = key.size() < line.size() && line.find(":=") == line.npos;
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    key.erase(0, std::min(key.find_first_not_of(" \t"), key.size()));
    if (!is_field || std::ranges::find(sample_fields, key) == std::end(sample_fields))
      kept += line + "\n";
  }
  return kept;
}

/// Inserts lines into a header before the first field, after the magic number and the comments.
std::string with_lines(const std::string& header, const std::string& lines) {
  std::size_t at = header.find('\n') + 1;
  while (at < header.size() && header[at] == '#') at = header.find('\n', at) + 1;
  return header.substr(0, at) + lines + header.substr(at);
}

}  // namespace

std::string make_nrrd_text(const VolumeGeometry& geometry, const StoredFormat& samples,
                           bool is_gzip, const std::string& data_file,
                           const std::string& original) {
  std::string lines = "type: " + std::string(nrrd_name_of(samples.type)) + "\n";
  const bool big = samples.swapped != (std::endian::native == std::endian::big);
  if (size_of(samples.type) > 1) lines += big ? "endian: big\n" : "endian: little\n";
  lines += is_gzip ? "encoding: gzip\n" : "encoding: raw\n";
  std::string text = original.empty()
                         ? std::string(new_nrrd_head) + lines + geometry_lines(geometry)
                         : with_lines(kept_lines(original), lines);
  // "data file" must be the last field, because some readers end the header after this field.
  if (!data_file.empty()) return text + "data file: " + data_file + "\n";
  return text + "\n";
}

}  // namespace lull::io
