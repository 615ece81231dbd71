#pragma once
// Memory and streams of other programs. Builds without CUDA also provide these functions, but there
// they throw DeviceUnavailable.
// @throws DeviceUnavailable, DeviceFailure

#include <cstddef>
#include <memory>

namespace lull::cuda {

/// Makes work that is queued after this call wait for the work that is on `stream` at the time of
/// the call. `stream` is a cudaStream_t of GPU `device`. The function affects work on the legacy
/// default stream and work of the functions of this folder. If `stream` is null, the function does
/// nothing, because such work always waits for the legacy default stream.
void wait_for_stream(void* stream, int device);

/// Maps the memory of a dma-buf, which has `bytes` bytes, into the address space of a GPU. A
/// program may close the descriptor after the call. Returns null if the driver cannot import the
/// memory. On Tegra, drivers for Thor and newer devices can import the memory (CUDA 13,
/// cuImportExternalMemory). On other machines, drivers cannot.
[[nodiscard]] std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes,
                                                        int device);

}  // namespace lull::cuda
