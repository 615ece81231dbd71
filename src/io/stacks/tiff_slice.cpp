#include "io/stacks/tiff_slice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "io/media.h"
#include "io/tiff/tiff_file.h"
#include "io/tiff/tiff_samples.h"

namespace lull::io {
namespace {

/// Returns whether a sample has the same size in the file and in memory.
bool is_direct(const TiffLayout& layout) { return layout.bits == 8 * size_of(type_of(layout)); }

/// Calls `use` with a zero in the C++ type of the samples in memory, so that `use` can deduce the
/// type. The function supports only layouts for which is_direct() returns false.
template <class Use>
void with_narrow_type(const TiffLayout& layout, Use&& use) {
  switch (type_of(layout)) {
    case StoredType::u8:
      return use(std::uint8_t{});
    case StoredType::u16:
      return use(std::uint16_t{});
    case StoredType::i16:
      return use(std::int16_t{});
    case StoredType::u32:
      return use(std::uint32_t{});
    case StoredType::i32:
      return use(std::int32_t{});
    default:
      return use(float{});  // half floats become floats
  }
}

template <class T>
T widen(std::uint32_t bits, int count) {
  if constexpr (std::is_same_v<T, float>)
    return from_half(static_cast<std::uint16_t>(bits));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::int32_t>(bits << (32 - count)) >> (32 - count));
  else
    return static_cast<T>(bits);
}

template <class T>
std::uint32_t narrow(T value, int count) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float max_half = 65504;  // finite values stay finite
    return to_half(std::isfinite(value) ? std::clamp(value, -max_half, max_half) : value);
  } else {
    const auto maximum =
        static_cast<T>((std::uint64_t{1} << (std::is_signed_v<T> ? count - 1 : count)) - 1);
    const T minimum = std::is_signed_v<T> ? static_cast<T>(-maximum - 1) : T{0};
    const auto bits = static_cast<std::uint32_t>(std::clamp(value, minimum, maximum));
    return bits & ((1u << count) - 1);
  }
}

}  // namespace

StoredType type_of(const TiffLayout& layout) {
  if (layout.is_float()) return layout.bits == 64 ? StoredType::f64 : StoredType::f32;
  const bool is_signed = layout.form == SAMPLEFORMAT_INT;
  if (layout.bits <= 8) return is_signed ? StoredType::i8 : StoredType::u8;
  if (layout.bits <= 16) return is_signed ? StoredType::i16 : StoredType::u16;
  return is_signed ? StoredType::i32 : StoredType::u32;
}

std::string describe_slice(const TiffLayout& layout) {
  return std::to_string(layout.width) + "x" + std::to_string(layout.height) + " " +
         std::string(name_of(type_of(layout))) +
         (is_direct(layout) ? "" : " of " + std::to_string(layout.bits) + " bits");
}

bool is_same_kind(const TiffLayout& a, const TiffLayout& b) {
  return a.width == b.width && a.height == b.height && a.bits == b.bits && a.form == b.form;
}

TiffLayout slice_layout(const TiffReader& reader, bool is_imagej) {
  const TiffLayout layout = reader.layout();
  const bool has_palette = layout.photometric == PHOTOMETRIC_PALETTE;
  if (layout.samples() != 1 || (has_palette && !is_imagej))
    reader.refuse("colours or several samples per pixel (a stack must be grey)");
  return layout;
}

void read_slice(TiffReader& reader, const TiffLayout& layout, std::vector<std::byte>& samples,
                bool check) {
  const std::size_t bytes = size_of(type_of(layout)), row_bytes = layout.width * bytes;
  samples.resize(row_bytes * layout.height);
  std::vector<std::uint32_t> raw;
  const auto use = [&](const TiffChunk<const std::uint8_t>& chunk) {
    for (int y = 0; y < chunk.height; ++y) {
      std::byte* to = &samples[(chunk.y + y) * row_bytes + chunk.x * bytes];
      if (is_direct(layout)) {
        std::memcpy(to, chunk.row(y), chunk.width * bytes);
        continue;
      }
      raw.resize(chunk.width);
      load_bits(chunk.row(y), {layout.bits, 1, 0}, raw);
      with_narrow_type(layout, [&]<class T>(T) {
        for (std::size_t x = 0; x < raw.size(); ++x) {
          const T value = widen<T>(raw[x], layout.bits);
          std::memcpy(to + x * sizeof(T), &value, sizeof(T));
        }
      });
    }
  };
  reader.read(layout, use, check);
}

void write_slice(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples) {
  const std::size_t bytes = size_of(type_of(layout)), row_bytes = layout.width * bytes;
  std::vector<std::uint32_t> raw;
  const auto fill = [&](const TiffChunk<std::uint8_t>& chunk) {
    for (int y = 0; y < chunk.height; ++y) {
      const std::byte* from = &samples[(chunk.y + y) * row_bytes + chunk.x * bytes];
      if (is_direct(layout)) {
        std::memcpy(chunk.row(y), from, chunk.width * bytes);
        continue;
      }
      raw.resize(chunk.width);
      with_narrow_type(layout, [&]<class T>(T) {
        for (std::size_t x = 0; x < raw.size(); ++x) {
          T value;
          std::memcpy(&value, from + x * sizeof(T), sizeof(T));
          raw[x] = narrow(value, layout.bits);
        }
      });
      store_bits(raw, {layout.bits, 1, 0}, chunk.row(y));
    }
  };
  writer.write(layout, fill);
}

bool is_narrow_page(const std::string& path) {
  if (!is_tiff_file(path)) return false;
  try {
    TiffReader file(path, static_cast<std::uint64_t>(Limits{}.pixels));
    std::string refusal;
    const TiffLayout layout = layout_of(file.handle(), refusal);
    if (!refusal.empty() || layout.bits != 16 || layout.form != SAMPLEFORMAT_UINT ||
        layout.photometric != PHOTOMETRIC_MINISBLACK || layout.samples() != 1 ||
        is_raw_photograph(file.handle()))
      return false;
    constexpr int most_bits = 14;
    std::uint16_t all = 0;  // the union of the bits of all samples
    const auto use = [&](const TiffChunk<const std::uint8_t>& chunk) {
      for (int y = 0; y < chunk.height; ++y)
        for (int x = 0; x < chunk.width; ++x) {
          std::uint16_t sample;
          std::memcpy(&sample, chunk.row(y) + 2 * x, sizeof sample);
          all |= sample;
        }
    };
    file.read(layout, use, /*check=*/false);
    return all != 0 && all >> most_bits == 0 && !file.next_picture();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lull::io
