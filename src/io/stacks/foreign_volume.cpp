#include "io/stacks/foreign_volume.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/error.h"
#include "io/stacks/gzip_stream.h"
#include "io/stacks/nifti_header.h"
#include "io/stacks/nrrd_header.h"

namespace lull::io {
namespace {

constexpr std::size_t nifti1_bytes = 348;
constexpr std::size_t max_nrrd_head = 1 << 20;

/// Reads up to `most` bytes from the beginning of a file, decompressed.
std::vector<std::byte> first_bytes(const std::string& path, std::size_t most) {
  std::vector<std::byte> bytes(most);
  bytes.resize(GzipReader(path).read_some(bytes));
  return bytes;
}

bool has_ending(const std::string& path, std::string_view ending) {
  return path.size() > ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, {},
                            [](unsigned char c) { return std::tolower(c); });
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at, bool big) {
  std::array<std::byte, sizeof(T)> raw;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof(T), raw.begin());
  if (big != (std::endian::native == std::endian::big)) std::ranges::reverse(raw);
  return std::bit_cast<T>(raw);
}

/// A NIfTI-1 header in the byte order of the samples.
class NiftiHead {
 public:
  explicit NiftiHead(bool big) : big_(big), bytes_(nifti1_bytes + 4) {
    put<std::int32_t>(0, nifti1_bytes);
    put<float>(76, 1);  // pixdim[0]
    put<float>(108, nifti1_bytes + 4);
    const std::string_view magic("n+1\0", 4);
    std::ranges::transform(magic, bytes_.begin() + 344, [](char c) { return std::byte(c); });
    put<std::uint8_t>(123, 2);  // millimetres
  }
  template <class T>
  void put(std::size_t at, T value) {
    auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if (big_ != (std::endian::native == std::endian::big)) std::ranges::reverse(raw);
    std::ranges::copy(raw, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// @param volumes  1: a single volume
  void set_size(std::span<const std::int64_t> size, std::int64_t volumes) {
    put<std::int16_t>(40, volumes > 1 ? 4 : 3);
    for (std::size_t i = 0; i < 7; ++i) put<std::int16_t>(42 + 2 * i, 1);
    for (std::size_t i = 0; i < 3; ++i)
      put<std::int16_t>(42 + 2 * i, static_cast<std::int16_t>(size[i]));
    put<std::int16_t>(48, static_cast<std::int16_t>(volumes));
    put<float>(92, 1);  // pixdim[4]
  }
  void set_type(StoredType type) {
    constexpr std::pair<StoredType, int> codes[] = {
        {StoredType::u8, 2},    {StoredType::i16, 4},   {StoredType::i32, 8},
        {StoredType::f32, 16},  {StoredType::f64, 64},  {StoredType::i8, 256},
        {StoredType::u16, 512}, {StoredType::u32, 768}, {StoredType::i64, 1024},
        {StoredType::u64, 1280}};
    for (const auto& [known, code] : codes)
      if (known == type) put<std::int16_t>(70, static_cast<std::int16_t>(code));
    put<std::int16_t>(72, static_cast<std::int16_t>(8 * size_of(type)));
  }
  void set_spacing(const std::array<double, 3>& spacing) {
    for (std::size_t i = 0; i < 3; ++i) put<float>(80 + 4 * i, static_cast<float>(spacing[i]));
  }
  /// Sets the method 3 of NIfTI (sform): the directions of steps along the axes, and the position
  /// of the first voxel, in right, anterior, superior.
  void set_affine(const std::array<std::array<double, 3>, 3>& directions,
                  const std::array<double, 3>& origin) {
    put<std::int16_t>(254, 1);  // sform_code: coordinates of the scanner
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        put<float>(280 + 16 * row + 4 * axis, static_cast<float>(directions[axis][row]));
      put<float>(292 + 16 * row, static_cast<float>(origin[row]));
    }
  }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }
  void copy(std::span<const std::byte> from, std::size_t at, std::size_t count) {
    std::ranges::copy(from.subspan(at, count), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  bool big_;
  std::vector<std::byte> bytes_;
};

// ---- MGH -----------------------------------------------------------------------------------

constexpr std::size_t mgh_head_bytes = 284;

bool is_mgh(const std::string& path) {
  if (!has_ending(path, ".mgh") && !has_ending(path, ".mgz")) return false;
  const auto head = first_bytes(path, 4);
  return head.size() == 4 && number_at<std::int32_t>(head, 0, true) == 1;
}

ForeignVolume read_mgh(const std::string& path) {
  const std::vector<std::byte> head = first_bytes(path, mgh_head_bytes);
  const auto fail = [&](const std::string& what) { throw BadData("'" + path + "' " + what); };
  if (head.size() < mgh_head_bytes) fail("is cut short (an MGH header has 284 bytes)");
  const auto integer = [&](int i) { return number_at<std::int32_t>(head, 4 * i, true); };
  const auto real = [&](int i) {  // the floats after goodRASFlag
    const float v = number_at<float>(head, 30 + 4 * i, true);
    return static_cast<double>(v);
  };
  std::array<std::int64_t, 4> size;
  for (int i = 0; i < 4; ++i) {
    size[i] = integer(i + 1);
    if (size[i] < 1 || size[i] > 32767)
      fail("has " + std::to_string(size[i]) + " samples along an axis (must be 1 to 32767)");
  }
  StoredType type = StoredType::u8;
  switch (integer(5)) {
    case 0:
      break;
    case 1:
      type = StoredType::i32;
      break;
    case 3:
      type = StoredType::f32;
      break;
    case 4:
      type = StoredType::i16;
      break;
    case 10:
      type = StoredType::u16;
      break;
    default:
      fail("has samples of type " + std::to_string(integer(5)) +
           " (must be 0, 1, 3, 4 or 10: uint8, int32, float, int16, uint16); convert it first");
  }
  NiftiHead nifti(true);
  nifti.set_size(std::span(size).first(3), size[3]);
  nifti.set_type(type);
  // Without valid geometry, FreeSurfer assumes coronal slices of 1 mm.
  std::array<double, 3> spacing{1, 1, 1}, centre{};
  std::array<std::array<double, 3>, 3> directions{{{-1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
  bool is_valid = number_at<std::int16_t>(head, 28, true) > 0;
  for (int i = 0; i < 15; ++i) is_valid = is_valid && std::isfinite(real(i));
  if (is_valid)
    for (int axis = 0; axis < 3; ++axis) {
      spacing[axis] = real(axis);
      centre[axis] = real(12 + axis);
      for (int row = 0; row < 3; ++row) directions[axis][row] = real(3 + 3 * axis + row);
    }
  std::array<double, 3> origin = centre;
  for (int axis = 0; axis < 3; ++axis)
    for (int row = 0; row < 3; ++row) {
      directions[axis][row] *= spacing[axis];
      origin[row] -= directions[axis][row] * static_cast<double>(size[axis]) / 2;
    }
  nifti.set_spacing(spacing);
  nifti.set_affine(directions, origin);
  return {.format = "mgh",
          .head = std::move(nifti).bytes(),
          .data_path = path,
          .start = 0,
          .skip = mgh_head_bytes};
}

// ---- NRRD ----------------------------------------------------------------------------------

bool is_nrrd(const std::string& path) {
  const auto head = first_bytes(path, 7);
  return head.size() == 7 &&
         std::string_view(reinterpret_cast<const char*>(head.data()), 7) == "NRRD000";
}

ForeignVolume read_nrrd(const std::string& path) {
  const std::vector<std::byte> bytes = first_bytes(path, max_nrrd_head);
  const NrrdHeader header =
      parse_nrrd({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  NiftiHead nifti(header.big_endian);
  nifti.set_size(header.sizes, header.sizes.size() > 3 ? header.sizes[3] : 1);
  nifti.set_type(header.type);
  nifti.set_spacing(header.spacings);
  if (header.has_directions) nifti.set_affine(header.directions, header.origin);
  ForeignVolume volume{.format = "nrrd",
                       .head = std::move(nifti).bytes(),
                       .data_path = path,
                       .start = 0,
                       .skip = header.byte_skip};
  if (!header.data_file.empty())
    volume.data_path = (std::filesystem::path(path).parent_path() / header.data_file).string();
  else if (header.is_gzip)
    volume.start = header.head_bytes;
  else
    volume.skip += header.head_bytes;
  return volume;
}

// ---- pairs ---------------------------------------------------------------------------------

struct PairNames {
  std::string head, data;
};

/// Returns the names of both files of a pair; empty names if the file is not one of a pair.
PairNames pair_of(const std::string& path) {
  const std::string suffix = has_ending(path, ".gz") ? path.substr(path.size() - 3) : "";
  const std::string plain = path.substr(0, path.size() - suffix.size());
  if (!has_ending(plain, ".img") && !has_ending(plain, ".hdr")) return {};
  const std::string stem = plain.substr(0, plain.size() - 4);
  const bool upper = plain.ends_with(".IMG") || plain.ends_with(".HDR");
  const auto existing = [&](const std::string& ending) {
    std::error_code code;
    for (const char* packed : {"", ".gz"})
      if (std::filesystem::is_regular_file(stem + ending + packed, code))
        return stem + ending + packed;
    return std::string();
  };
  return {existing(upper ? ".HDR" : ".hdr"), existing(upper ? ".IMG" : ".img")};
}

bool is_pair(const std::string& path) {
  const PairNames names = pair_of(path);
  if (names.head.empty()) return false;
  const auto head = first_bytes(names.head, nifti1_bytes);
  if (head.size() < nifti1_bytes) return false;
  const std::string_view magic(reinterpret_cast<const char*>(head.data()) + 344, 4);
  return (number_at<std::int32_t>(head, 0, false) == nifti1_bytes ||
          number_at<std::int32_t>(head, 0, true) == nifti1_bytes) &&
         magic != std::string_view("n+1\0", 4);
}

ForeignVolume read_pair(const std::string& path) {
  const PairNames names = pair_of(path);
  if (names.data.empty())
    throw NoInput("'" + path +
                  "' has no .img file with its samples (a pair consists of .hdr and "
                  ".img with the same name)");
  const std::vector<std::byte> head = first_bytes(names.head, nifti1_bytes);
  const bool big = number_at<std::int32_t>(head, 0, true) == nifti1_bytes;
  const bool is_nifti =
      std::string_view(reinterpret_cast<const char*>(head.data()) + 344, 3) == "ni1";
  const double offset = static_cast<double>(number_at<float>(head, 108, big));
  if (!(offset >= 0) || offset > 1e15 || offset != std::floor(offset))
    throw BadData("'" + names.head + "' states that its samples begin at byte " +
                  std::to_string(offset) + " (must be from 0)");
  NiftiHead nifti(big);
  if (is_nifti) {
    // Copies all fields of NIfTI except the position of the samples and the magic number.
    nifti.copy(head, 39, 69);
    nifti.copy(head, 112, 232);
  } else {
    nifti.copy(head, 40, 16);  // dim
    nifti.copy(head, 70, 4);   // datatype, bitpix
    nifti.copy(head, 80, 28);  // pixdim without its first element, which ANALYZE does not use
  }
  return {.format = is_nifti ? "nifti1 pair" : "analyze",
          .head = std::move(nifti).bytes(),
          .data_path = names.data,
          .start = 0,
          .skip = static_cast<std::uint64_t>(offset)};
}

}  // namespace

bool is_foreign_volume(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  try {
    return is_mgh(path) || is_nrrd(path) || is_pair(path);
  } catch (const Error&) {
    return false;  // the file is damaged gzip, or cannot be read
  }
}

std::optional<ForeignVolume> read_foreign_volume(const std::string& path) {
  if (!is_foreign_volume(path)) return std::nullopt;
  if (is_nrrd(path)) return read_nrrd(path);
  return is_mgh(path) ? read_mgh(path) : read_pair(path);
}

}  // namespace lull::io
