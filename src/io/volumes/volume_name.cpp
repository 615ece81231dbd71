#include "io/volumes/volume_name.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace lull::io {
namespace {

bool ends_in(std::string_view path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  return std::ranges::equal(path.substr(path.size() - ending.size()), ending, {},
                            [](unsigned char c) { return std::tolower(c); });
}

struct NameEnding {
  std::string_view text;
  VolumeFormat format;
};
constexpr NameEnding name_endings[] = {
    {".nii", VolumeFormat::nifti},   {".nii.gz", VolumeFormat::nifti},
    {".nrrd", VolumeFormat::nrrd},   {".nhdr", VolumeFormat::nrrd_header},
    {".mgh", VolumeFormat::mgh},     {".mgz", VolumeFormat::mgz},
    {".mgh.gz", VolumeFormat::mgz},  {".hdr", VolumeFormat::pair},
    {".img", VolumeFormat::pair},    {".hdr.gz", VolumeFormat::pair},
    {".img.gz", VolumeFormat::pair},
};

const NameEnding* ending_of(std::string_view path) {
  const auto* found = std::ranges::find_if(
      name_endings, [&](const NameEnding& ending) { return ends_in(path, ending.text); });
  return found == std::end(name_endings) ? nullptr : found;
}

}  // namespace

VolumeFormat volume_format(std::string_view path) {
  const NameEnding* ending = ending_of(path);
  return ending ? ending->format : VolumeFormat::none;
}

const char* describe(VolumeFormat format) {
  switch (format) {
    case VolumeFormat::nifti:
      return "NIfTI";
    case VolumeFormat::nrrd:
    case VolumeFormat::nrrd_header:
      return "NRRD";
    case VolumeFormat::mgh:
    case VolumeFormat::mgz:
      return "MGH";
    case VolumeFormat::pair:
      return "pair";
    case VolumeFormat::none:
      break;
  }
  return "none";
}

const char* container_of(VolumeFormat format) {
  switch (format) {
    case VolumeFormat::nifti:
      return "nifti";
    case VolumeFormat::nrrd:
    case VolumeFormat::nrrd_header:
      return "nrrd";
    case VolumeFormat::mgh:
    case VolumeFormat::mgz:
      return "mgh";
    case VolumeFormat::pair:
      return "pair";
    case VolumeFormat::none:
      break;
  }
  return "none";
}

bool is_nifti_name(std::string_view path) { return volume_format(path) == VolumeFormat::nifti; }
bool is_gzip_name(std::string_view path) { return ends_in(path, ".gz"); }

std::string volume_stem(const std::string& path) {
  const NameEnding* ending = ending_of(path);
  return path.substr(0, path.size() - (ending ? ending->text.size() : 0));
}

PairNames pair_names(const std::string& path) {
  const std::string packed = is_gzip_name(path) ? path.substr(path.size() - 3) : "";
  const std::string plain = path.substr(0, path.size() - packed.size());
  const bool upper = plain.ends_with(".IMG") || plain.ends_with(".HDR");
  const std::string stem = volume_stem(path);
  return {stem + (upper ? ".HDR" : ".hdr") + packed, stem + (upper ? ".IMG" : ".img") + packed};
}

std::string separate_samples(const std::string& path, bool is_gzip) {
  const VolumeFormat format = volume_format(path);
  if (format == VolumeFormat::pair) return pair_names(path).data;
  if (format == VolumeFormat::nrrd_header)
    return volume_stem(path) + (is_gzip ? ".raw.gz" : ".raw");
  return {};
}

std::vector<std::string> files_of_volume(const std::string& path) {
  switch (volume_format(path)) {
    case VolumeFormat::pair:
      return {pair_names(path).head, pair_names(path).data};
    case VolumeFormat::nrrd_header:
      return {path, separate_samples(path, false), separate_samples(path, true)};
    default:
      return {path};
  }
}

}  // namespace lull::io
