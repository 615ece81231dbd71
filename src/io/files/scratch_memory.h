#pragma once
// Memory for large arrays: main memory, or a temporary file that is mapped into memory.

#include <cstddef>
#include <memory>
#include <string>

namespace lull::io {

/// Returns memory that is filled with zeros. The memory is freed with the last reference.
/// @throws OutOfMemory
[[nodiscard]] std::shared_ptr<std::byte[]> main_memory(std::size_t bytes);

/// Returns memory that is a mapped temporary file without a name. If main memory is scarce, the
/// system moves pages of this memory to the file. The space of the file is reserved at once, and
/// the file disappears with the last reference to the memory, or with the process.
/// @param folder  empty: the system's folder for temporary files
/// @throws IoError
[[nodiscard]] std::shared_ptr<std::byte[]> scratch_memory(std::size_t bytes, std::string folder);

}  // namespace lull::io
