#pragma once
// The pictures from which kernels compute guides. The member function quad(margins, x, y) of each
// class returns four consecutive samples of row y. x is the position of the first sample, a
// multiple of 4.

#include <cuda_runtime_api.h>

#include "match/cuda/kernels.h"

namespace lull {

/// A guide whose samples are the unchanged samples of one plane.
struct PurePlane {
  const float* plane;
  __device__ float4 quad(const Margins& margins, int x, int y) const {
    return *reinterpret_cast<const float4*>(plane + margins.at(x, y));
  }
};

/// A guide of one plane: the weighted mean of the estimate and the noisy samples of this plane.
struct SharedPlane {
  MixedPlane plane;
  __device__ float4 quad(const Margins& margins, int x, int y) const {
    return plane.quad(margins.at(x, y));
  }
};

/// A guide of several colour planes: downsampled luma, chroma, or both. MixedPlane::noisy of each
/// plane must not be null.
template <bool has_luma, bool has_chroma, bool is_420>
struct MixedColours {
  ColourGuide mix;

  __device__ float4 quad(const Margins& margins, int x, int y) const {
    float4 v = make_float4(0, 0, 0, 0), first, second;
    if constexpr (has_chroma) {
      first = mix.chroma[0].quad(margins.at(x, y));
      second = mix.chroma[1].quad(margins.at(x, y));
    }
    if constexpr (has_luma) v = lies_within(x, y) ? mean_luma_within(x, y) : mean_luma(x, y);
    if constexpr (has_chroma) {
      add(v, mix.weight[0], first);
      add(v, mix.weight[1], second);
    }
    return v;
  }

 private:
  static __device__ void add(float4& sum, float weight, const float4& v) {
    sum.x += weight * v.x, sum.y += weight * v.y, sum.z += weight * v.z, sum.w += weight * v.w;
  }

  __device__ int shift_x() const { return is_420 ? 1 : mix.shift_x; }
  __device__ int shift_y() const { return is_420 ? 1 : mix.shift_y; }
  /// Returns whether the picture contains all luma samples at the positions of four adjacent chroma
  /// samples. (x, y) is the position of the first chroma sample. Returns false if a chroma sample
  /// covers more than two luma columns.
  __device__ bool lies_within(int x, int y) const {
    return shift_x() <= 1 && (x + 4) << shift_x() <= mix.luma_margins.width &&
           (y + 1) << shift_y() <= mix.luma_margins.height;
  }
  __device__ float4 mean_luma_within(int x, int y) const {
    const int rows = 1 << shift_y(), top = y << shift_y(), left = x << shift_x();
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const float4 a = mix.luma.quad(mix.luma_margins.at(left, top + i));
      if (shift_x() == 0) {
        sum.x += a.x, sum.y += a.y, sum.z += a.z, sum.w += a.w;
        continue;
      }
      const float4 b = mix.luma.quad(mix.luma_margins.at(left + 4, top + i));
      sum.x += a.x, sum.y += a.z, sum.z += b.x, sum.w += b.z;
      sum.x += a.y, sum.y += a.w, sum.z += b.y, sum.w += b.w;
    }
    const float share = 1.0f / static_cast<float>(rows << shift_x());
    return make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
  }
  __device__ float4 mean_luma(int x, int y) const {
    return make_float4(mean_luma_at(x, y), mean_luma_at(x + 1, y), mean_luma_at(x + 2, y),
                       mean_luma_at(x + 3, y));
  }
  /// Returns the mean of the luma samples that the chroma sample at (x, y) covers, without samples
  /// outside the picture. If all these luma samples are outside the picture, returns NaN.
  __device__ float mean_luma_at(int x, int y) const {
    const int right = min((x + 1) << shift_x(), mix.luma_margins.width);
    const int bottom = min((y + 1) << shift_y(), mix.luma_margins.height);
    float sum = 0;
    int samples = 0;
    for (int v = y << shift_y(); v < bottom; ++v)
      for (int u = x << shift_x(); u < right; ++u, ++samples)
        sum += mix.luma(mix.luma_margins.at(u, v));
    return sum / static_cast<float>(samples);
  }
};

/// Calls use(picture) with a MixedColours object for the guide `mix`.
template <class Use>
void with_picture(ColourGuide mix, Use use) {
  const bool has_chroma = mix.weight[0] != 0 || mix.weight[1] != 0;
  for (int i = 0; i < 2; ++i)
    if (mix.weight[i] == 0) mix.chroma[i] = mix.chroma[1 - i];  // any plane that can be read
  for (MixedPlane* plane : {&mix.luma, &mix.chroma[0], &mix.chroma[1]})
    if (plane->share == 0) plane->noisy = plane->estimate;
  const bool is_420 = mix.shift_x == 1 && mix.shift_y == 1;
  if (mix.luma.estimate == nullptr)
    use(MixedColours<false, true, false>{mix});
  else if (has_chroma && is_420)
    use(MixedColours<true, true, true>{mix});
  else if (has_chroma)
    use(MixedColours<true, true, false>{mix});
  else if (is_420)
    use(MixedColours<true, false, true>{mix});
  else
    use(MixedColours<true, false, false>{mix});
}

}  // namespace lull
