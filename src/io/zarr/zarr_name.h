#pragma once
// Recognises Zarr stores, also in builds without support for Zarr.

#include <string>

namespace lull::io {

/// Returns whether `path` is a folder that contains Zarr metadata.
[[nodiscard]] bool is_zarr(const std::string& path);
/// Returns whether a name ends in `.zarr`, with or without a final slash.
[[nodiscard]] bool is_zarr_name(const std::string& path);

}  // namespace lull::io
