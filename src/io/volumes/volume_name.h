#pragma once
// Names of volume files: which format an ending stands for.

#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

enum class VolumeFormat { none, nifti, nrrd, nrrd_header, mgh, mgz, pair };

/// Returns the format of volumes that the ending of a name stands for, ignoring case. `.hdr` and
/// `.img` are also names of other formats (pictures, disk images).
[[nodiscard]] VolumeFormat volume_format(std::string_view path);

/// Returns the name of a format for messages, such as "NRRD".
[[nodiscard]] const char* describe(VolumeFormat format);

/// Returns the name of a format in reports: "nifti", "nrrd", "mgh", "pair"; "none" for none.
[[nodiscard]] const char* container_of(VolumeFormat format);

/// Returns whether a name ends in .nii or .nii.gz, ignoring case.
[[nodiscard]] bool is_nifti_name(std::string_view path);
/// Returns whether a name ends in .gz, ignoring case.
[[nodiscard]] bool is_gzip_name(std::string_view path);

/// Returns a path without the ending that states the format of a volume, and without `.gz`.
[[nodiscard]] std::string volume_stem(const std::string& path);

/// Names of both files of a pair (.hdr and .img) in the case of the letters that `path` has.
struct PairNames {
  std::string head, data;
};
/// Returns the names of the pair to which `path` belongs, with `.gz` if `path` has it.
[[nodiscard]] PairNames pair_names(const std::string& path);

/// Returns the name of the file that contains the samples of an output of this name; empty: the
/// output is one file.
/// @param is_gzip  whether the samples of a .nhdr file are compressed
[[nodiscard]] std::string separate_samples(const std::string& path, bool is_gzip);

/// Returns the names of all files that an output of this name may create.
[[nodiscard]] std::vector<std::string> files_of_volume(const std::string& path);

}  // namespace lull::io
