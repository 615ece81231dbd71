#pragma once
// NIfTI files that are built byte by byte from nifti1.h and nifti2.h, independently of io's code.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lull::io::test {

using File = std::vector<std::uint8_t>;

struct VolumeSpec {
  int version = 1;
  bool big_endian = false;
  std::vector<std::int64_t> dim = {5, 4, 3};
  int datatype = 4, bitpix = 16;  // int16
  double slope = 0, inter = 0;
  File extension;  // complete with its flag, between the header and the samples; empty: 4 zeros
};

template <class T>
void put(File& file, std::size_t at, T value, bool big_endian) {
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  if (file.size() < at + sizeof(T)) file.resize(at + sizeof(T));
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Returns the header and the extension; unused fields are filled with values that must survive.
inline File volume_head(const VolumeSpec& spec) {
  const bool big = spec.big_endian;
  const std::size_t bytes = spec.version == 1 ? 348 : 540;
  File file(bytes);
  for (std::size_t i = 0; i < bytes; ++i) file[i] = static_cast<std::uint8_t>(i * 7);
  const File extension = spec.extension.empty() ? File(4) : spec.extension;
  const auto offset = static_cast<std::int64_t>(bytes + extension.size());
  const auto count = static_cast<std::int64_t>(spec.dim.size());
  put(file, 0, static_cast<std::int32_t>(bytes), big);
  if (spec.version == 1) {
    put(file, 40, static_cast<std::int16_t>(count), big);
    for (int i = 0; i < 7; ++i)
      put(file, 42 + 2 * i, static_cast<std::int16_t>(i < count ? spec.dim[i] : 1), big);
    put(file, 70, static_cast<std::int16_t>(spec.datatype), big);
    put(file, 72, static_cast<std::int16_t>(spec.bitpix), big);
    put(file, 108, static_cast<float>(offset), big);
    put(file, 112, static_cast<float>(spec.slope), big);
    put(file, 116, static_cast<float>(spec.inter), big);
    std::copy_n("n+1", 4, file.begin() + 344);
  } else {
    std::copy_n("n+2\0\r\n\032\n", 8, file.begin() + 4);
    put(file, 12, static_cast<std::int16_t>(spec.datatype), big);
    put(file, 14, static_cast<std::int16_t>(spec.bitpix), big);
    put(file, 16, count, big);
    for (int i = 0; i < 7; ++i)
      put(file, 24 + 8 * i, i < count ? spec.dim[i] : std::int64_t{1}, big);
    put(file, 168, offset, big);
    put(file, 176, spec.slope, big);
    put(file, 184, spec.inter, big);
  }
  file.insert(file.end(), extension.begin(), extension.end());
  return file;
}

template <class T>
File volume(const VolumeSpec& spec, const std::vector<T>& samples) {
  File file = volume_head(spec);
  file.reserve(file.size() + samples.size() * sizeof(T));
  for (const T sample : samples) put(file, file.size(), sample, spec.big_endian);
  return file;
}

/// Returns the samples of a file that has the layout of volume().
template <class T>
std::vector<T> samples_of(const File& file, const VolumeSpec& spec) {
  std::vector<T> samples;
  for (std::size_t at = volume_head(spec).size(); at + sizeof(T) <= file.size(); at += sizeof(T)) {
    std::array<std::uint8_t, sizeof(T)> bytes;
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), sizeof(T), bytes.begin());
    if (spec.big_endian) std::reverse(bytes.begin(), bytes.end());
    samples.push_back(std::bit_cast<T>(bytes));
  }
  return samples;
}

/// Returns the type code of nifti1.h.
template <class T>
constexpr int code_of() {
  if constexpr (std::is_same_v<T, float>) return 16;
  if constexpr (std::is_same_v<T, double>) return 64;
  constexpr int unsigned_codes[] = {2, 512, 768, 1280}, signed_codes[] = {256, 4, 8, 1024};
  constexpr int place = std::countr_zero(sizeof(T));
  return std::is_signed_v<T> ? signed_codes[place] : unsigned_codes[place];
}

}  // namespace lull::io::test
