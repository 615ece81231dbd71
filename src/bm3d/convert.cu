// Both ends of a phase: samples to float planes and back, the 8-bit guide, and the final division.
// Memory-bound kernels, one thread for each sample; a warp spans 32 samples of a row.

#include <type_traits>

#include "bm3d/colour.h"
#include "bm3d/filter.cuh"
#include "bm3d/group.h"
#include "bm3d/kernels.h"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

constexpr dim3 block{32, 8};
constexpr dim3 grid_for(int width, int height) {
  return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}
__device__ int2 own_place() {
  return {static_cast<int>(blockIdx.x * block.x + threadIdx.x),
          static_cast<int>(blockIdx.y * block.y + threadIdx.y)};
}

using Pointers = std::array<float*, max_planes>;

/// A colour transform as a kernel argument.
struct ColourMatrix {
  bool mixes = false;
  float at[3][3] = {};
  ColourMatrix(Colour colour, const float (&matrix)[3][3]) : mixes(colour == Colour::opponent) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) at[i][j] = matrix[i][j];
  }
  __device__ void apply(float (&v)[max_planes]) const {
    if (!mixes) return;
    const float a = v[0], b = v[1], c = v[2];
    for (int i = 0; i < 3; ++i) v[i] = at[i][0] * a + at[i][1] * b + at[i][2] * c;
  }
};

template <class Sample>
__device__ const Sample* row_of(const RawPlanes& raw, int plane, int y) {
  return reinterpret_cast<const Sample*>(static_cast<const std::byte*>(raw.data[plane]) +
                                         static_cast<std::size_t>(y) * raw.pitch[plane]);
}

template <class Sample>
__global__ void load_kernel(const RawPlanes raw, int first, int count, const ColourMatrix colour,
                            float scale, Margins margins, Pointers planes) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  float v[max_planes] = {};
  for (int i = 0; i < count; ++i)
    v[i] = static_cast<float>(row_of<Sample>(raw, first + i, p.y)[p.x]) * scale;
  colour.apply(v);
  for (int i = 0; i < count; ++i) planes[i][margins.at(p.x, p.y)] = v[i];
}

template <class Sample>
__global__ void store_kernel(Planes planes, int first, int count, const ColourMatrix colour,
                             float scale, float full_scale, Margins margins, const RawPlanes raw) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  float v[max_planes] = {};
  for (int i = 0; i < count; ++i) v[i] = planes[i][margins.at(p.x, p.y)];
  colour.apply(v);
  for (int i = 0; i < count; ++i) {
    auto* row = const_cast<Sample*>(row_of<Sample>(raw, first + i, p.y));
    if constexpr (std::is_same_v<Sample, float>)
      row[p.x] = v[i] * scale;
    else
      row[p.x] = static_cast<Sample>(fminf(fmaxf(rintf(v[i] * scale), 0.0f), full_scale));
  }
}

/// The mean of the luma samples that sample (x, y) of the chroma planes covers.
__device__ float average_luma(const ColourGuide& mix, int x, int y) {
  const int right = min((x + 1) << mix.shift_x, mix.luma_margins.width);
  const int bottom = min((y + 1) << mix.shift_y, mix.luma_margins.height);
  float sum = 0;
  int samples = 0;
  for (int v = y << mix.shift_y; v < bottom; ++v)
    for (int u = x << mix.shift_x; u < right; ++u, ++samples)
      sum += mix.luma(mix.luma_margins.at(u, v));
  return sum / static_cast<float>(samples);
}

__global__ void mix_kernel(const ColourGuide mix, Margins margins, float* plane) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const int at = margins.at(p.x, p.y);
  float v = mix.luma.estimate != nullptr ? average_luma(mix, p.x, p.y) : 0.0f;
  for (int i = 0; i < 2; ++i)
    if (mix.weight[i] != 0) v += mix.weight[i] * mix.chroma[i](at);
  plane[at] = v;
}

__global__ void guide_kernel(const MixedPlane plane, Margins margins, float scale, float offset,
                             std::uint8_t* samples) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const int at = margins.at(p.x, p.y);
  const float v = rintf((plane(at) - offset) * scale);
  samples[at] = static_cast<std::uint8_t>(fminf(fmaxf(v, 0.0f), 255.0f));
}

__global__ void norms_kernel(const std::uint8_t* samples, Margins margins,
                             std::int32_t* half_norms) {
  const int2 p = own_place();
  if (p.x >= margins.pitch || p.y >= margins.rows) return;
  const int x = p.x - margins.left, y = p.y - margins.top;
  std::int32_t norm = no_patch;
  if (x >= 0 && y >= 0 && x <= margins.width - patch && y <= margins.height - patch) {
    unsigned sum = 0;
    for (int row = 0; row < patch; ++row) {
      const std::uint8_t* at = samples + margins.at(x, y + row);
      for (int column = 0; column < patch; ++column) sum += at[column] * at[column];
    }
    norm = static_cast<std::int32_t>(sum / 2);
  }
  half_norms[p.y * margins.pitch + p.x] = norm;
}

/// The weight of the groups at a sample is the sum of those of the 64 patches that hold it, times
/// the aggregation window.
__global__ void normalise_kernel(Sums sums, const float* noisy, Margins margins,
                                 std::array<float, patch> window, float* estimate) {
  __shared__ float weights[block.y + patch - 1][block.x + patch - 1];
  const int x0 = blockIdx.x * block.x, y0 = blockIdx.y * block.y;
  for (unsigned y = threadIdx.y; y < block.y + patch - 1; y += block.y)
    for (unsigned x = threadIdx.x; x < block.x + patch - 1; x += block.x) {
      const int px = min(x0 + static_cast<int>(x), margins.width + patch - 1) - (patch - 1);
      const int py = min(y0 + static_cast<int>(y), margins.height + patch - 1) - (patch - 1);
      weights[y][x] = static_cast<float>(sums.denominator[margins.at(px, py)]);
    }
  __syncthreads();
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  float weight = 0;
#pragma unroll
  for (int j = 0; j < patch; ++j) {
    float row = 0;
#pragma unroll
    for (int i = 0; i < patch; ++i)
      row += window[i] * weights[threadIdx.y + patch - 1 - j][threadIdx.x + patch - 1 - i];
    weight += window[j] * row;
  }
  const int at = margins.at(p.x, p.y);
  const float value = static_cast<float>(static_cast<long long>(sums.numerator[at]));
  estimate[at] = weight > 0 ? value * (weight_scale / value_scale) / weight + mid_level : noisy[at];
}

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Calls `body` with a null pointer to the sample's type.
template <class Body>
void with_sample_type(SampleType sample, Body body) {
  switch (sample) {
    case SampleType::u8:
      return body(static_cast<std::uint8_t*>(nullptr));
    case SampleType::u16:
      return body(static_cast<std::uint16_t*>(nullptr));
    case SampleType::f32:
      return body(static_cast<float*>(nullptr));
  }
}

}  // namespace

// Beyond the window: a union of windows is rounded up to 8, holds up to 3 steps of 8, a patch, and
// is loaded in words that start up to 3 samples early and end up to 12 late.
Margins::Margins(int w, int h, int window)
    : width(w),
      height(h),
      left(round_up(window / 2 + 4, 16)),
      top(round_up(window / 2, 4)),
      pitch(round_up(left + w + window / 2 + 64, 32)),
      rows(top + h + window / 2 + 48) {}

ReferenceGrid::ReferenceGrid(int width, int height, int p)
    : step(p),
      last_x(width - patch),
      last_y(height - patch),
      count_x(reference_count(width, p)),
      count_y(reference_count(height, p)) {}

void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream) {
  const auto scale = static_cast<float>(255 / raw.full_scale);
  with_sample_type(raw.sample, [&](auto* type) {
    load_kernel<std::remove_pointer_t<decltype(type)>>
        <<<grid_for(margins.width, margins.height), block, 0, stream>>>(
            raw, first, count, ColourMatrix(colour, opponent_forward), scale, margins, planes);
  });
  cuda::check(cudaGetLastError());
}

void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream) {
  const auto scale = static_cast<float>(raw.full_scale / 255);
  with_sample_type(raw.sample, [&](auto* type) {
    store_kernel<std::remove_pointer_t<decltype(type)>>
        <<<grid_for(margins.width, margins.height), block, 0, stream>>>(
            planes, first, count, ColourMatrix(colour, opponent_inverse), scale,
            static_cast<float>(raw.full_scale), margins, raw);
  });
  cuda::check(cudaGetLastError());
}

void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream) {
  mix_kernel<<<grid_for(margins.width, margins.height), block, 0, stream>>>(mix, margins, plane);
  cuda::check(cudaGetLastError());
}

void make_guide(const MixedPlane& plane, const Margins& margins, float scale, float offset,
                std::uint8_t* samples, std::int32_t* half_norms, cudaStream_t stream) {
  guide_kernel<<<grid_for(margins.width, margins.height), block, 0, stream>>>(plane, margins, scale,
                                                                              offset, samples);
  cuda::check(cudaGetLastError());
  norms_kernel<<<grid_for(margins.pitch, margins.rows), block, 0, stream>>>(samples, margins,
                                                                            half_norms);
  cuda::check(cudaGetLastError());
}

void normalise(const Sums& sums, const float* noisy, const Margins& margins,
               const std::array<float, patch>& window, float* estimate, cudaStream_t stream) {
  normalise_kernel<<<grid_for(margins.width, margins.height), block, 0, stream>>>(
      sums, noisy, margins, window, estimate);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
