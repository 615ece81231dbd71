#include "io/zarr/zarr_name.h"

#include <algorithm>
#include <filesystem>

namespace lull::io {

namespace fs = std::filesystem;

bool is_zarr(const std::string& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return false;
  constexpr const char* names[] = {".zgroup", ".zarray", ".zattrs", "zarr.json"};
  return std::ranges::any_of(names, [&](const char* name) {
    std::error_code ignored;
    return fs::exists(fs::path(path) / name, ignored);
  });
}

bool is_zarr_name(const std::string& path) {
  return fs::path(path.substr(0, path.find_last_not_of('/') + 1)).extension() == ".zarr";
}

}  // namespace lull::io
