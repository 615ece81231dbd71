#include "io/stacks/stack.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/describe.h"
#include "core/error.h"
#include "io/dicom/dicom.h"
#include "io/dicom/dicom_output.h"
#include "io/files/file_bytes.h"
#include "io/pictures/sequence.h"
#include "io/stacks/tiff_slice.h"
#include "io/tiff/tiff_file.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/nifti_header.h"
#include "io/volumes/volume_name.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {
namespace {

bool holds_nifti(const std::string& path) {
  try {
    std::array<std::byte, nifti_head_bytes> head;
    const std::size_t count = GzipReader(path).read_some(head);
    return looks_like_nifti(std::span(head).first(count));
  } catch (const Error&) {
    return false;  // the file is not gzip, or is truncated before the header
  }
}

}  // namespace

/// Returns whether the name alone proves that a file is a volume. The names .hdr and .img are no
/// proof, because other formats use these names too.
bool is_volume_name(const std::string& path) {
  const VolumeFormat format = volume_format(path);
  return format != VolumeFormat::none && format != VolumeFormat::pair;
}

StackKind stack_kind(const std::string& path, const SourceOptions& options) {
  std::error_code code;
  if (path == "-" || options.raw || !options.format.empty()) return StackKind::none;
  if (is_zarr(path) || (is_zarr_name(path) && std::filesystem::is_directory(path, code)))
    return StackKind::zarr;
  if (is_dicom(path)) return StackKind::nifti;
  if (!std::filesystem::is_regular_file(path, code)) return StackKind::none;
  if (is_volume_name(path) || is_foreign_volume(path)) return StackKind::nifti;
  std::array<unsigned char, 4> first{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(first.data()), first.size());
  const bool is_gzip = first[0] == 0x1f && first[1] == 0x8b;
  // A NIfTI header begins with its own size, 348 or 540, in either byte order.
  const std::uint64_t big = big_endian(first.data(), 4);
  std::ranges::reverse(first);
  const std::uint64_t little = big_endian(first.data(), 4);
  const bool head = big == 348 || big == 540 || little == 348 || little == 540;
  if ((is_gzip || head) && holds_nifti(path)) return StackKind::nifti;
  if (is_tiff_stack(path)) return StackKind::tiff;
  const bool has_picture_options =
      !options.selection.all() || options.video || (options.white != 0 && options.white != 1);
  const bool may_be_slice = options.narrow_page_is_slice && !has_picture_options;
  return may_be_slice && is_narrow_page(path) ? StackKind::tiff : StackKind::none;
}

const std::string& StackSource::why_not_gpu() const noexcept {
  static const std::string why = "stacks are not compressed video";
  return why;
}

void refuse_encoder_options(const SinkOptions& options, const std::string& path) {
  const char* option = !options.format.empty()          ? "--output-format"
                       : !options.vcodec.empty()        ? "--vcodec"
                       : options.crf.has_value()        ? "--crf"
                       : !options.vopts.empty()         ? "--vopts"
                       : !options.pix_fmt.empty()       ? "--pix-fmt"
                       : options.bits != 0              ? "--bits"
                       : options.dither != Dither::none ? "--dither"
                                                        : nullptr;
  if (option)
    throw InvalidArgument(std::string(option) + " for '" + path +
                          "' (a stack of slices has no encoder); leave it out");
}

std::uint64_t max_samples(const Limits& limits) {
  constexpr std::int64_t maximum = std::numeric_limits<int>::max();
  return static_cast<std::uint64_t>(std::min(limits.pixels, maximum));
}

void check_slices(const std::string& path, std::int64_t slices, const Limits& limits) {
  if (limits.frames > 0 && slices > limits.frames)
    throw BadData("'" + path + "' has " + std::to_string(slices) + " slices (more than " +
                  std::to_string(limits.frames) + "); allow it with --max-frames");
}

void check_memory(const std::string& path, std::int64_t bytes, std::int64_t maximum,
                  const std::string& advice) {
  if (maximum <= 0 || bytes <= maximum) return;
  const std::int64_t mebibytes = (bytes >> 20) + 1;
  throw OutOfMemory("'" + path + "' needs " + describe_bytes(bytes) +
                    " of memory for its slices (more than " + describe_bytes(maximum) + "); " +
                    advice + "allow it with --max-memory " + std::to_string(mebibytes) + "M");
}

void check_stack_output(const std::string& path, const VideoInfo& stack) {
  if (stack.volume) {
    if (volume_format(path) != VolumeFormat::none) return;
    if (stack.codec == "dicom" && is_dicom_output(path)) return;
    throw InvalidArgument("'" + path +
                          "' cannot be made of a volume (a volume remains a volume: NIfTI, NRRD or "
                          "MGH); name it .nii, "
                          ".nii.gz, .nrrd, .nhdr, .mgh, .mgz or .hdr");
  }
  if (is_zarr_name(path)) return;
  if (!is_tiff_name(path))
    throw InvalidArgument("'" + path +
                          "' cannot be made of a stack of planes (it can become TIFF or OME-Zarr); "
                          "name it .tif, .tiff or .zarr");
  if (!stack.still && (is_glob(path) || number_pattern(path)))
    throw InvalidArgument("'" + path +
                          "' is a pattern of names (a TIFF stack stays one file); give one name");
}

bool may_hold_stack(const std::string& path) {
  if (path == "null" || path == "hash" || is_zarr_name(path)) return true;
  return is_tiff_name(path) && !is_glob(path) && !number_pattern(path);
}

void refuse_stack(const std::string& path, const SinkOptions& options) {
  if (is_volume_name(path))
    throw InvalidArgument("'" + path +
                          "' can only be made of a volume (the header comes from the input); "
                          "choose a video's or a picture's name");
  if (is_zarr_name(path))
    throw InvalidArgument("'" + path +
                          "' can only be made of a stack (a TIFF file of several pages or "
                          "OME-Zarr); choose a video's or a picture's name");
  refuse_datatype(path, options);
}

void refuse_datatype(const std::string& path, const SinkOptions& options) {
  if (options.datatype != DataType::same)
    throw InvalidArgument("a data type for '" + path +
                          "' (only volumes have one to choose); leave --datatype out");
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path.substr(0, path.find_last_not_of('/') + 1)).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace lull::io
