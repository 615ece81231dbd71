#pragma once
// The resources of GPUs by compute capability, from the tables of the CUDA programming guide, so
// that plans can be tested for GPUs that are not in this machine. The number of multiprocessors is
// that of one card of the kind.

#include "cuda/device_limits.h"

namespace lull::test_support {

struct KnownGpu {
  int capability;
  cuda::DeviceLimits limits;
};

inline constexpr std::size_t kib = 1024;
inline constexpr KnownGpu known_gpus[] = {
    {75, {40, 32, 64 * kib, 64 * kib, 0}},            // T4
    {80, {108, 64, 164 * kib, 163 * kib, 1 * kib}},   // A100
    {86, {28, 48, 100 * kib, 99 * kib, 1 * kib}},     // RTX 3060
    {87, {16, 48, 164 * kib, 163 * kib, 1 * kib}},    // Orin
    {89, {128, 48, 100 * kib, 99 * kib, 1 * kib}},    // RTX 4090
    {90, {132, 64, 228 * kib, 227 * kib, 1 * kib}},   // H100
    {100, {148, 64, 228 * kib, 227 * kib, 1 * kib}},  // B200
    {120, {170, 48, 100 * kib, 99 * kib, 1 * kib}},   // RTX 5090
};
constexpr const cuda::DeviceLimits& gpu(int capability) {
  for (const KnownGpu& known : known_gpus)
    if (known.capability == capability) return known.limits;
  throw "no such GPU in the table";
}

}  // namespace lull::test_support
