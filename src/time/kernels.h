#pragma once
// Relation and motion between frames, computed on a GPU. The functions queue their work on
// `stream`, and neither allocate memory nor wait. frame_statistics.cu and motion.cu describe the
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

/// Numbers of blocks from which FrameDifference is computed; the arrays have one element for each
/// plane. `unequal` counts the blocks with at least one sample that differs in any bit.
struct DifferenceCounts {
  std::uint32_t unequal[max_planes], different[max_planes], textured, shared;
};
/// Sums that a kernel computes, from which the host computes PredictionCost.
struct PredictionCounts {
  unsigned long long predicted, own;
};
/// Compares two frames. The function overwrites `counts`, which is in device memory.
void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream);
/// The main plane in 8 bits (`fine`), and the coarse plane for prediction (frame_relation.h).
/// make_bytes() does not compute a plane whose pointer is null.
struct MainBytes {
  std::uint8_t *fine = nullptr, *coarse = nullptr;
};
void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream);
/// Computes the prediction cost for two coarse planes that contain at least one block. The function
/// overwrites `counts`, which is in device memory.
void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream);

// ---- motion (motion.cu) ----

/// Finds a motion vector for each motion block of the main plane, from a frame to each of `others`.
/// The main plane has `width` x `height` samples, and the coarse plane must contain at least one
/// block.
void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream);

}  // namespace lull
