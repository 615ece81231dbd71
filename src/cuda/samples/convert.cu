// Samples as they are stored to planes of floats and back. Kernels bound by memory: a thread takes
// 4 neighbouring samples of a row.

#include <algorithm>

#include "core/colour.h"
#include "core/round_up.h"
#include "core/sample_curve.h"
#include "cuda/check.h"
#include "cuda/device_planes.h"
#include "cuda/samples/colour_matrix.cuh"
#include "cuda/samples/sample_type.cuh"

namespace lull {
namespace {

constexpr int quad = 4;       // samples of a thread in conversions
constexpr dim3 block{32, 8};  // of threads
constexpr dim3 quads_for(int width, int height) {
  constexpr int columns = block.x * quad;
  return dim3((width + columns - 1) / columns, (height + block.y - 1) / block.y);
}
/// First of a thread's 4 samples.
__device__ int2 own_quad() {
  return {static_cast<int>(blockIdx.x * block.x + threadIdx.x) * quad,
          static_cast<int>(blockIdx.y * block.y + threadIdx.y)};
}

using Pointers = std::array<float*, max_planes>;

template <class Sample>
struct alignas(quad * sizeof(Sample)) Quad {
  Sample at[quad];
};

/// One plane of RawPlanes.
struct RawPlane {
  std::byte* data;
  int pitch;
  RawPlane(const RawPlanes& raw, int i)
      : data(static_cast<std::byte*>(raw.data[i])), pitch(raw.pitch[i]) {}
  template <class Sample>
  __device__ Quad<Sample>& quad_at(int2 p) const {
    return *reinterpret_cast<Quad<Sample>*>(data + static_cast<std::size_t>(p.y) * pitch +
                                            p.x * sizeof(Sample));
  }
};
struct RawColour {
  RawPlane planes[max_planes];
  explicit RawColour(const RawPlanes& raw) : planes{{raw, 0}, {raw, 1}, {raw, 2}} {}
};

/// Rows of `raw` are padded to quads; those of planes end in a margin, which stays as it is.
__device__ void store_quad(float* plane, const Margins& margins, int2 p, const float (&v)[quad]) {
  float* to = plane + margins.at(p.x, p.y);
  if (p.x + quad <= margins.width) {
    *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
    return;
  }
#pragma unroll
  for (int k = 0; k < quad; ++k)
    if (p.x + k < margins.width) to[k] = v[k];
}

/// What becomes of samples on the 0..255 scale: nothing.
struct AsIs {
  __device__ float operator()(float v) const { return v; }
};
/// What a table says. Its knots stay in the caches: pictures use few of the 8 KiB at a time.
struct Tabled {
  const float* values;  // null: nothing
  __device__ float operator()(float v) const {
    return values == nullptr ? v : SampleCurve::at(values, v);
  }
};
struct TabledColour {
  Tabled planes[max_planes];
  explicit TabledColour(const CurveTables& curves)
      : planes{{curves[0]}, {curves[1]}, {curves[2]}} {}
};

/// What becomes of filtered samples at (x + k, y): nothing.
struct BackAsIs {
  __device__ float operator()(float v, int2, int) const { return v; }
};
/// What a table says, between where samples end.
struct BackTabled {
  WayBack way;
  int rows;  // of cells
  BackTabled(const WayBack& back, int height) : way(back), rows(toll_cells(height)) {}
  __device__ float operator()(float v, int2 p, int k) const {
    if (way.curve != nullptr) v = SampleCurve::at(way.curve, v);
    if (way.low_tolls == nullptr && way.high_tolls == nullptr) return v;
    const TollPlace x(p.x + k, way.columns), y(p.y, rows);
    if (way.low_tolls != nullptr)
      v = way.ends.low.kept(v, toll_at(way.low_tolls, way.columns, x, y));
    if (way.high_tolls != nullptr)
      v = way.ends.high.kept(v, toll_at(way.high_tolls, way.columns, x, y));
    return v;
  }
};
struct BackTabledColour {
  BackTabled planes[max_planes];
  BackTabledColour(const WaysBack& back, int height)
      : planes{{back[0], height}, {back[1], height}, {back[2], height}} {}
};

template <class Sample, class Curve>
__global__ void load_kernel(const RawPlane raw, float scale, const Curve curve, Margins margins,
                            float* to) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const Quad<Sample> samples = raw.quad_at<Sample>(p);
  float v[quad];
#pragma unroll
  for (int k = 0; k < quad; ++k) v[k] = curve(static_cast<float>(samples.at[k]) * scale);
  store_quad(to, margins, p, v);
}

template <class Sample>
__global__ void load_colour_kernel(const RawColour raw, const ColourMatrix colour, float scale,
                                   Margins margins, Pointers planes) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  Quad<Sample> samples[max_planes];
#pragma unroll
  for (int i = 0; i < max_planes; ++i) samples[i] = raw.planes[i].quad_at<Sample>(p);
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    float v[quad];
#pragma unroll
    for (int k = 0; k < quad; ++k)
      v[k] = scale * colour.row(i, static_cast<float>(samples[0].at[k]),
                                static_cast<float>(samples[1].at[k]),
                                static_cast<float>(samples[2].at[k]));
    store_quad(planes[i], margins, p, v);
  }
}

template <class Sample>
__global__ void load_tabled_colour_kernel(const RawColour raw, const ColourMatrix colour,
                                          float scale, const TabledColour curves, Margins margins,
                                          Pointers planes) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  float of[max_planes][quad];
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    const Quad<Sample> samples = raw.planes[i].quad_at<Sample>(p);
#pragma unroll
    for (int k = 0; k < quad; ++k)
      of[i][k] = curves.planes[i](static_cast<float>(samples.at[k]) * scale);
  }
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    float v[quad];
#pragma unroll
    for (int k = 0; k < quad; ++k) v[k] = colour.row(i, of[0][k], of[1][k], of[2][k]);
    store_quad(planes[i], margins, p, v);
  }
}

__device__ float4 load_quad(const float* plane, const Margins& margins, int2 p) {
  return *reinterpret_cast<const float4*>(plane + margins.at(p.x, p.y));
}

template <class Sample, class Way>
__global__ void store_kernel(const float* plane, float scale, float full_scale, const Way back,
                             Margins margins, const RawPlane raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 v = load_quad(plane, margins, p);
  raw.quad_at<Sample>(p) = {to_sample<Sample>(back(v.x, p, 0) * scale, full_scale),
                            to_sample<Sample>(back(v.y, p, 1) * scale, full_scale),
                            to_sample<Sample>(back(v.z, p, 2) * scale, full_scale),
                            to_sample<Sample>(back(v.w, p, 3) * scale, full_scale)};
}

template <class Sample>
__global__ void store_colour_kernel(Planes planes, const ColourMatrix colour, float scale,
                                    float full_scale, Margins margins, const RawColour raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 a = load_quad(planes[0], margins, p), b = load_quad(planes[1], margins, p),
               c = load_quad(planes[2], margins, p);
#pragma unroll
  for (int i = 0; i < max_planes; ++i)
    raw.planes[i].quad_at<Sample>(p) = {
        to_sample<Sample>(scale * colour.row(i, a.x, b.x, c.x), full_scale),
        to_sample<Sample>(scale * colour.row(i, a.y, b.y, c.y), full_scale),
        to_sample<Sample>(scale * colour.row(i, a.z, b.z, c.z), full_scale),
        to_sample<Sample>(scale * colour.row(i, a.w, b.w, c.w), full_scale)};
}

template <class Sample>
__global__ void store_tabled_colour_kernel(Planes planes, const ColourMatrix colour, float scale,
                                           float full_scale, const BackTabledColour ways,
                                           Margins margins, const RawColour raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 a = load_quad(planes[0], margins, p), b = load_quad(planes[1], margins, p),
               c = load_quad(planes[2], margins, p);
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    const BackTabled& back = ways.planes[i];
    raw.planes[i].quad_at<Sample>(p) = {
        to_sample<Sample>(scale * back(colour.row(i, a.x, b.x, c.x), p, 0), full_scale),
        to_sample<Sample>(scale * back(colour.row(i, a.y, b.y, c.y), p, 1), full_scale),
        to_sample<Sample>(scale * back(colour.row(i, a.z, b.z, c.z), p, 2), full_scale),
        to_sample<Sample>(scale * back(colour.row(i, a.w, b.w, c.w), p, 3), full_scale)};
  }
}

bool any(const CurveTables& curves) {
  return curves[0] != nullptr || curves[1] != nullptr || curves[2] != nullptr;
}
bool any(const WaysBack& back) {
  return back[0].curve != nullptr || back[1].curve != nullptr || back[2].curve != nullptr;
}

}  // namespace

// Beyond the window: a union of windows is rounded up to 8, holds up to 3 steps of 8, a patch, and
// is loaded in words that start up to 3 samples early and end up to 12 late; below it, the tile of
// 8 reference patches, up to 8 apart. Before it: the patches that hold the first samples, for the
// sums of weights.
Margins::Margins(int w, int h, int window, int rows_above)
    : width(w),
      height(h),
      left(round_up(window / 2 + 4, 16)),
      top(round_up(std::max(window / 2, rows_above), 4)),
      pitch(round_up(left + w + window / 2 + 64, 32)),
      rows(top + h + window / 2 + 64) {}

void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream, const CurveTables& curves) {
  const auto scale = static_cast<float>(255 / raw.full_scale);
  const dim3 grid = quads_for(margins.width, margins.height);
  with_sample_type(raw.sample, [&](auto type) {
    using Sample = decltype(type);
    if (colour == Colour::opponent && any(curves)) {
      load_tabled_colour_kernel<Sample>
          <<<grid, block, 0, stream>>>(RawColour(raw), ColourMatrix(opponent_forward), scale,
                                       TabledColour(curves), margins, planes);
    } else if (colour == Colour::opponent) {
      load_colour_kernel<Sample><<<grid, block, 0, stream>>>(
          RawColour(raw), ColourMatrix(opponent_forward), scale, margins, planes);
    } else {
      for (int i = 0; i < count; ++i) {
        const RawPlane from(raw, first + i);
        if (const float* const curve = curves[first + i])
          load_kernel<Sample>
              <<<grid, block, 0, stream>>>(from, scale, Tabled{curve}, margins, planes[i]);
        else
          load_kernel<Sample><<<grid, block, 0, stream>>>(from, scale, AsIs{}, margins, planes[i]);
      }
    }
  });
  cuda::check(cudaGetLastError());
}

void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream,
                       const WaysBack& back) {
  const auto scale = static_cast<float>(raw.full_scale / 255);
  const auto full_scale = static_cast<float>(raw.full_scale);
  find_tolls(planes, first, count, colour, margins, back, stream);
  const dim3 grid = quads_for(margins.width, margins.height);
  with_sample_type(raw.sample, [&](auto type) {
    using Sample = decltype(type);
    if (colour == Colour::opponent && any(back)) {
      store_tabled_colour_kernel<Sample><<<grid, block, 0, stream>>>(
          planes, ColourMatrix(opponent_inverse), scale, full_scale,
          BackTabledColour(back, margins.height), margins, RawColour(raw));
    } else if (colour == Colour::opponent) {
      store_colour_kernel<Sample><<<grid, block, 0, stream>>>(
          planes, ColourMatrix(opponent_inverse), scale, full_scale, margins, RawColour(raw));
    } else {
      for (int i = 0; i < count; ++i) {
        const RawPlane to(raw, first + i);
        if (const WayBack& way = back[first + i]; way.curve != nullptr)
          store_kernel<Sample><<<grid, block, 0, stream>>>(
              planes[i], scale, full_scale, BackTabled(way, margins.height), margins, to);
        else
          store_kernel<Sample>
              <<<grid, block, 0, stream>>>(planes[i], scale, full_scale, BackAsIs{}, margins, to);
      }
    }
  });
  cuda::check(cudaGetLastError());
}

}  // namespace lull
