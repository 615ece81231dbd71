#pragma once
// Memory and streams of other programs. In builds without CUDA, the functions throw
// DeviceUnavailable.
// @throws DeviceUnavailable, DeviceFailure

#include <cstddef>
#include <memory>

namespace lull::cuda {

/// Makes later work on the default streams of GPU `device` wait for the work that is already on
/// `stream`, a cudaStream_t. The default streams are the legacy default stream and the per-thread
/// default stream. If `stream` is null, it is the legacy default stream, and the function does
/// nothing.
void wait_for_stream(void* stream, int device);

/// Maps the memory of a dma-buf, which has `bytes` bytes, into the address space of a GPU. The
/// caller may close the descriptor after the call. Returns null if the driver cannot import the
/// memory. Only drivers for Thor and newer Tegra devices can import a dma-buf (CUDA 13,
/// cuImportExternalMemory).
[[nodiscard]] std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes,
                                                        int device);

}  // namespace lull::cuda
