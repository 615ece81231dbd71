#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "io/dicom/dicom.h"
#include "io/dicom/dicom_files.h"
#include "io/dicom/dicom_output.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool is_dicom_file(const std::string& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return false;
  std::array<char, 132> head{};
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && std::string_view(&head[128], 4) == "DICM";
}

std::vector<std::string> dicom_files_in(const std::string& folder, bool only_first) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (is_dicom_file(at->path().string())) {
      files.push_back(at->path().string());
      if (only_first) break;
    }
  return files;
}

bool is_dicom_output(const std::string& path) {
  return path.ends_with('/') || path.ends_with(".dcm") || path.ends_with(".DCM");
}

bool is_dicom(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return !dicom_files_in(path, true).empty();
  return is_dicom_file(path);
}

}  // namespace lull::io
