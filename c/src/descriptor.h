#pragma once
// Memory behind a file descriptor: dma-bufs of capture devices and decoders, and memfds.

#include <cstddef>
#include <memory>

namespace lull::c {

/// Returns the size of the memory behind a descriptor in bytes.
/// @throws InvalidArgument  the descriptor is not open, or is no memory
[[nodiscard]] std::size_t size_of_descriptor(int descriptor);

enum class MapUse { read, write };

/// Maps the memory into the address space of the process. The mapping begins and ends the access of
/// the CPU with DMA_BUF_IOCTL_SYNC, which dma-bufs require.
/// @throws StatusError  LULL_UNSUPPORTED: the memory cannot be mapped, for example that of a GPU
[[nodiscard]] std::shared_ptr<std::byte> map_descriptor(int descriptor, std::size_t bytes,
                                                        MapUse use);

}  // namespace lull::c
