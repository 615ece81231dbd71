#include "io/volumes/nrrd_header.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"

namespace lull::io {
namespace {

/// Throws BadData. The function shortens long texts, because `what` may quote the file.
[[noreturn]] void fail_nrrd(const std::string& name, const std::string& what) {
  constexpr std::size_t most = 200;
  throw BadData("'" + name + "' " + (what.size() > most ? what.substr(0, most) + "..." : what));
}

std::string trimmed(std::string text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
  while (!text.empty() && is_space(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}
std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// Splits a text into words. Each character of `separators` ends a word.
std::vector<std::string> words_of(const std::string& text, const char* separators) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(separators, at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

std::optional<StoredType> type_of(const std::string& text) {
  static const std::map<std::string, StoredType> types = {
      {"signed char", StoredType::i8},
      {"int8", StoredType::i8},
      {"int8_t", StoredType::i8},
      {"uchar", StoredType::u8},
      {"unsigned char", StoredType::u8},
      {"uint8", StoredType::u8},
      {"uint8_t", StoredType::u8},
      {"short", StoredType::i16},
      {"short int", StoredType::i16},
      {"signed short", StoredType::i16},
      {"signed short int", StoredType::i16},
      {"int16", StoredType::i16},
      {"int16_t", StoredType::i16},
      {"ushort", StoredType::u16},
      {"unsigned short", StoredType::u16},
      {"unsigned short int", StoredType::u16},
      {"uint16", StoredType::u16},
      {"uint16_t", StoredType::u16},
      {"int", StoredType::i32},
      {"signed int", StoredType::i32},
      {"int32", StoredType::i32},
      {"int32_t", StoredType::i32},
      {"uint", StoredType::u32},
      {"unsigned int", StoredType::u32},
      {"uint32", StoredType::u32},
      {"uint32_t", StoredType::u32},
      {"longlong", StoredType::i64},
      {"long long", StoredType::i64},
      {"long long int", StoredType::i64},
      {"signed long long", StoredType::i64},
      {"signed long long int", StoredType::i64},
      {"int64", StoredType::i64},
      {"int64_t", StoredType::i64},
      {"ulonglong", StoredType::u64},
      {"unsigned long long", StoredType::u64},
      {"unsigned long long int", StoredType::u64},
      {"uint64", StoredType::u64},
      {"uint64_t", StoredType::u64},
      {"float", StoredType::f32},
      {"double", StoredType::f64}};
  const auto found = types.find(in_lower_case(text));
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// A coordinate system of NRRD ("space") whose axes have anatomical names.
struct NamedSpace {
  const char *name, *abbreviation;
  std::array<double, 3> signs;  // factors that convert coordinates to right, anterior, superior
};
constexpr NamedSpace named_spaces[] = {{"right-anterior-superior", "ras", {1, 1, 1}},
                                       {"left-anterior-superior", "las", {-1, 1, 1}},
                                       {"left-posterior-superior", "lps", {-1, -1, 1}}};

/// Returns the signs that convert coordinates of `space` to right, anterior, superior; nullopt for
/// unknown spaces. A space may have time as a fourth axis.
std::optional<std::array<double, 3>> signs_of(const std::string& space) {
  const std::string name = in_lower_case(space);
  for (const NamedSpace& known : named_spaces)
    if (name == known.name || name == known.abbreviation ||
        name == std::string(known.name) + "-time" || name == std::string(known.abbreviation) + "t")
      return known.signs;
  return std::nullopt;
}

/// Returns the `nth` quoted string of a text, counted from 0; empty if there are fewer.
std::string quoted(const std::string& text, std::size_t nth) {
  for (std::size_t at = 0;; --nth) {
    const std::size_t begin = text.find('"', at), end = text.find('"', begin + 1);
    if (begin == text.npos || end == text.npos) return {};
    if (nth == 0) return text.substr(begin + 1, end - begin - 1);
    at = end + 1;
  }
}

double millimetres_in(const std::string& unit) {
  if (unit == "um" || unit == "µm") return 0.001;
  if (unit == "cm") return 10;
  return unit == "m" ? 1000 : 1;
}
double seconds_in(const std::string& unit) {
  if (unit == "s" || unit == "sec") return 1;
  return unit == "ms" || unit == "msec" ? 0.001 : 0;
}

/// Fields that the parser reads, or derives from other fields. NrrdHeader::other_contents describes
/// all other fields.
constexpr std::string_view known_fields[] = {
    "type",       "dimension",        "sizes",        "endian",      "encoding",        "spacings",
    "space",      "space directions", "space origin", "data file",   "datafile",        "byte skip",
    "byteskip",   "line skip",        "lineskip",     "space units", "space dimension", "kinds",
    "centerings", "centers",          "units",
};
/// Kinds of NRRD axes along which the values of one voxel lie. The names of all other such kinds
/// contain a hyphen, for example "RGB-color" and "3D-symmetric-matrix".
constexpr std::string_view value_kinds[] = {"point", "vector", "normal", "complex", "quaternion"};
/// Prefixes of comments that programs write into every file. lull does not report the loss of these
/// comments.
constexpr std::string_view usual_comments[] = {"# Complete NRRD file format", "# http://teem",
                                               "# https://teem", "# This NRRD file was generated",
                                               "# on 2"};

class NrrdParser {
 public:
  NrrdParser(const std::string& text, const std::string& name) : name_(name) { read_fields(text); }

  NrrdHeader parse() {
    const std::string encoding = in_lower_case(required("encoding"));
    header_.is_gzip = encoding == "gzip" || encoding == "gz";
    if (!header_.is_gzip && encoding != "raw")
      fail_nrrd(name_, "has samples in the encoding '" + encoding +
                           "' (lull reads raw and gzip); convert it first");
    read_type();
    read_sizes();
    read_geometry();
    check_kinds();
    read_time();
    read_data_file();
    list_other_contents();
    return std::move(header_);
  }

 private:
  void read_fields(const std::string& text) {
    if (!text.starts_with("NRRD000")) fail_nrrd(name_, "is not a NRRD file");
    std::size_t at = text.find('\n');
    while (at != text.npos) {
      const std::size_t begin = at + 1, end = text.find('\n', begin);
      if (end == text.npos) break;
      const std::string line = trimmed(text.substr(begin, end - begin));
      at = end;
      if (line.empty()) {
        header_.head_bytes = end + 1;
        return;
      }
      const std::size_t colon = line.find(": ");
      if (line.front() == '#')
        comments_ += std::ranges::none_of(
            usual_comments, [&](std::string_view usual) { return line.starts_with(usual); });
      else if (line.find(":=") != line.npos)
        ++pairs_;
      else if (colon != line.npos)
        fields_[in_lower_case(line.substr(0, colon))] = trimmed(line.substr(colon + 2));
    }
    header_.head_bytes = text.size();  // a detached header needs no empty line
    ends_without_line_ = true;
  }

  const std::string* field(const std::string& key) const {
    const auto found = fields_.find(key);
    return found == fields_.end() ? nullptr : &found->second;
  }
  const std::string& required(const std::string& key) const {
    if (const std::string* value = field(key)) return *value;
    fail_nrrd(name_, "has no field '" + key + "' in its header");
  }

  void read_type() {
    const auto type = type_of(required("type"));
    if (!type)
      fail_nrrd(name_, "has samples of type '" + required("type") +
                           "' (must be integers of 8 to 64 bits, float or double)");
    header_.type = *type;
    if (size_of(*type) == 1) return;
    const std::string endian = in_lower_case(required("endian"));
    if (endian != "little" && endian != "big")
      fail_nrrd(name_, "has the byte order '" + endian + "' (must be little or big)");
    header_.big_endian = endian == "big";
  }

  void read_sizes() {
    std::vector<std::int64_t> sizes;
    for (const std::string& word : words_of(required("sizes"), " \t")) {
      const auto size = number_of(word);
      if (!size || *size < 1 || *size > 32767 || *size != std::floor(*size))
        fail_nrrd(name_, "has " + word + " samples along an axis (must be 1 to 32767)");
      sizes.push_back(static_cast<std::int64_t>(*size));
    }
    const std::string& dimension = required("dimension");
    if (std::to_string(sizes.size()) != dimension)
      fail_nrrd(name_, "has " + std::to_string(sizes.size()) + " sizes and dimension " + dimension);
    if (sizes.size() < 3 || sizes.size() > 4)
      fail_nrrd(name_, "has " + dimension +
                           " dimensions (must be 3, or 4 with the volumes of a series last)");
    axes_ = sizes.size();
    std::copy_n(sizes.begin(), 3, geometry_.size.begin());
    if (axes_ == 4) geometry_.volumes = sizes[3];
  }

  void read_geometry() {
    const std::string* units = field("space units");
    if (!units) units = field("units");
    const double unit = units ? millimetres_in(quoted(*units, 0)) : 1;
    if (const std::string* text = field("spacings")) {
      const std::vector<std::string> words = words_of(*text, " \t");
      for (std::size_t i = 0; i < 3 && i < words.size(); ++i)
        if (const auto spacing = number_of(words[i]); spacing && *spacing != 0)
          geometry_.spacing[i] = unit * std::abs(*spacing);
    }
    const std::string *space = field("space"), *directions = field("space directions");
    if (!directions) return;
    const auto signs = space ? signs_of(*space) : std::nullopt;
    const std::vector<std::string> vectors = vectors_of(*directions);
    if (vectors.size() != axes_)
      fail_nrrd(name_, "has " + std::to_string(vectors.size()) + " space directions for " +
                           std::to_string(axes_) + " axes");
    for (std::size_t i = 0; i < 3; ++i) {
      if (vectors[i] == "none")
        fail_nrrd(name_, "stores the volumes of its series voxel by voxel (axis " +
                             std::to_string(i) + " is not spatial); permute its axes first");
      auto& direction = geometry_.directions[i];
      direction = vector_of(vectors[i]);
      for (double& component : direction) component *= unit;
      const double length = std::hypot(direction[0], direction[1], direction[2]);
      if (!(length > 0) || !std::isfinite(length))
        fail_nrrd(name_, "has the space direction '" + vectors[i] + "' (must have a length)");
      geometry_.spacing[i] = length;
    }
    if (const std::string* origin = field("space origin")) geometry_.origin = vector_of(*origin);
    geometry_.is_oriented = signs.has_value();
    if (!signs)
      header_.other_contents.push_back("the directions of its axes (the space " +
                                       (space ? "'" + *space + "'" : "without a name") +
                                       " does not say where they point)");
    for (std::size_t k = 0; signs && k < 3; ++k) {
      geometry_.origin[k] *= unit * (*signs)[k];
      for (auto& direction : geometry_.directions) direction[k] *= (*signs)[k];
    }
  }

  /// Throws an error if one of the first three axes contains the values of a voxel, such as colours
  /// or the components of vectors.
  void check_kinds() const {
    const std::string* kinds = field("kinds");
    const std::vector<std::string> words =
        kinds ? words_of(*kinds, " \t") : std::vector<std::string>{};
    for (std::size_t i = 0; i < 3 && i < words.size(); ++i) {
      const std::string kind = in_lower_case(words[i]);
      // The third axis may have the kind "list", because a list of planes is a volume.
      const bool has_values = kind.find('-') != kind.npos || (kind == "list" && i < 2) ||
                              std::ranges::find(value_kinds, kind) != std::end(value_kinds);
      if (has_values && geometry_.size[i] > 1)
        fail_nrrd(name_, "has an axis of the kind '" + words[i] + "' (axis " + std::to_string(i) +
                             " is not spatial); convert it, or permute its axes first");
    }
  }

  /// Reads the time between volumes, which is the spacing along the fourth axis.
  void read_time() {
    if (axes_ < 4) return;
    const std::string *spacings = field("spacings"), *units = field("units");
    const std::vector<std::string> words =
        spacings ? words_of(*spacings, " \t") : std::vector<std::string>{};
    const auto spacing = words.size() == 4 ? number_of(words[3]) : std::nullopt;
    if (!spacing || !(*spacing > 0)) return;
    geometry_.seconds = units ? *spacing * seconds_in(quoted(*units, 3)) : 0;
    if (geometry_.seconds == 0)
      header_.other_contents.emplace_back("the spacing of the fourth axis (without unit of time)");
  }

  void list_other_contents() {
    if (pairs_ > 0)
      header_.other_contents.push_back(std::to_string(pairs_) +
                                       (pairs_ == 1 ? " key/value pair" : " key/value pairs"));
    if (comments_ > 0)
      header_.other_contents.push_back(std::to_string(comments_) +
                                       (comments_ == 1 ? " comment" : " comments"));
    std::string names;
    for (const auto& [key, value] : fields_)
      if (std::ranges::find(known_fields, key) == std::end(known_fields))
        names += (names.empty() ? "" : ", ") + key;
    if (!names.empty()) header_.other_contents.push_back("the fields " + names);
    header_.geometry = geometry_;
  }

  /// Splits a string such as "(1,0,0) none (0, 1, 0)" into its vectors.
  static std::vector<std::string> vectors_of(const std::string& text) {
    std::vector<std::string> vectors;
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != text.npos;) {
      const bool is_vector = text[at] == '(';
      std::size_t end = is_vector ? text.find(')', at) : text.find_first_of(" \t", at);
      end = end == text.npos ? text.size() : end + (is_vector ? 1 : 0);
      vectors.push_back(text.substr(at, end - at));
      at = end;
    }
    return vectors;
  }
  std::array<double, 3> vector_of(const std::string& text) const {
    const std::vector<std::string> words = words_of(text, "(), \t");
    std::array<double, 3> vector{};
    // If the space has time as a fourth axis, each vector contains a fourth number.
    const bool is_complete = words.size() == 3 || (words.size() == 4 && axes_ == 4);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = is_complete ? number_of(words[i]) : std::nullopt;
      if (!value) fail_nrrd(name_, "has the vector '" + text + "' (must be three numbers)");
      vector[i] = *value;
    }
    return vector;
  }

  void read_data_file() {
    const std::string* file = field("data file");
    if (!file) file = field("datafile");
    if (file) header_.data_file = *file;
    if (header_.data_file.size() > 1000)
      fail_nrrd(name_, "states a file of samples whose name has more than 1000 characters");
    if (header_.data_file.starts_with("LIST") || header_.data_file.find('%') != std::string::npos)
      fail_nrrd(name_, "has its samples in several files; join them first");
    if (!file && ends_without_line_) fail_nrrd(name_, "is cut short (its header has no end)");
    for (const char* key : {"line skip", "lineskip"})
      if (const std::string* lines = field(key); lines && *lines != "0")
        fail_nrrd(name_, "skips lines before its samples; convert it first");
    for (const char* key : {"byte skip", "byteskip"})
      if (const std::string* bytes = field(key)) {
        const auto count = number_of(*bytes);
        if (!count || *count < 0 || *count > 1e15 || *count != std::floor(*count))
          fail_nrrd(name_, "has the byte skip " + *bytes + " (must be from 0); convert it first");
        header_.byte_skip = static_cast<std::uint64_t>(*count);
      }
  }

  const std::string& name_;
  std::map<std::string, std::string> fields_;
  bool ends_without_line_ = false;
  int pairs_ = 0, comments_ = 0;
  std::size_t axes_ = 0;
  VolumeGeometry geometry_;
  NrrdHeader header_;
};

}  // namespace

NrrdHeader parse_nrrd(const std::string& text, const std::string& name) {
  return NrrdParser(text, name).parse();
}

}  // namespace lull::io
