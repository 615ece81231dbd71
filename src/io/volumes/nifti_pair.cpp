// Headers of pairs (.hdr and .img). Sources: nifti1.h (2007) and the header of ANALYZE 7.5.

#include "io/volumes/nifti_pair.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "io/volumes/byte_fields.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/nifti_fields.h"
#include "io/volumes/volume_name.h"

namespace lull::io {
namespace {

constexpr std::size_t pair_head_bytes = 348, extender_bytes = 4, at_offset = 108, at_magic = 344;
constexpr std::size_t max_pair_head = 1 << 28;  // maximum size of a header with its extensions

/// Returns the names of the existing files of a pair. The name of a missing file is empty.
PairNames existing_pair(const std::string& path) {
  if (volume_format(path) != VolumeFormat::pair) return {};
  const std::string plain = is_gzip_name(path) ? path.substr(0, path.size() - 3) : path;
  const auto existing = [](const std::string& name) {
    std::error_code code;
    for (const char* packed : {"", ".gz"})
      if (std::filesystem::is_regular_file(name + packed, code)) return name + packed;
    return std::string();
  };
  const PairNames names = pair_names(plain);
  return {existing(names.head), existing(names.data)};
}

std::string_view magic_of(std::span<const std::byte> head) {
  return {reinterpret_cast<const char*>(head.data()) + at_magic, 4};
}
bool is_big(std::span<const std::byte> head) {
  return number_at<std::int32_t>(head, 0, true) == pair_head_bytes;
}

/// Makes a NIfTI-1 header from an ANALYZE 7.5 header: copies dim, datatype, bitpix and pixdim[1] to
/// pixdim[7], which have the same offsets in both formats.
std::vector<std::byte> analyze_as_nifti(std::span<const std::byte> head, bool big) {
  std::vector<std::byte> nifti = make_nifti_head(
      {}, {.type = StoredType::u8, .swapped = big != (std::endian::native == std::endian::big)});
  constexpr std::pair<std::size_t, std::size_t> fields[] = {{40, 16}, {70, 4}, {80, 28}};
  for (const auto& [at, count] : fields)
    std::ranges::copy(head.subspan(at, count), std::span(nifti).subspan(at).begin());
  return nifti;
}

/// Converts the header of a NIfTI-1 pair, including its extensions, to the header of a single file.
std::vector<std::byte> pair_as_nifti(std::span<const std::byte> head, bool big) {
  std::vector<std::byte> nifti(head.begin(), head.end());
  // The size of each extension is a multiple of 16 bytes, so the offset of the samples must be a
  // multiple of 16.
  nifti.resize(std::max((nifti.size() + 15) / 16 * 16, pair_head_bytes + extender_bytes));
  if (head.size() <= pair_head_bytes + extender_bytes)
    nifti.resize(pair_head_bytes + extender_bytes);
  nifti[at_magic + 1] = std::byte{'+'};
  put_number(nifti, at_offset, big, static_cast<float>(nifti.size()));
  return nifti;
}

}  // namespace

bool is_nifti_pair(const std::string& path) {
  const PairNames names = existing_pair(path);
  if (names.head.empty()) return false;
  const auto head = first_bytes(names.head, pair_head_bytes);
  if (head.size() < pair_head_bytes) return false;
  const bool has_size = is_big(head) || number_at<std::int32_t>(head, 0, false) == pair_head_bytes;
  return has_size && magic_of(head) != std::string_view("n+1\0", 4);
}

ForeignVolume read_nifti_pair(const std::string& path) {
  const PairNames names = existing_pair(path);
  if (names.data.empty())
    throw NoInput("'" + path +
                  "' has no .img file with its samples (a pair consists of .hdr and "
                  ".img with the same name)");
  std::vector<std::byte> head = first_bytes(names.head, max_pair_head);
  const bool big = is_big(head);
  const bool is_nifti = magic_of(head).starts_with("ni1");
  const double offset = static_cast<double>(number_at<float>(head, at_offset, big));
  if (!(offset >= 0) || offset > 1e15 || offset != std::floor(offset))
    throw BadData("'" + names.head + "' states that its samples begin at byte " +
                  std::to_string(offset) + " (must be from 0)");
  ForeignVolume volume{.format = is_nifti ? "nifti1 pair" : "analyze",
                       .data_path = names.data,
                       .skip = static_cast<std::uint64_t>(offset)};
  volume.head = is_nifti ? pair_as_nifti(head, big) : analyze_as_nifti(head, big);
  volume.geometry = geometry_of_nifti(volume.head, parse_nifti(volume.head, names.head));
  const std::span<const std::byte> history = std::span(head).subspan(148, 200);
  if (!is_nifti && std::ranges::any_of(history, [](std::byte b) { return b != std::byte{0}; }))
    volume.other_contents = {"the history of the ANALYZE header (descrip, orient and others)"};
  volume.original = std::move(head);
  return volume;
}

std::vector<std::byte> pair_head_of(std::span<const std::byte> original, bool is_analyze,
                                    const NiftiHeader& header, const StoredFormat& samples,
                                    bool scaled) {
  std::vector<std::byte> head(original.begin(), original.end());
  const std::vector<std::byte> analyze_scale(head.begin() + 112, head.begin() + 120);
  change_samples(head, header, samples, scaled);
  // ANALYZE has no scale. Other programs may use the bytes in which NIfTI stores the scale, so the
  // function copies these bytes from the input.
  if (is_analyze) std::ranges::copy(analyze_scale, head.begin() + 112);
  put_number(std::span(head), at_offset, is_big(head), 0.0f);
  return head;
}

std::vector<std::byte> pair_head_of_nifti(std::span<const std::byte> head,
                                          const NiftiHeader& header) {
  if (header.version != 1) throw InternalError("pairs have NIfTI-1 headers");
  std::vector<std::byte> pair(head.begin(), head.end());
  pair[at_magic + 1] = std::byte{'i'};
  put_number(std::span(pair), at_offset, is_big(pair), 0.0f);
  return pair;
}

}  // namespace lull::io
