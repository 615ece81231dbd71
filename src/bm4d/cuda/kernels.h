#pragma once
// The kernels of BM4D on a GPU. Everything is asynchronous on `stream`; nothing here allocates or
// waits. The head of each .cu file says how it works.
//
// Slices lie in rings of device memory: slice z is in place z % depth. Rows are Space::pitch
// samples apart.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d::cuda {

struct Space {
  int width = 0, height = 0;  // voxels of a slice
  int pitch = 0;              // a multiple of 32, at least width
  constexpr std::size_t slice() const { return static_cast<std::size_t>(pitch) * height; }
};

template <class T>
struct Ring {
  T* data = nullptr;
  std::size_t slice = 0;  // samples from one to the next
  int depth = 1;
  constexpr T* at(int z) const { return data + static_cast<std::size_t>(z % depth) * slice; }
};

/// The reference cubes of some layers.
struct ReferenceCubes {
  PhaseParams params;
  int z = 0, layers = 1;      // the first layer; others follow a step apart
  SliceSpan there;            // the slices that exist
  int columns = 0, rows = 0;  // of a layer
  constexpr int count() const { return columns * rows * layers; }
};

// ---- slices.cu: guides, the end of a phase ---------------------------------------------------

/// The guide in bytes: (sample - low) * scale, rounded and limited to 0..255.
struct ByteScale {
  float low = 0, scale = 1;
};
/// All values that noise of this deviation makes of 0..255, nearly, as finely as bytes can.
constexpr ByteScale byte_scale(float sigma) {
  const float beyond = 3 * (sigma < 40 ? sigma : 40.0f);
  return {-beyond, 255 / (255 + 2 * beyond)};
}
void make_guide(const float* samples, const Space& space, const ByteScale& scale,
                std::uint8_t* guide, cudaStream_t stream);

/// Sums in fixed point, which are equal in whatever order they are made. With 64 bits there is room
/// for more estimates than a volume has cubes.
using Sum = unsigned long long;                   // of signed numbers: modulo 2^64
inline constexpr float estimate_unit = 1 << 24;   // of value 1 times weight 1
inline constexpr float weight_unit = 4294967296;  // of weight 1
inline constexpr float estimate_centre = 128;     // estimates are added as differences from it

/// Slice `z` of the estimate, `noisy` where no cube was filtered. Of `weights`, at the first voxels
/// of cubes, slices from `first` on exist.
void finish_slice(const Ring<Sum>& numerator, const Ring<Sum>& weights, int z, int first,
                  const Ring<float>& noisy, const Space& space, int cube,
                  const std::array<float, max_cube>& window, float* estimate, cudaStream_t stream);

// ---- match.cu ----------------------------------------------------------------------------------

/// The members of each reference cube's group, params.group each (cubes.h); the number of members
/// in bits 24 to 31 of the first.
void find_groups(const Ring<std::uint8_t>& guide, const Space& space, const ReferenceCubes& cubes,
                 std::uint32_t* groups, cudaStream_t stream);

// ---- filter.cu ---------------------------------------------------------------------------------

struct FilterPlan {
  bool wiener = false;
  int cube = 4;
  float limit = 0, limit_mean = 0;  // threshold, or mu2 sigma^2; the same for the group's mean
  std::array<float, max_cube> window{};
  std::array<std::array<float, max_cube>, max_cube> rows{};  // of the transform
};
/// Filters the groups and adds their estimates and weights. `basic`: of the second phase.
void filter_groups(const FilterPlan& plan, const Ring<float>& noisy, const Ring<float>& basic,
                   const Space& space, const ReferenceCubes& cubes, const std::uint32_t* groups,
                   const Ring<Sum>& numerator, const Ring<Sum>& weights, cudaStream_t stream);

}  // namespace lull::bm4d::cuda
