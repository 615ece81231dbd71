#pragma once
// Memory and CUDA streams that other libraries or programs own.
// @throws DeviceUnavailable (also in builds without CUDA), DeviceFailure

#include <cstddef>
#include <memory>

namespace lull::cuda {

/// Makes later work on the default streams (legacy and per-thread) of GPU `device` wait for the
/// work queued on `stream`, a cudaStream_t. If `stream` is null (the legacy default stream), the
/// function only checks that the GPU exists.
void wait_for_stream(void* stream, int device);

/// Maps a dma-buf of `bytes` bytes into the address space of a GPU. The caller may then close the
/// descriptor. Returns null if the driver cannot import the memory. Only drivers for Thor and newer
/// Tegra devices can import a dma-buf (CUDA 13, cuImportExternalMemory).
[[nodiscard]] std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes,
                                                        int device);

}  // namespace lull::cuda
