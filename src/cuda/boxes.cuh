#pragma once
// How kernels that sum over the boxes of 8x8 samples around each place cut a plane.

#include <cuda_runtime_api.h>

namespace lull {

/// Places that a thread block works on; boxes reach `reach` samples beyond.
inline constexpr int box_width = 64, box_height = 32, reach = 7;
inline constexpr int box_threads = 256;
inline constexpr int column_rows =
    box_height * box_width / box_threads;  // of a thread, in one column

constexpr dim3 boxes_for(int width, int height) {
  return dim3((width + box_width - 1) / box_width, (height + box_height - 1) / box_height);
}

}  // namespace lull
