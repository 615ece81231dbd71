#include "io/volumes/nifti_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "core/error.h"

namespace lull::io {
namespace {

/// Byte offsets of header fields that differ between NIfTI-1 and NIfTI-2.
struct FieldOffsets {
  int head, magic, datatype, bitpix, dim, pixdim, vox_offset, slope, inter;
};
constexpr FieldOffsets nifti1{348, 344, 70, 72, 40, 76, 108, 112, 116};
constexpr FieldOffsets nifti2{540, 4, 12, 14, 16, 104, 168, 176, 184};
const FieldOffsets& offsets_of(int version) { return version == 1 ? nifti1 : nifti2; }

template <class T>
T field(std::span<const std::byte> head, int at, bool swapped) {
  std::array<std::byte, sizeof(T)> bytes;
  std::copy_n(head.begin() + at, sizeof(T), bytes.begin());
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

template <class T>
void set_field(std::span<std::byte> head, int at, bool swapped, T value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  std::copy(bytes.begin(), bytes.end(), head.begin() + at);
}

struct Kind {
  int version;
  bool swapped;
};
std::optional<Kind> kind_of(std::span<const std::byte> head) {
  for (const bool swapped : {false, true})
    for (const int version : {1, 2}) {
      const int bytes = offsets_of(version).head;
      if (head.size() >= static_cast<std::size_t>(bytes) &&
          field<std::int32_t>(head, 0, swapped) == bytes)
        return Kind{version, swapped};
    }
  return std::nullopt;
}

/// Returns whether the bytes begin with the size of a NIfTI header, which is the header's first
/// field. The caller has found that the bytes are too few for a header.
bool is_cut_header(std::span<const std::byte> head) {
  if (head.size() < 4) return false;
  for (const bool swapped : {false, true})
    for (const int version : {1, 2})
      if (field<std::int32_t>(head, 0, swapped) == offsets_of(version).head) return true;
  return false;
}

std::string_view text(std::span<const std::byte> head, int at, std::size_t count) {
  return {reinterpret_cast<const char*>(head.data()) + at, count};
}

constexpr std::string_view magic2{"n+2\0\r\n\032\n", 8};

struct TypeCode {
  int code;
  StoredType type;
};
constexpr TypeCode type_codes[] = {
    {2, StoredType::u8},     {4, StoredType::i16},   {8, StoredType::i32},
    {16, StoredType::f32},   {64, StoredType::f64},  {256, StoredType::i8},
    {512, StoredType::u16},  {768, StoredType::u32}, {1024, StoredType::i64},
    {1280, StoredType::u64},
};
/// Returns the name of a sample type of NIfTI that lull does not support; empty for all other
/// codes.
std::string_view refused_type(int code) {
  switch (code) {
    case 1:
      return "bits";
    case 32:
    case 1792:
    case 2048:
      return "complex numbers";
    case 128:
    case 2304:
      return "RGB colours";
    case 1536:
      return "128-bit floats, whose format the standard does not define";
    default:
      return {};
  }
}

class Parser {
 public:
  Parser(std::span<const std::byte> head, const std::string& name) : head_(head), name_(name) {}

  NiftiHeader parse() {
    const auto kind = kind_of(head_);
    if (!kind && is_cut_header(head_)) fail("is cut short (it ends in its header)");
    if (!kind)
      fail("is not a NIfTI file (its first number is neither 348 nor 540)", "convert it first");
    swapped_ = kind->swapped;
    at_ = offsets_of(kind->version);
    header_.version = kind->version;
    header_.samples.swapped = swapped_;
    check_magic();
    read_size();
    read_type();
    read_offset();
    read_scale();
    read_spacing();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice = {}) const {
    throw BadData("'" + name_ + "' " + what + (advice.empty() ? "" : "; " + advice));
  }

  template <class T>
  T get(int at) const {
    return field<T>(head_, at, swapped_);
  }

  void check_magic() const {
    const std::string_view magic = text(head_, at_.magic, 4);
    const std::string_view pair =
        header_.version == 1 ? std::string_view("ni1\0", 4) : std::string_view("ni2\0", 4);
    if (magic == pair)
      fail("is one half of a NIfTI pair (.hdr and .img)", "convert it to a single .nii");
    if (header_.version == 1 && magic != std::string_view("n+1\0", 4))
      fail("has a header of ANALYZE 7.5, not of NIfTI (no magic number)", "convert it to .nii");
    if (header_.version == 2 && text(head_, at_.magic, 8) != magic2)
      fail("is damaged (the magic number of NIfTI-2 is wrong)");
  }

  std::int64_t dim(int i) const {
    return header_.version == 1 ? get<std::int16_t>(at_.dim + 2 * i)
                                : get<std::int64_t>(at_.dim + 8 * i);
  }

  void read_size() {
    const std::int64_t count = dim(0);
    if (count < 1 || count > 7)
      fail("has " + std::to_string(count) + " dimensions (must be 1 to 7)");
    // Maximum number of samples, so that the size of the file in bytes fits in 63 bits for every
    // sample type.
    constexpr std::int64_t max_samples = std::numeric_limits<std::int64_t>::max() / 16;
    std::int64_t product = 1;
    for (int i = 1; i <= count; ++i) {
      const std::int64_t size = dim(i);
      if (size < 1)
        fail("has " + std::to_string(size) + " samples along dimension " + std::to_string(i) +
             " (must be at least 1)");
      if (size > max_samples / product) fail("has more samples than 64 bits can count");
      product *= size;
      if (i <= 3)
        header_.size[i - 1] = size;
      else
        header_.volumes *= size;
    }
  }

  void read_type() {
    const int code = get<std::int16_t>(at_.datatype);
    for (const TypeCode& known : type_codes)
      if (known.code == code) {
        header_.samples.type = known.type;
        return;
      }
    const std::string_view refused = refused_type(code);
    if (refused.empty()) fail("has samples of an unknown type (" + std::to_string(code) + ")");
    fail("has samples of type " + std::to_string(code) + " (" + std::string(refused) +
             "; must be integers of 8 to 64 bits or floats of 32 or 64)",
         "convert it first");
  }

  void read_offset() {
    const double offset = header_.version == 1
                              ? static_cast<double>(get<float>(at_.vox_offset))
                              : static_cast<double>(get<std::int64_t>(at_.vox_offset));
    if (!(offset >= at_.head) || offset > 9e15 || offset != std::floor(offset))
      fail("states that its samples begin at byte " + std::to_string(offset) + " (must be from " +
           std::to_string(at_.head) + ")");
    header_.data_offset = static_cast<std::uint64_t>(offset);
  }

  // Reads the scale of the samples. The standard applies the scale "if the scl_slope field is
  // nonzero"; a slope of NaN or infinity also means no scale.
  void read_scale() {
    const double slope = header_.version == 1 ? get<float>(at_.slope) : get<double>(at_.slope);
    const double inter = header_.version == 1 ? get<float>(at_.inter) : get<double>(at_.inter);
    header_.scaled = std::isfinite(slope) && slope != 0;
    if (!header_.scaled) return;
    if (!std::isfinite(inter)) fail("has a scale without offset (scl_inter is NaN or infinite)");
    header_.samples.slope = slope;
    header_.samples.inter = inter;
  }

  /// Reads the spacing from pixdim[1] to pixdim[3]. Ignores invalid values, because lull uses the
  /// spacing only to draw pictures.
  void read_spacing() {
    std::array<double, 3> spacing{};
    for (int i = 0; i < 3; ++i)
      spacing[i] = header_.version == 1
                       ? static_cast<double>(std::abs(get<float>(at_.pixdim + 4 * (i + 1))))
                       : std::abs(get<double>(at_.pixdim + 8 * (i + 1)));
    constexpr double max_ratio = 100;
    if (!std::ranges::all_of(spacing, [](double s) { return std::isfinite(s); })) return;
    const auto [minimum, maximum] = std::ranges::minmax(spacing);
    if (minimum > 0 && maximum <= max_ratio * minimum) header_.spacing = spacing;
  }

  std::span<const std::byte> head_;
  const std::string& name_;
  FieldOffsets at_{};
  bool swapped_ = false;
  NiftiHeader header_;
};

}  // namespace

std::uint64_t NiftiHeader::volume_samples() const {
  return static_cast<std::uint64_t>(size[0]) * size[1] * size[2];
}
std::uint64_t NiftiHeader::total_samples() const { return volume_samples() * volumes; }

bool looks_like_nifti(std::span<const std::byte> head) {
  const auto kind = kind_of(head);
  if (!kind) return false;
  const std::string_view magic = text(head, offsets_of(kind->version).magic, 3);
  return magic == "n+1" || magic == "ni1" || magic == "n+2" || magic == "ni2";
}

NiftiHeader parse_nifti(std::span<const std::byte> head, const std::string& name) {
  return Parser(head, name).parse();
}

void change_samples(std::vector<std::byte>& head, const NiftiHeader& header,
                    const StoredFormat& samples, bool scaled) {
  const FieldOffsets& at = offsets_of(header.version);
  const bool swapped = header.samples.swapped;
  const auto* code = std::ranges::find(type_codes, samples.type, &TypeCode::type);
  set_field(std::span(head), at.datatype, swapped, static_cast<std::int16_t>(code->code));
  set_field(std::span(head), at.bitpix, swapped,
            static_cast<std::int16_t>(8 * size_of(samples.type)));
  const double slope = scaled ? samples.slope : 0, inter = scaled ? samples.inter : 0;
  if (header.version == 1) {
    set_field(std::span(head), at.slope, swapped, static_cast<float>(slope));
    set_field(std::span(head), at.inter, swapped, static_cast<float>(inter));
  } else {
    set_field(std::span(head), at.slope, swapped, slope);
    set_field(std::span(head), at.inter, swapped, inter);
  }
}

}  // namespace lull::io
