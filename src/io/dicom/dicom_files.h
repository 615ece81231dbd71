#pragma once
// Finds DICOM files by their signature.

#include <string>
#include <vector>

namespace lull::io {

/// Returns whether a file has the preamble of PS3.10, which ends in DICM.
[[nodiscard]] bool is_dicom_file(const std::string& path);

/// Returns the DICOM files in a folder, without its subfolders, in any order.
/// @param only_first  return at most one file
[[nodiscard]] std::vector<std::string> dicom_files_in(const std::string& folder, bool only_first);

}  // namespace lull::io
