// Reads and writes the fields of NIfTI headers. Sources: nifti1.h (2007) and nifti2.h (2011),
// nifti.nimh.nih.gov.

#include "io/volumes/nifti_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "io/volumes/byte_fields.h"

namespace lull::io {
namespace {

constexpr std::size_t new_head_bytes = 348 + 4;

/// Byte offsets of fields with geometry and other contents. NIfTI-2 has doubles instead of floats,
/// and integers of 32 bits instead of 16 or 8 bits.
struct ContentOffsets {
  std::size_t pixdim, dim4, toffset, cal_max, cal_min, slice_duration, descrip, aux_file, qform,
      sform, quatern, qoffset, srow, slice_code, units, intent_code, intent_name, dim_info;
};
constexpr ContentOffsets contents1{76,  48,  136, 124, 128, 132, 148, 228, 252,
                                   254, 256, 268, 280, 122, 123, 68,  328, 39};
constexpr ContentOffsets contents2{104, 48,  216, 192, 200, 208, 240, 320, 344,
                                   348, 352, 376, 400, 496, 500, 504, 508, 524};

class NiftiFields {
 public:
  NiftiFields(std::span<const std::byte> head, const NiftiHeader& header)
      : head_(head),
        is_first_(header.version == 1),
        big_(header.samples.swapped != (std::endian::native == std::endian::big)),
        at(is_first_ ? contents1 : contents2) {}

  /// Returns element `i` of an array at byte `from`: a float in NIfTI-1, a double in NIfTI-2.
  double real(std::size_t from, std::size_t i = 0) const {
    return is_first_ ? static_cast<double>(number_at<float>(head_, from + 4 * i, big_))
                     : number_at<double>(head_, from + 8 * i, big_);
  }
  int code(std::size_t from) const {
    return is_first_ ? number_at<std::int16_t>(head_, from, big_)
                     : number_at<std::int32_t>(head_, from, big_);
  }
  int byte_code(std::size_t from) const {
    return is_first_ ? number_at<std::uint8_t>(head_, from, big_)
                     : number_at<std::int32_t>(head_, from, big_);
  }
  std::int64_t fourth_size() const {
    return is_first_ ? number_at<std::int16_t>(head_, at.dim4, big_)
                     : number_at<std::int64_t>(head_, at.dim4, big_);
  }
  bool has_text(std::size_t from) const { return head_[from] != std::byte{0}; }
  bool has_dim_info() const { return head_[at.dim_info] != std::byte{0}; }

 private:
  std::span<const std::byte> head_;
  bool is_first_, big_;

 public:
  const ContentOffsets& at;
};

/// Returns the length of the header's unit of space in millimetres.
double millimetres_of(int units) {
  const int space = units & 7;
  return space == 1 ? 1000 : space == 3 ? 0.001 : 1;
}

/// Returns the duration of the header's unit of time in seconds; 0 for units such as hertz.
double seconds_of(int units) {
  switch (units & 0x38) {
    case 0:
    case 8:
      return 1;
    case 16:
      return 1e-3;
    case 24:
      return 1e-6;
    default:
      return 0;
  }
}

bool read_sform(const NiftiFields& fields, VolumeGeometry& geometry) {
  if (fields.code(fields.at.sform) <= 0) return false;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      geometry.directions[axis][row] = fields.real(fields.at.srow, 4 * row + axis);
    geometry.origin[row] = fields.real(fields.at.srow, 4 * row + 3);
  }
  return true;
}

/// Converts the quaternion of the q-form (method 2) to directions. The header omits the first
/// component, which follows from the unit length of the quaternion.
bool read_qform(const NiftiFields& fields, VolumeGeometry& geometry) {
  if (fields.code(fields.at.qform) <= 0) return false;
  const double b = fields.real(fields.at.quatern, 0), c = fields.real(fields.at.quatern, 1),
               d = fields.real(fields.at.quatern, 2);
  const double a = std::sqrt(std::max(0.0, 1 - b * b - c * c - d * d));
  const double sign = fields.real(fields.at.pixdim) < 0 ? -1 : 1;
  const double x = std::abs(fields.real(fields.at.pixdim, 1)),
               y = std::abs(fields.real(fields.at.pixdim, 2)),
               z = sign * std::abs(fields.real(fields.at.pixdim, 3));
  geometry.directions = {
      {{x * (a * a + b * b - c * c - d * d), x * 2 * (b * c + a * d), x * 2 * (b * d - a * c)},
       {y * 2 * (b * c - a * d), y * (a * a + c * c - b * b - d * d), y * 2 * (c * d + a * b)},
       {z * 2 * (b * d + a * c), z * 2 * (c * d - a * b), z * (a * a + d * d - b * b - c * c)}}};
  for (std::size_t i = 0; i < 3; ++i) geometry.origin[i] = fields.real(fields.at.qoffset, i);
  return true;
}

bool is_usable(const VolumeGeometry& geometry) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& d = geometry.directions[axis];
    const double length = std::hypot(d[0], d[1], d[2]);
    if (!std::isfinite(length) || length == 0 || !std::isfinite(geometry.origin[axis]))
      return false;
  }
  return true;
}

}  // namespace

VolumeGeometry geometry_of_nifti(std::span<const std::byte> head, const NiftiHeader& header) {
  const NiftiFields fields(head, header);
  VolumeGeometry geometry;
  geometry.size = header.size;
  geometry.volumes = header.volumes;
  const int units = fields.byte_code(fields.at.units);
  const double unit = millimetres_of(units);
  for (std::size_t i = 0; i < 3; ++i) {
    const double spacing = unit * std::abs(fields.real(fields.at.pixdim, i + 1));
    if (std::isfinite(spacing) && spacing > 0) geometry.spacing[i] = spacing;
  }
  const double seconds = seconds_of(units) * fields.real(fields.at.pixdim, 4);
  if (geometry.volumes > 1 && std::isfinite(seconds) && seconds > 0) geometry.seconds = seconds;
  geometry.is_oriented =
      (read_sform(fields, geometry) || read_qform(fields, geometry)) && is_usable(geometry);
  if (!geometry.is_oriented) return geometry;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (double& component : geometry.directions[axis]) component *= unit;
    geometry.origin[axis] *= unit;
    const auto& d = geometry.directions[axis];
    geometry.spacing[axis] = std::hypot(d[0], d[1], d[2]);
  }
  return geometry;
}

std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                 const NiftiHeader& header) {
  const NiftiFields fields(head, header);
  const ContentOffsets& at = fields.at;
  std::vector<std::string> contents;
  const auto add = [&](bool is_present, const char* what) {
    if (is_present) contents.emplace_back(what);
  };
  const std::size_t extender = header.version == 1 ? 348 : 540;
  add(head.size() > extender + 4 && head[extender] != std::byte{0}, "the header's extensions");
  add(fields.has_text(at.descrip), "the header's description (descrip)");
  add(fields.has_text(at.aux_file), "the name of the auxiliary file (aux_file)");
  add(fields.code(at.intent_code) != 0 || fields.has_text(at.intent_name),
      "the header's intent (intent_code)");
  add(fields.byte_code(at.slice_code) != 0 || fields.real(at.slice_duration) != 0,
      "the timing of the slices (slice_code, slice_duration)");
  add(fields.real(at.toffset) != 0, "the time of the first volume (toffset)");
  add(fields.real(at.cal_max) != 0 || fields.real(at.cal_min) != 0,
      "the display range (cal_min, cal_max)");
  add(fields.has_dim_info(), "the axes of frequency and phase encoding (dim_info)");
  add(fields.code(at.sform) > 0 && fields.code(at.qform) > 0, "the header's q-form");
  add(header.volumes > 1 && fields.fourth_size() != header.volumes,
      "the division of the series into dimensions 4 to 7");
  return contents;
}

std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                       const StoredFormat& samples) {
  std::vector<std::byte> head(new_head_bytes);
  const bool big = samples.swapped != (std::endian::native == std::endian::big);
  const auto put = [&]<class T>(std::size_t at, T value) { put_number(head, at, big, value); };
  const auto put_float = [&](std::size_t at, double value) { put(at, static_cast<float>(value)); };
  const bool is_series = geometry.volumes > 1;
  put(0, std::int32_t{348});
  put(40, std::int16_t{is_series ? std::int16_t{4} : std::int16_t{3}});
  for (std::size_t i = 0; i < 7; ++i) put(42 + 2 * i, std::int16_t{1});
  for (std::size_t i = 0; i < 3; ++i) {
    put(42 + 2 * i, static_cast<std::int16_t>(geometry.size[i]));
    put_float(contents1.pixdim + 4 * (i + 1), geometry.spacing[i]);
  }
  put(contents1.dim4, static_cast<std::int16_t>(geometry.volumes));
  put_float(contents1.pixdim, 1);
  put_float(contents1.pixdim + 16, geometry.seconds > 0 ? geometry.seconds : 1);
  put_float(108, new_head_bytes);
  put(contents1.units, static_cast<std::uint8_t>(geometry.seconds > 0 ? 2 | 8 : 2));
  for (std::size_t i = 0; i < 3; ++i) head[344 + i] = static_cast<std::byte>("n+1"[i]);
  if (geometry.is_oriented) {
    put(contents1.sform, std::int16_t{1});  // coordinates of the scanner
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        put_float(contents1.srow + 16 * row + 4 * axis, geometry.directions[axis][row]);
      put_float(contents1.srow + 16 * row + 12, geometry.origin[row]);
    }
  }
  NiftiHeader order;
  order.samples.swapped = samples.swapped;
  change_samples(head, order, samples, samples.slope != 1 || samples.inter != 0);
  return head;
}

}  // namespace lull::io
