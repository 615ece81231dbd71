#pragma once
// Memory for large arrays: main memory, or a temporary file that the system maps into memory.

#include <cstddef>
#include <memory>
#include <string>

namespace lull::io {

/// Returns memory that is filled with zeros. The last reference frees the memory.
/// @throws OutOfMemory
[[nodiscard]] std::shared_ptr<std::byte[]> main_memory(std::size_t bytes);

/// Returns memory that maps a temporary file without a name. If main memory is scarce, the system
/// moves pages to the file. The system removes the file when the last reference to the memory is
/// destroyed, or when the process ends.
/// @param folder  folder of the file; empty: the system's folder for temporary files
/// @throws IoError
[[nodiscard]] std::shared_ptr<std::byte[]> scratch_memory(std::size_t bytes, std::string folder);

}  // namespace lull::io
