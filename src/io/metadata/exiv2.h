#pragma once
// Exiv2's headers, and compatibility functions for Exiv2's releases.

#include <exiv2/exiv2.hpp>

#include "io/metadata/byte_order.h"

namespace lull::io {

/// Disables Exiv2's log, and makes its XMP parser thread-safe.
void prepare_exiv2();

inline ByteVector bytes_of(const Exiv2::DataBuf& buffer) {
#if EXIV2_TEST_VERSION(0, 28, 0)
  return buffer.empty() ? ByteVector()
                        : ByteVector(buffer.c_data(), buffer.c_data() + buffer.size());
#else
  return buffer.pData_ ? ByteVector(buffer.pData_, buffer.pData_ + buffer.size_) : ByteVector();
#endif
}

inline ByteVector profile_of(const Exiv2::Image& image) {
#if EXIV2_TEST_VERSION(0, 28, 0)
  return bytes_of(image.iccProfile());
#else
  return bytes_of(*const_cast<Exiv2::Image&>(image).iccProfile());
#endif
}

inline std::int64_t integer_of(const Exiv2::Metadatum& datum, int index = 0) {
#if EXIV2_TEST_VERSION(0, 28, 0)
  return datum.toInt64(static_cast<std::size_t>(index));
#else
  return datum.toLong(index);
#endif
}

/// Opens the picture with the content `file`, which must outlive the result.
/// @throws std::exception
inline auto open_image(ByteView file) {
  auto image = Exiv2::ImageFactory::open(file.data(), static_cast<long>(file.size()));
  image->readMetadata();
  return image;
}

/// Encodes EXIF data as a TIFF structure. `original` contains the bytes from which the caller
/// decoded `data`; empty for new data.
/// @throws std::exception
ByteVector encode_exif(Exiv2::ExifData& data, ByteView original, Exiv2::ByteOrder order);

/// Returns the names of the tags of `data` that are missing in `encoded`. Exiv2 omits tags of more
/// than 4 KB if all tags together are too long.
/// @throws std::exception
std::vector<std::string> omitted_tags(const Exiv2::ExifData& data, ByteView encoded);

}  // namespace lull::io
