#pragma once
// Names of volume files. The file extension states the format.

#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

enum class VolumeFormat { none, nifti, nrrd, nrrd_header, mgh, mgz, pair };

/// Returns the volume format of a file extension, ignoring case. Files with the extension `.hdr` or
/// `.img` may also be pictures or disk images.
[[nodiscard]] VolumeFormat volume_format(std::string_view path);

/// Returns the name of a format for messages, such as "NRRD".
[[nodiscard]] const char* describe(VolumeFormat format);

/// Returns the name of a format in reports: "nifti", "nrrd", "mgh", "pair" or "none".
[[nodiscard]] const char* container_of(VolumeFormat format);

/// Returns whether a name ends in .nii or .nii.gz, ignoring case.
[[nodiscard]] bool is_nifti_name(std::string_view path);
/// Returns whether a name ends in .gz, ignoring case.
[[nodiscard]] bool is_gzip_name(std::string_view path);

/// Returns a path without the extension of the volume format, and without `.gz`.
[[nodiscard]] std::string volume_stem(const std::string& path);

/// Names of the files of a pair (.hdr and .img). If the extension of `path` is in upper case, both
/// extensions are in upper case.
struct PairNames {
  std::string head, data;
};
/// Returns the names of both files of the pair that contains `path`, with `.gz` if `path` ends in
/// `.gz`.
[[nodiscard]] PairNames pair_names(const std::string& path);

/// Returns the name of the separate file for the samples of the output `path`. Returns an empty
/// string if the header and the samples are in one file.
/// @param is_gzip  whether the samples of a .nhdr file are compressed
[[nodiscard]] std::string separate_samples(const std::string& path, bool is_gzip);

/// Returns the names of all files that the output `path` may create.
[[nodiscard]] std::vector<std::string> files_of_volume(const std::string& path);

}  // namespace lull::io
