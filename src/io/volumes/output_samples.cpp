#include "io/volumes/output_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace lull::io {
namespace {

bool is_real(StoredType type) { return type == StoredType::f32 || type == StoredType::f64; }

bool is_mgh_format(VolumeFormat format) {
  return format == VolumeFormat::mgh || format == VolumeFormat::mgz;
}

bool can_hold_type(VolumeFormat format, StoredType type) {
  using enum StoredType;
  return !is_mgh_format(format) || type == u8 || type == i16 || type == u16 || type == i32 ||
         type == f32;
}

/// Returns whether the integer type `type` can store all values from `minimum` to `maximum`.
bool holds_range(StoredType type, double minimum, double maximum) {
  const auto fits = [&]<class T>(T) {
    return minimum >= static_cast<double>(std::numeric_limits<T>::min()) &&
           maximum <= static_cast<double>(std::numeric_limits<T>::max());
  };
  switch (type) {
    case StoredType::u8:
      return fits(std::uint8_t{});
    case StoredType::i8:
      return fits(std::int8_t{});
    case StoredType::u16:
      return fits(std::uint16_t{});
    case StoredType::i16:
      return fits(std::int16_t{});
    case StoredType::u32:
      return fits(std::uint32_t{});
    case StoredType::i32:
      return fits(std::int32_t{});
    default:
      return false;
  }
}

/// Returns the sample format of int16 outputs whose header contains a scale. If all stored values
/// are integers that fit in int16, the scale of the input remains unchanged. If not, the function
/// chooses the scale so that all values fit in -32767..32767.
OutputSamples scaled_int16(const NiftiHeader& header, const SampleChoice& choice) {
  const StoredFormat& in = header.samples;
  OutputSamples out{in, header.scaled, {}};
  out.format.type = StoredType::i16;
  const double a = (choice.minimum - in.inter) / in.slope;
  const double b = (choice.maximum - in.inter) / in.slope;
  if (!is_real(in.type) && std::min(a, b) >= -32768 && std::max(a, b) <= 32767) return out;
  const bool narrow = header.version == 1;  // the scale in NIfTI-1 headers is a float
  const double middle = choice.minimum / 2 + choice.maximum / 2;
  const double inter = narrow ? static_cast<double>(static_cast<float>(middle)) : middle;
  double slope = std::max(choice.maximum - inter, inter - choice.minimum) / 32767;
  // The function rounds the slope up, so that the scaled minimum and maximum fit in -32767..32767.
  if (narrow && slope > 0)
    slope = std::nextafter(static_cast<float>(slope), std::numeric_limits<float>::infinity());
  if (slope == 0) slope = 1;  // all values are equal
  if (!std::isfinite(slope) || !std::isfinite(inter))
    throw InvalidArgument("'" + choice.path +
                          "' has values that int16 cannot hold (the header cannot state their "
                          "scale); use --datatype float32");
  out.format.inter = inter;
  out.format.slope = slope;
  out.scaled = true;
  return out;
}

bool is_whole(const StoredFormat& format) {
  return !is_real(format.type) && std::floor(format.slope) == format.slope &&
         std::floor(format.inter) == format.inter;
}

/// Returns the sample format for headers without a scale, and a message about the loss of
/// precision.
OutputSamples unscaled(const NiftiHeader& header, const SampleChoice& choice) {
  const StoredFormat& in = header.samples;
  const bool is_identity = in.slope == 1 && in.inter == 0;
  OutputSamples out{{.type = StoredType::f32, .swapped = in.swapped}, false, {}};
  const auto fits = [&](StoredType type) {
    return can_hold_type(choice.output, type) && holds_range(type, choice.minimum, choice.maximum);
  };
  if (choice.type == DataType::int16) {
    out.format.type = StoredType::i16;
    if (is_whole(in) && fits(StoredType::i16)) return out;
    throw InvalidArgument(
        "'" + choice.path + "' has values that int16 cannot hold without a scale (" +
        describe(choice.output) + " has none); use --datatype float32, or a NIfTI output");
  }
  if (choice.type == DataType::float32) return out;
  if (can_hold_type(choice.output, in.type) && (is_identity || in.type == StoredType::f64)) {
    out.format.type = in.type;
    return out;
  }
  if (is_whole(in)) {
    using enum StoredType;
    for (const StoredType type : {in.type, i16, u16, i32, u32})
      if (fits(type)) {
        out.format.type = type;
        return out;
      }
  }
  if (size_of(in.type) > 4 || (size_of(in.type) == 4 && in.type != StoredType::f32))
    out.loss = "the precision of samples of type " + std::string(name_of(in.type)) + " (" +
               describe(choice.output) + " stores them as float32)";
  return out;
}

}  // namespace

OutputSamples output_samples(const NiftiHeader& input, const SampleChoice& choice) {
  const StoredFormat& in = input.samples;
  OutputSamples out{in, input.scaled, {}};
  if (!choice.has_scale)
    out = unscaled(input, choice);
  else if (choice.type == DataType::int16)
    out = scaled_int16(input, choice);
  else if (choice.type == DataType::float32)
    out.format = {.type = StoredType::f32, .swapped = in.swapped};
  // MGH files are big-endian.
  if (is_mgh_format(choice.output)) out.format.swapped = std::endian::native != std::endian::big;
  return out;
}

}  // namespace lull::io
