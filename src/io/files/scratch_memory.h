#pragma once
// Memory for large arrays: main memory, or a memory-mapped temporary file.

#include <cstddef>
#include <memory>
#include <string>

namespace lull::io {

/// Returns zeroed memory. The last reference frees the memory.
/// @throws OutOfMemory
[[nodiscard]] std::shared_ptr<std::byte[]> main_memory(std::size_t bytes);

/// Returns memory that maps an unnamed temporary file. The system can move pages of this memory to
/// the file. The file exists until the destruction of the last reference or the end of the process.
/// @param folder  folder of the file; empty: the system's folder for temporary files
/// @throws IoError
[[nodiscard]] std::shared_ptr<std::byte[]> scratch_memory(std::size_t bytes, std::string folder);

}  // namespace lull::io
