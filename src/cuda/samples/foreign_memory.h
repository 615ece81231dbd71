#pragma once
// Memory and streams of other programs. Builds without CUDA provide these functions, which then
// throw.
// @throws DeviceUnavailable, DeviceFailure

#include <cstddef>
#include <memory>

namespace lull::cuda {

/// Makes work that is queued later, on the legacy default stream or by functions of this folder,
/// wait for the work that is on `stream` (a cudaStream_t of GPU `device`) now. Null: the legacy
/// default stream, for which all such work waits anyway.
void wait_for_stream(void* stream, int device);

/// Maps the memory behind the descriptor of a dma-buf, of `bytes` bytes, into the address space of
/// a GPU. The descriptor may be closed afterwards. Returns null if the driver cannot import the
/// memory. Drivers can do so on Tegra from Thor on (CUDA 13, cuImportExternalMemory), but not on
/// other machines.
[[nodiscard]] std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes,
                                                        int device);

}  // namespace lull::cuda
