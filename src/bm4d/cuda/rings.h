#pragma once
// Ring buffers of slices in device memory: slice z has the index z % depth.

#include <algorithm>
#include <cstddef>

#include "core/slices.h"
#include "cuda/handles.h"

namespace lull::bm4d::cuda {

/// Address and size of a ring buffer, as kernel arguments.
template <class T>
struct Ring {
  T* data = nullptr;
  std::size_t slice = 0;  // number of samples of a slice
  int depth = 1;
  constexpr T* at(int z) const { return data + static_cast<std::size_t>(z % depth) * slice; }
};

/// Owns the memory of a ring buffer.
template <class T>
class Slices {
 public:
  Slices() = default;
  /// Sets all bytes to `fill`. Kernels read the padding, but no result depends on the padding.
  Slices(int depth, std::size_t slice, cudaStream_t stream, int fill = 0)
      : memory_(depth * slice), ring_{memory_.get(), slice, depth} {
    if (memory_) lull::cuda::check(cudaMemsetAsync(memory_.get(), fill, memory_.bytes(), stream));
  }
  const Ring<T>& ring() const { return ring_; }
  T* at(int z) const { return ring_.at(z); }
  void clear(SliceSpan slices, cudaStream_t stream) {
    // If a range of slices wraps around the end of the ring buffer, the function clears the range
    // in two parts.
    for (int z = slices.first; z < slices.end;) {
      const int run = std::min(slices.end - z, ring_.depth - z % ring_.depth);
      lull::cuda::check(cudaMemsetAsync(at(z), 0, run * ring_.slice * sizeof(T), stream));
      z += run;
    }
  }

 private:
  lull::cuda::DeviceBuffer<T> memory_;
  Ring<T> ring_;
};

}  // namespace lull::bm4d::cuda
