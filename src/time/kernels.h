#pragma once
// What frames are to each other, found on a GPU. Everything is asynchronous on `stream`; nothing
// here allocates or waits. frame_statistics.cu and motion.cu say how it works.

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "core/frame.h"
#include "cuda/device_planes.h"
#include "time/frame_relation.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

// ---- statistics (frame_statistics.cu) ----

/// FrameDifference, as it is counted. `unequal`: blocks with samples that differ in any bit.
struct DifferenceCounts {
  std::uint32_t unequal[max_planes], different[max_planes], lively, shared;
};
/// PredictionCost, as it is counted.
struct PredictionCounts {
  unsigned long long predicted, own;
};
/// `counts`: on the device, replaced.
void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream);
/// The main plane in 8 bits, and in the size in which it is predicted; null: not asked for.
struct MainBytes {
  std::uint8_t *fine = nullptr, *coarse = nullptr;
};
void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream);
/// Of two coarse planes, a block at least in size. `counts`: on the device, replaced.
void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream);

// ---- motion (motion.cu) ----

/// From a frame to each of `others`: a vector for each cell of the main plane, whose size is
/// `width` x `height` and whose coarse size is a block at least.
void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream);

}  // namespace lull
