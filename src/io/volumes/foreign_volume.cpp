#include "io/volumes/foreign_volume.h"

#include <bit>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/mgh.h"
#include "io/volumes/nifti_fields.h"
#include "io/volumes/nifti_pair.h"
#include "io/volumes/nrrd_header.h"

namespace lull::io {
namespace {

constexpr std::size_t max_nrrd_head = 1 << 20;

bool is_nrrd(const std::string& path) {
  const auto head = first_bytes(path, 7);
  return head.size() == 7 &&
         std::string_view(reinterpret_cast<const char*>(head.data()), 7) == "NRRD000";
}

ForeignVolume read_nrrd(const std::string& path) {
  std::vector<std::byte> bytes = first_bytes(path, max_nrrd_head);
  NrrdHeader header = parse_nrrd({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  ForeignVolume volume{.format = "nrrd", .data_path = path, .skip = header.byte_skip};
  volume.head = make_nifti_head(
      header.geometry, {.type = header.type,
                        .swapped = header.big_endian != (std::endian::native == std::endian::big)});
  volume.geometry = header.geometry;
  volume.is_gzip = header.is_gzip;
  volume.other_contents = std::move(header.other_contents);
  bytes.resize(header.head_bytes);
  volume.original = std::move(bytes);
  if (!header.data_file.empty())
    volume.data_path = (std::filesystem::path(path).parent_path() / header.data_file).string();
  else if (header.is_gzip)
    volume.start = header.head_bytes;
  else
    volume.skip += header.head_bytes;
  return volume;
}

}  // namespace

bool is_foreign_volume(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  try {
    return is_mgh(path) || is_nrrd(path) || is_nifti_pair(path);
  } catch (const Error&) {
    return false;  // the file is damaged gzip, or cannot be read
  }
}

std::optional<ForeignVolume> read_foreign_volume(const std::string& path) {
  if (!is_foreign_volume(path)) return std::nullopt;
  if (is_nrrd(path)) return read_nrrd(path);
  return is_mgh(path) ? read_mgh(path) : read_nifti_pair(path);
}

}  // namespace lull::io
