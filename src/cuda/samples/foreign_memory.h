#pragma once
// Memory and streams of other programs. Builds without CUDA also provide these functions, which
// then throw DeviceUnavailable.
// @throws DeviceUnavailable, DeviceFailure

#include <cstddef>
#include <memory>

namespace lull::cuda {

/// Makes later work on the legacy default stream, and later work of the functions of this folder,
/// wait for the work that is now on `stream`, a cudaStream_t of GPU `device`. If `stream` is null,
/// the function does nothing, because such work always waits for the legacy default stream.
void wait_for_stream(void* stream, int device);

/// Maps the memory of a dma-buf, which has `bytes` bytes, into the address space of a GPU. A
/// program may close the descriptor after the call. Returns null if the driver cannot import the
/// memory: only drivers for Thor and newer Tegra devices can (CUDA 13, cuImportExternalMemory).
[[nodiscard]] std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes,
                                                        int device);

}  // namespace lull::cuda
