#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "io/raw/raw_picture.h"

namespace lull::io {

bool is_raw_name(const std::string& path) {
  constexpr std::array<std::string_view, 25> extensions = {
      ".dng", ".cr2", ".cr3", ".crw", ".nef", ".nrw", ".arw", ".sr2", ".srf",
      ".raf", ".rw2", ".orf", ".pef", ".srw", ".3fr", ".fff", ".iiq", ".mef",
      ".mos", ".mrw", ".erf", ".kdc", ".dcr", ".rwl", ".gpr"};
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(extensions, extension) != extensions.end();
}

}  // namespace lull::io
