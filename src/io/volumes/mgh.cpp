#include "io/volumes/mgh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "io/volumes/byte_fields.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/nifti_fields.h"
#include "io/volumes/volume_name.h"

namespace lull::io {
namespace {

constexpr std::pair<int, StoredType> mgh_types[] = {{0, StoredType::u8},
                                                    {1, StoredType::i32},
                                                    {3, StoredType::f32},
                                                    {4, StoredType::i16},
                                                    {10, StoredType::u16}};
// Byte offsets of header fields. All numbers are big-endian.
constexpr std::size_t at_type = 20, at_valid = 28, at_spacing = 30, at_directions = 42,
                      at_centre = 78;

/// Reads the geometry. The header states the position of the central voxel, whose indices are half
/// the sizes. If the header has no valid geometry, the function assumes coronal slices of 1 mm,
/// like FreeSurfer.
VolumeGeometry read_geometry(std::span<const std::byte> head, VolumeGeometry geometry) {
  const auto real = [&](std::size_t at, std::size_t i) {
    return static_cast<double>(number_at<float>(head, at + 4 * i, true));
  };
  geometry.is_oriented = true;
  geometry.directions = {{{-1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
  std::array<double, 3> centre{};
  bool is_valid = number_at<std::int16_t>(head, at_valid, true) > 0;
  for (std::size_t i = 0; i < 15; ++i) is_valid = is_valid && std::isfinite(real(at_spacing, i));
  if (is_valid)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      geometry.spacing[axis] = real(at_spacing, axis);
      centre[axis] = real(at_centre, axis);
      for (std::size_t row = 0; row < 3; ++row)
        geometry.directions[axis][row] = real(at_directions, 3 * axis + row);
    }
  geometry.origin = centre;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t row = 0; row < 3; ++row) {
      geometry.directions[axis][row] *= geometry.spacing[axis];
      geometry.origin[row] -=
          geometry.directions[axis][row] * static_cast<double>(geometry.size[axis]) / 2;
    }
    const double spacing = std::abs(geometry.spacing[axis]);
    geometry.spacing[axis] = spacing > 0 ? spacing : 1;
  }
  return geometry;
}

}  // namespace

bool is_mgh(const std::string& path) {
  const VolumeFormat format = volume_format(path);
  if (format != VolumeFormat::mgh && format != VolumeFormat::mgz) return false;
  const auto head = first_bytes(path, 4);
  return head.size() == 4 && number_at<std::int32_t>(head, 0, true) == 1;
}

ForeignVolume read_mgh(const std::string& path) {
  std::vector<std::byte> head = first_bytes(path, mgh_head_bytes);
  const auto fail = [&](const std::string& what) { throw BadData("'" + path + "' " + what); };
  if (head.size() < mgh_head_bytes) fail("is cut short (an MGH header has 284 bytes)");
  std::array<std::int64_t, 4> size;
  for (std::size_t i = 0; i < 4; ++i) {
    size[i] = number_at<std::int32_t>(head, 4 * (i + 1), true);
    if (size[i] < 1 || size[i] > 32767)
      fail("has " + std::to_string(size[i]) + " samples along an axis (must be 1 to 32767)");
  }
  const int code = number_at<std::int32_t>(head, at_type, true);
  const auto* type = std::ranges::find(mgh_types, code, &std::pair<int, StoredType>::first);
  if (type == std::end(mgh_types))
    fail("has samples of type " + std::to_string(code) +
         " (must be 0, 1, 3, 4 or 10: uint8, int32, float, int16, uint16); convert it first");
  VolumeGeometry geometry;
  std::copy_n(size.begin(), 3, geometry.size.begin());
  geometry.volumes = size[3];
  geometry = read_geometry(head, geometry);
  ForeignVolume volume{.format = "mgh", .data_path = path, .skip = mgh_head_bytes};
  volume.head = make_nifti_head(
      geometry, {.type = type->second, .swapped = std::endian::native != std::endian::big});
  volume.geometry = geometry;
  volume.original = std::move(head);
  return volume;
}

std::vector<std::byte> make_mgh_head(const VolumeGeometry& geometry, StoredType type,
                                     std::span<const std::byte> original) {
  std::vector<std::byte> head(original.begin(), original.end());
  head.resize(mgh_head_bytes);
  const auto put = [&]<class T>(std::size_t at, T value) { put_number(head, at, true, value); };
  const auto* code = std::ranges::find(mgh_types, type, &std::pair<int, StoredType>::second);
  if (code == std::end(mgh_types)) throw InternalError("MGH files have no such sample type");
  put(at_type, std::int32_t{code->first});
  if (!original.empty()) return head;
  put(0, std::int32_t{1});
  for (std::size_t i = 0; i < 3; ++i) put(4 * (i + 1), static_cast<std::int32_t>(geometry.size[i]));
  put(16, static_cast<std::int32_t>(geometry.volumes));
  put(at_valid, std::int16_t{1});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    put(at_spacing + 4 * axis, static_cast<float>(geometry.spacing[axis]));
    double centre = geometry.origin[axis];
    for (std::size_t other = 0; other < 3; ++other) {
      centre += geometry.directions[other][axis] * static_cast<double>(geometry.size[other]) / 2;
      // Without an orientation, this function assumes RAS axes (right, anterior, superior).
      const double direction = geometry.is_oriented
                                   ? geometry.directions[axis][other] / geometry.spacing[axis]
                                   : static_cast<double>(axis == other);
      put(at_directions + 4 * (3 * axis + other), static_cast<float>(direction));
    }
    put(at_centre + 4 * axis, static_cast<float>(geometry.is_oriented ? centre : 0));
  }
  return head;
}

std::vector<std::byte> make_mgh_tail(const VolumeGeometry& geometry) {
  if (geometry.seconds <= 0) return {};
  std::vector<std::byte> tail(20);  // times, angle, field of view
  put_number(std::span(tail), 0, true, static_cast<float>(1000 * geometry.seconds));
  return tail;
}

double repetition_time(std::span<const std::byte> tail) {
  if (tail.size() < 4) return 0;
  const double milliseconds = static_cast<double>(number_at<float>(tail, 0, true));
  return std::isfinite(milliseconds) && milliseconds > 0 ? milliseconds / 1000 : 0;
}

std::vector<std::string> other_contents_of_mgh(std::span<const std::byte> tail) {
  std::vector<std::string> contents;
  const auto has_bytes = [&](std::size_t from, std::size_t to) {
    const auto part = tail.subspan(std::min(from, tail.size()),
                                   std::min(to, tail.size()) - std::min(from, tail.size()));
    return std::ranges::any_of(part, [](std::byte b) { return b != std::byte{0}; });
  };
  if (has_bytes(4, 20)) contents.emplace_back("flip angle, echo time and inversion time");
  if (has_bytes(20, tail.size())) contents.emplace_back("the tags after the samples");
  return contents;
}

}  // namespace lull::io
