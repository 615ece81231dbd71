#pragma once
// Relation and motion between frames, computed on a GPU. All functions are asynchronous on
// `stream`; they neither allocate nor wait. frame_statistics.cu and motion.cu describe the
// algorithms.

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

/// Counts for FrameDifference. `unequal`: blocks with samples that differ in any bit.
struct DifferenceCounts {
  std::uint32_t unequal[max_planes], different[max_planes], textured, shared;
};
/// Sums of a kernel, from which PredictionCost is made.
struct PredictionCounts {
  unsigned long long predicted, own;
};
/// Compares two frames. `counts` is in device memory and is replaced.
void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream);
/// The main plane in 8 bits, and its coarse version for prediction; null: not needed.
struct MainBytes {
  std::uint8_t *fine = nullptr, *coarse = nullptr;
};
void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream);
/// Computes the prediction cost of two coarse planes of at least one block. `counts` is in device
/// memory and is replaced.
void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream);

// ---- motion (motion.cu) ----

/// Finds a vector for each cell of the main plane, from a frame to each of `others`. The main plane
/// has `width` x `height` samples, and its coarse plane at least one block.
void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream);

}  // namespace lull
