#pragma once
// Launches kernels that compare frames, and kernels that search for motion between frames. The
// functions launch the kernels on `stream`, and neither allocate memory nor synchronise.

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

/// Counts of blocks, from which the host computes FrameDifference. `unequal` and `different` count
/// blocks in each plane. Blocks are unequal if at least one bit differs.
struct DifferenceCounts {
  std::uint32_t unequal[max_planes], different[max_planes], textured, shared;
};
/// Sums from which the host computes PredictionCost.
struct PredictionCounts {
  unsigned long long predicted, own;
};
/// Compares two frames. Overwrites `counts` in device memory.
void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream);
/// The luma (or green) plane in 8 bits (`fine`), and the same plane downsampled to means of 4x4
/// samples (`coarse`). make_bytes() skips a plane whose pointer is null.
struct MainBytes {
  std::uint8_t *fine = nullptr, *coarse = nullptr;
};
void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream);
/// Computes the prediction cost for two downsampled planes of at least one block. Overwrites
/// `counts` in device memory.
void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream);

// ---- motion (motion.cu) ----

/// Finds the motion vectors of all motion blocks from a frame to each of `others`. The downsampled
/// planes must contain at least one block.
void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream);

}  // namespace lull
