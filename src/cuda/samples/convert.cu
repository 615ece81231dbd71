// Converts stored samples to planes of floats and back. Each thread converts 4 adjacent samples of
// a row.

#include <algorithm>

#include "core/colour.h"
#include "core/sample_curve.h"
#include "core/samples.h"
#include "cuda/check.h"
#include "cuda/device_planes.h"
#include "cuda/samples/colour_matrix.cuh"
#include "cuda/samples/sample_type.cuh"

namespace lull {
namespace {

constexpr int quad = 4;  // samples per thread
constexpr dim3 quad_block{32, 8};
constexpr dim3 quads_for(int width, int height) {
  constexpr int columns = quad_block.x * quad;
  return dim3((width + columns - 1) / columns, (height + quad_block.y - 1) / quad_block.y);
}
/// Returns the position of the first of the 4 samples of this thread.
__device__ int2 own_quad() {
  return {static_cast<int>(blockIdx.x * quad_block.x + threadIdx.x) * quad,
          static_cast<int>(blockIdx.y * quad_block.y + threadIdx.y)};
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

/// Stores 4 samples of a float plane. At the end of a row, the function stores only the samples
/// inside the picture, so that the margin of the plane does not change.
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

/// An input curve that leaves samples unchanged.
struct AsIs {
  __device__ float operator()(float v) const { return v; }
};
/// An input curve as a table of 8 KiB.
struct TableCurve {
  const float* values;  // null: samples are not changed
  __device__ float operator()(float v) const {
    return values == nullptr ? v : SampleCurve::at(values, v);
  }
};
struct TableCurves {
  TableCurve planes[max_planes];
  explicit TableCurves(const CurveTables& curves) : planes{{curves[0]}, {curves[1]}, {curves[2]}} {}
};

/// An output transform that returns the filtered samples unchanged.
struct OutputAsIs {
  __device__ float operator()(float v, int2, int) const { return v; }
};
/// An output transform that applies a look-up table and then clipping limits.
struct TableOutput {
  OutputTransform transform;
  int rows;  // number of rows of cells
  TableOutput(const OutputTransform& back, int height)
      : transform(back), rows(clip_shift_cells(height)) {}
  __device__ float operator()(float v, int2 p, int k) const {
    if (transform.curve != nullptr) v = SampleCurve::at(transform.curve, v);
    if (transform.low_shifts == nullptr && transform.high_shifts == nullptr) return v;
    const ClipShiftPosition x(p.x + k, transform.columns), y(p.y, rows);
    if (transform.low_shifts != nullptr)
      v = transform.limits.low.clipped(
          v, clip_shift_at(transform.low_shifts, transform.columns, x, y));
    if (transform.high_shifts != nullptr)
      v = transform.limits.high.clipped(
          v, clip_shift_at(transform.high_shifts, transform.columns, x, y));
    return v;
  }
};
struct TableOutputs {
  TableOutput planes[max_planes];
  TableOutputs(const OutputTransforms& back, int height)
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
                                          float scale, const TableCurves curves, Margins margins,
                                          Pointers planes) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  float curved[max_planes][quad];
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    const Quad<Sample> samples = raw.planes[i].quad_at<Sample>(p);
#pragma unroll
    for (int k = 0; k < quad; ++k)
      curved[i][k] = curves.planes[i](static_cast<float>(samples.at[k]) * scale);
  }
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    float v[quad];
#pragma unroll
    for (int k = 0; k < quad; ++k) v[k] = colour.row(i, curved[0][k], curved[1][k], curved[2][k]);
    store_quad(planes[i], margins, p, v);
  }
}

__device__ float4 load_quad(const float* plane, const Margins& margins, int2 p) {
  return *reinterpret_cast<const float4*>(plane + margins.at(p.x, p.y));
}

/// Converts 4 floats to samples. `p` is the position of the first sample. With dithering, the
/// function reads one threshold for all 4 samples.
template <class Sample>
__device__ Quad<Sample> to_samples(const float (&v)[quad], const Rounding& rounding, int2 p) {
  static_assert(quad == dither_group);
  Quad<Sample> samples;
  if (std::is_same_v<Sample, float> || !rounding.dithers()) {
#pragma unroll
    for (int k = 0; k < quad; ++k) samples.at[k] = to_sample<Sample>(v[k], rounding);
    return samples;
  }
  float carry = rounding.threshold(p.x, p.y);
#pragma unroll
  for (int k = 0; k < quad; ++k)
    samples.at[k] =
        static_cast<Sample>(dithered(rounding.clamped(v[k]), rounding.max_value, carry));
  return samples;
}

template <class Sample, class Output>
__global__ void store_kernel(const float* plane, float scale, const Rounding rounding,
                             const Output back, Margins margins, const RawPlane raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 v = load_quad(plane, margins, p);
  const float results[quad] = {back(v.x, p, 0) * scale, back(v.y, p, 1) * scale,
                               back(v.z, p, 2) * scale, back(v.w, p, 3) * scale};
  raw.quad_at<Sample>(p) = to_samples<Sample>(results, rounding, p);
}

template <class Sample>
__global__ void store_colour_kernel(Planes planes, const ColourMatrix colour, float scale,
                                    const Rounding rounding, Margins margins, const RawColour raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 a = load_quad(planes[0], margins, p), b = load_quad(planes[1], margins, p),
               c = load_quad(planes[2], margins, p);
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    const float results[quad] = {
        scale * colour.row(i, a.x, b.x, c.x), scale * colour.row(i, a.y, b.y, c.y),
        scale * colour.row(i, a.z, b.z, c.z), scale * colour.row(i, a.w, b.w, c.w)};
    raw.planes[i].quad_at<Sample>(p) = to_samples<Sample>(results, rounding, p);
  }
}

template <class Sample>
__global__ void store_tabled_colour_kernel(Planes planes, const ColourMatrix colour, float scale,
                                           const Rounding rounding, const TableOutputs outputs,
                                           Margins margins, const RawColour raw) {
  const int2 p = own_quad();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const float4 a = load_quad(planes[0], margins, p), b = load_quad(planes[1], margins, p),
               c = load_quad(planes[2], margins, p);
#pragma unroll
  for (int i = 0; i < max_planes; ++i) {
    const TableOutput& back = outputs.planes[i];
    const float results[quad] = {scale * back(colour.row(i, a.x, b.x, c.x), p, 0),
                                 scale * back(colour.row(i, a.y, b.y, c.y), p, 1),
                                 scale * back(colour.row(i, a.z, b.z, c.z), p, 2),
                                 scale * back(colour.row(i, a.w, b.w, c.w), p, 3)};
    raw.planes[i].quad_at<Sample>(p) = to_samples<Sample>(results, rounding, p);
  }
}

/// Converts integer samples of unfiltered planes, as copy_plane() (core/samples.h) does on the
/// host.
template <class From, class To>
__global__ void convert_kernel(const RawPlane from, double ratio, const Rounding rounding,
                               int width, int height, const RawPlane to) {
  const int2 p = own_quad();
  if (p.x >= width || p.y >= height) return;
  const Quad<From> samples = from.quad_at<From>(p);
  Quad<To> converted;
  float carry = rounding.dithers() ? rounding.threshold(p.x, p.y) : 0.0f;
#pragma unroll
  for (int k = 0; k < quad; ++k) {
    const int sample = samples.at[k];
    converted.at[k] = static_cast<To>(
        rounding.dithers() ? dithered(rounding.clamped(static_cast<float>(sample * ratio)),
                                      rounding.max_value, carry)
                           : converted_sample(sample, ratio, rounding.max_value));
  }
  to.quad_at<To>(p) = converted;
}

/// Returns the factor from the 0..255 scale to samples of plane `i`. On the host, store_plane()
/// uses the same factor.
float store_scale(const RawPlanes& raw, int i) {
  return static_cast<float>(raw.full_scale[i]) / 255.0f;
}

bool any(const CurveTables& curves) {
  return curves[0] != nullptr || curves[1] != nullptr || curves[2] != nullptr;
}
bool any(const OutputTransforms& back) {
  return back[0].curve != nullptr || back[1].curve != nullptr || back[2].curve != nullptr;
}

}  // namespace

void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream, const CurveTables& curves) {
  const auto scale = static_cast<float>(255 / raw.full_scale[first]);
  const dim3 grid = quads_for(margins.width, margins.height);
  with_sample_type(raw.sample, [&](auto type) {
    using Sample = decltype(type);
    if (colour == Colour::opponent && any(curves)) {
      load_tabled_colour_kernel<Sample>
          <<<grid, quad_block, 0, stream>>>(RawColour(raw), ColourMatrix(opponent_forward), scale,
                                            TableCurves(curves), margins, planes);
    } else if (colour == Colour::opponent) {
      load_colour_kernel<Sample><<<grid, quad_block, 0, stream>>>(
          RawColour(raw), ColourMatrix(opponent_forward), scale, margins, planes);
    } else {
      for (int i = 0; i < count; ++i) {
        const RawPlane from(raw, first + i);
        if (const float* const curve = curves[first + i])
          load_kernel<Sample>
              <<<grid, quad_block, 0, stream>>>(from, scale, TableCurve{curve}, margins, planes[i]);
        else
          load_kernel<Sample>
              <<<grid, quad_block, 0, stream>>>(from, scale, AsIs{}, margins, planes[i]);
      }
    }
  });
  cuda::check(cudaGetLastError());
}

void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream,
                       const OutputTransforms& back) {
  const Rounding rounding(raw);
  const float scale = store_scale(raw, first);
  find_clip_shifts(planes, first, count, colour, margins, back, stream);
  const dim3 grid = quads_for(margins.width, margins.height);
  with_sample_type(raw.sample, [&](auto type) {
    using Sample = decltype(type);
    if (colour == Colour::opponent && any(back)) {
      store_tabled_colour_kernel<Sample><<<grid, quad_block, 0, stream>>>(
          planes, ColourMatrix(opponent_inverse), scale, rounding,
          TableOutputs(back, margins.height), margins, RawColour(raw));
    } else if (colour == Colour::opponent) {
      store_colour_kernel<Sample><<<grid, quad_block, 0, stream>>>(
          planes, ColourMatrix(opponent_inverse), scale, rounding, margins, RawColour(raw));
    } else {
      for (int i = 0; i < count; ++i) {
        const RawPlane to(raw, first + i);
        const float plane_scale = store_scale(raw, first + i);
        if (const OutputTransform& transform = back[first + i]; transform.curve != nullptr)
          store_kernel<Sample><<<grid, quad_block, 0, stream>>>(
              planes[i], plane_scale, rounding, TableOutput(transform, margins.height), margins,
              to);
        else
          store_kernel<Sample><<<grid, quad_block, 0, stream>>>(planes[i], plane_scale, rounding,
                                                                OutputAsIs{}, margins, to);
      }
    }
  });
  cuda::check(cudaGetLastError());
}

void convert_samples(const RawPlanes& from, int i, int width, int height, const RawPlanes& to,
                     cudaStream_t stream) {
  const double ratio = to.full_scale[i] / from.full_scale[i];
  const auto launch = [&]<class From, class To>(From, To) {
    convert_kernel<From, To><<<quads_for(width, height), quad_block, 0, stream>>>(
        RawPlane(from, i), ratio, Rounding(to), width, height, RawPlane(to, i));
  };
  const auto launch_to = [&](auto type) {
    if (from.sample == SampleType::u8) return launch(std::uint8_t{}, type);
    launch(std::uint16_t{}, type);
  };
  to.sample == SampleType::u8 ? launch_to(std::uint8_t{}) : launch_to(std::uint16_t{});
  cuda::check(cudaGetLastError());
}

}  // namespace lull
