// Renders on a GPU. A block of 32 x 8 threads has a tile of as many pixels, a thread its pixel's
// sums in registers. For some displacements at a time the block finds the summands of the distance
// for the tile and what lies around it (38 x 14, in shared memory), sums them along rows for both
// sizes of patches, then each thread along columns. The sums take so many registers that a
// multiprocessor holds one block: the more displacements between two barriers, the less its warps
// wait. Some 300 instructions for each pixel and displacement, half of them for the sums of the
// line.

#include <cmath>

#include "cuda/check.h"
#include "nlm/features/kernels.h"

namespace lull::nlm::cuda {
namespace {

constexpr dim3 threads{32, 8};
constexpr int block = 256, halo = widest_patch;
constexpr int wide = 32 + 2 * halo, high = 8 + 2 * halo;

constexpr int together = 5;  // displacements

struct SharedSums {
  float summand[together][high][wide];
  float rows_of_three[together][high][32], rows_of_seven[together][high][32];
};

/// The summands of `count` displacements, each by one sample more along x than the one before, of
/// the tile at (x0, y0) and what lies around it.
template <int channels>
__device__ __forceinline__ void find_summands(const DeviceLight& p, const DeviceLight& q,
                                              const Space& space, int x0, int y0,
                                              std::ptrdiff_t step, int count, SharedSums& shared) {
  for (int i = static_cast<int>(threadIdx.y * 32 + threadIdx.x); i < wide * high; i += block) {
    const int sx = min(x0 + i % wide - halo, space.width - 1 + halo);
    const int sy = min(y0 + i / wide - halo, space.height - 1 + halo);
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(sy + space.pad) * space.pitch + sx + space.pad;
    float up[channels], vp[channels], sum[together] = {};
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      up[c] = __ldg(p.light[c] + at);
      vp[c] = __ldg(p.variance[c] + at);
    }
#pragma unroll
    for (int k = 0; k < together; ++k) {
      if (k >= count) break;
#pragma unroll
      for (int c = 0; c < channels; ++c) {
        const float vq = __ldg(q.variance[c] + at + step + k);
        const float d = up[c] - __ldg(q.light[c] + at + step + k);
        sum[k] += __fdividef(d * d - (vp[c] + fminf(vp[c], vq)), vp[c] + vq);
      }
      shared.summand[k][i / wide][i % wide] = sum[k];
    }
  }
}

/// Their sums along rows.
__device__ __forceinline__ void sum_rows(int count, SharedSums& shared) {
  const int tx = static_cast<int>(threadIdx.x);
  for (int n = static_cast<int>(threadIdx.y); n < count * high; n += 8) {
    const int k = n / high, row = n % high;
    const float* from = shared.summand[k][row] + tx;
    const float three = from[2] + from[3] + from[4];
    shared.rows_of_three[k][row][tx] = three;
    shared.rows_of_seven[k][row][tx] = from[0] + from[1] + three + from[5] + from[6];
  }
}

/// What a thread keeps of its pixel for a filter.
template <int channels, int coefficients>
struct LineOfPixel {
  float matrix[triangle(coefficients)] = {};
  float right[coefficients * channels] = {};
  float slope_light[channels] = {}, slope[channels] = {};

  __device__ __forceinline__ void add(float w, float s, const float* g, const float* uq,
                                      const float* ratio) {
#pragma unroll
    for (int i = 0; i < coefficients; ++i) {
      const float wg = w * g[i];
#pragma unroll
      for (int j = 0; j <= i; ++j) matrix[triangle(i) + j] += wg * g[j];
#pragma unroll
      for (int c = 0; c < channels; ++c) right[i * channels + c] += wg * uq[c];
    }
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      const float t = s * ratio[c];
      slope_light[c] += t * uq[c];
      slope[c] += t;
    }
  }

  __device__ void store(const float* penalty, const DeviceCandidate& to, std::ptrdiff_t at) const {
    // Copies, for indices that are not known beforehand: the sums stay in registers.
    float m[triangle(coefficients)], r[coefficients * channels], value[channels];
#pragma unroll
    for (int i = 0; i < triangle(coefficients); ++i) m[i] = matrix[i];
#pragma unroll
    for (int i = 0; i < coefficients * channels; ++i) r[i] = right[i];
    const float share = solve_line(m, r, coefficients, channels, penalty, value);
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      to.value[c][at] = value[c];
      to.derivative[c][at] = share + (slope_light[c] - value[c] * slope[c]) / matrix[0];
    }
  }
};

template <int channels, int regressors>
__global__ void __launch_bounds__(block) light_kernel(LightJob job) {
  constexpr int coefficients = 1 + places + regressors;
  __shared__ SharedSums shared;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * 32, y0 = static_cast<int>(blockIdx.y) * 8;
  const int x = x0 + tx, y = y0 + ty, pitch = job.space.pitch, pad = job.space.pad;
  const bool inside = x < job.space.width && y < job.space.height;
  // Threads beyond the plane help with the summands; what they would look at for themselves is
  // that of the last pixel.
  const int px = min(x, job.space.width - 1), py = min(y, job.space.height - 1);
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(py + pad) * pitch + px + pad;
  const DeviceLight& p = job.source[0];
  LineOfPixel<channels, 1> colour;
  LineOfPixel<channels, coefficients> guided;
  float up[channels], vp[channels], own[regressors > 0 ? regressors : 1];
#pragma unroll
  for (int c = 0; c < channels; ++c) {
    up[c] = __ldg(p.light[c] + at);
    vp[c] = __ldg(p.variance[c] + at);
  }
#pragma unroll
  for (int r = 0; r < regressors; ++r) own[r] = __ldg(p.regressor[r] + at);
  const float colour_slope = static_cast<float>(per_sample(colour_filter, channels));
  const float guided_slope = static_cast<float>(per_sample(guided_filter, channels));
  constexpr float colour_scale =
      1 / (colour_filter.k * colour_filter.k * colour_filter.patch() * channels);
  constexpr float guided_scale =
      1 / (guided_filter.k * guided_filter.k * guided_filter.patch() * channels);
  const int s = job.search_radius;
  const float inverse = 1 / static_cast<float>(s);
  /// The candidate at a displacement, number k of those whose rows are summed.
  const auto add = [&](const DeviceLight& q, int dx, int dy, std::ptrdiff_t from, int k) {
    float uq[channels], vq[channels],
        terms[coefficients] = {1, static_cast<float>(dx) * inverse,
                               static_cast<float>(dy) * inverse};
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      uq[c] = __ldg(q.light[c] + from);
      vq[c] = __ldg(q.variance[c] + from);
    }
#pragma unroll
    for (int r = 0; r < regressors; ++r)
      terms[1 + places + r] = __ldg(q.regressor[r] + from) - own[r];
    float seven = 0, three = 0;
#pragma unroll
    for (int row = 0; row < 7; ++row) seven += shared.rows_of_seven[k][ty + row][tx];
#pragma unroll
    for (int row = 2; row < 5; ++row) three += shared.rows_of_three[k][ty + row][tx];
    const WeightAndSlope<float> c = weigh(seven * colour_scale, colour_slope);
    const WeightAndSlope<float> g = weigh(three * guided_scale, guided_slope);
    if (!(c.weight > 0 || g.weight > 0)) return;
    float ratio[channels];
#pragma unroll
    for (int i = 0; i < channels; ++i) ratio[i] = __fdividef(up[i] - uq[i], vp[i] + vq[i]);
    const float one[1] = {1};
    colour.add(c.weight, c.slope, one, uq, ratio);
#pragma unroll
    for (int r = 0; r < regressors; ++r)
      terms[1 + places + r] = fminf(fmaxf(terms[1 + places + r], -1.0f), 1.0f);
    guided.add(g.weight, g.slope, terms, uq, ratio);
  };
  for (int f = 0; f < job.sources; ++f) {
    const DeviceLight& q = job.source[f];
    // A block lies in one cell.
    const Motion m =
        q.motion == nullptr ? Motion{} : q.motion[y0 / job.cell * job.cell_columns + x0 / job.cell];
    for (int dy = -s; dy <= s; ++dy)
      for (int dx = -s; dx <= s; dx += together) {
        const int count = min(together, s - dx + 1);
        const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(dy + m.y) * pitch + dx + m.x;
        find_summands<channels>(p, q, job.space, x0, y0, step, count, shared);
        __syncthreads();
        sum_rows(count, shared);
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < count; ++k) add(q, dx + k, dy, at + step + k, k);
        // (The next displacements' summands are written while slower warps read rows, which no one
        // writes before the next barrier.)
      }
  }
  if (!inside) return;
  float penalty[coefficients];
#pragma unroll
  for (int i = 0; i < coefficients; ++i) penalty[i] = ridge;
#pragma unroll
  for (int r = 0; r < regressors; ++r) penalty[1 + places + r] += __ldg(job.noise[r] + at);
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(y) * job.space.width + x;
  colour.store(penalty, job.colour, to);
  guided.store(penalty, job.guided, to);
}

/// The mean of what `value` gives around (x, y), as far as it is in the plane.
template <class Value>
__device__ float mean_around(int x, int y, int width, int height, int radius, Value value) {
  float sum = 0;
  int count = 0;
  for (int v = max(y - radius, 0); v <= min(y + radius, height - 1); ++v)
    for (int u = max(x - radius, 0); u <= min(x + radius, width - 1); ++u)
      sum += value(u, v), ++count;
  return sum / static_cast<float>(count);
}

struct Pixel {
  int x, y;
  bool inside;
  std::ptrdiff_t at;
  __device__ explicit Pixel(const Space& space)
      : x(static_cast<int>(blockIdx.x * threads.x + threadIdx.x)),
        y(static_cast<int>(blockIdx.y * threads.y + threadIdx.y)),
        inside(x < space.width && y < space.height),
        at(static_cast<std::ptrdiff_t>(y) * space.width + x) {}
};

__global__ void cost_kernel(LightJob job, float* __restrict__ cost) {
  const Pixel pixel(job.space);
  if (!pixel.inside) return;
  const int pitch = job.space.pitch, pad = job.space.pad;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(pixel.y + pad) * pitch + pixel.x + pad;
  float sum = 0;
  for (int c = 0; c < job.channels; ++c) {
    const float* variance = job.source[0].variance[c];
    const float level = mean_around(
        pixel.x, pixel.y, job.space.width, job.space.height, level_radius, [&](int u, int v) {
          return variance[static_cast<std::ptrdiff_t>(v + pad) * pitch + u + pad];
        });
    const float u = job.source[0].light[c][at];
    const float a = job.colour.value[c][pixel.at] - u, b = job.guided.value[c][pixel.at] - u;
    const float slope = job.guided.derivative[c][pixel.at] - job.colour.derivative[c][pixel.at];
    sum += (b * b - a * a + 2 * variance[at] * slope) / level;
  }
  cost[pixel.at] = sum / static_cast<float>(job.channels);
}

__global__ void share_kernel(Space space, const float* __restrict__ cost,
                             float* __restrict__ share) {
  const Pixel pixel(space);
  if (!pixel.inside) return;
  const float mean = mean_around(
      pixel.x, pixel.y, space.width, space.height, error_radius,
      [&](int u, int v) { return cost[static_cast<std::ptrdiff_t>(v) * space.width + u]; });
  share[pixel.at] = 1 / (1 + expf(mean / temper));
}

__global__ void blend_kernel(LightJob job, const float* __restrict__ share, float* r0, float* r1,
                             float* r2) {
  const Pixel pixel(job.space);
  if (!pixel.inside) return;
  const float s = mean_around(
      pixel.x, pixel.y, job.space.width, job.space.height, share_radius,
      [&](int u, int v) { return share[static_cast<std::ptrdiff_t>(v) * job.space.width + u]; });
  float* const results[3] = {r0, r1, r2};
  for (int c = 0; c < job.channels; ++c) {
    const float f = job.colour.value[c][pixel.at], g = job.guided.value[c][pixel.at];
    results[c][pixel.at] = f + s * (g - f);
  }
}

dim3 grid_of(const Space& space) {
  return dim3((static_cast<unsigned>(space.width) + threads.x - 1) / threads.x,
              (static_cast<unsigned>(space.height) + threads.y - 1) / threads.y);
}

template <int channels>
void launch(const LightJob& job, cudaStream_t stream) {
  const dim3 grid = grid_of(job.space);
  switch (job.regressors) {
    case 0:
      light_kernel<channels, 0><<<grid, threads, 0, stream>>>(job);
      break;
    case 4:  // normal and depth
      light_kernel<channels, 4><<<grid, threads, 0, stream>>>(job);
      break;
    case 7:
      light_kernel<channels, 7><<<grid, threads, 0, stream>>>(job);
      break;
    default:
      break;  // the engine fills up to one of these
  }
  lull::cuda::check(cudaGetLastError());
}

}  // namespace

void filter_light(const LightJob& job, cudaStream_t stream) {
  if (job.channels == 1)
    launch<1>(job, stream);
  else
    launch<3>(job, stream);
}

void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream) {
  const dim3 grid = grid_of(job.space);
  cost_kernel<<<grid, threads, 0, stream>>>(job, cost);
  share_kernel<<<grid, threads, 0, stream>>>(job.space, cost, share);
  blend_kernel<<<grid, threads, 0, stream>>>(job, share, results[0], results[1], results[2]);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::nlm::cuda
