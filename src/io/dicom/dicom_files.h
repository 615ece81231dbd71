#pragma once
// Finds DICOM files by their signature.

#include <string>
#include <vector>

namespace lull::io {

/// Returns whether a file begins with the preamble of PS3.10 and the letters DICM.
[[nodiscard]] bool is_dicom_file(const std::string& path);

/// Returns the DICOM files in a folder, but not in its subfolders. The order of the files is
/// undefined.
/// @param only_first  if true, the function stops after the first file
[[nodiscard]] std::vector<std::string> dicom_files_in(const std::string& folder, bool only_first);

}  // namespace lull::io
