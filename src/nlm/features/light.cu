// Renders on a GPU. A block has a tile of 16 x 16 pixels, and two threads for each: the sums of a
// line take too many registers for one, of which a multiprocessor then holds too few to hide what
// they wait for. The first keeps what has light in it, the second the matrix; they meet at the end.
// For some displacements at a time the second threads find the summands of the distance for the
// tile and what lies around it (22 x 22, in shared memory) and sum them along rows for both sizes
// of patches, while the first ones add the candidates of the displacements before; both sum along
// columns for themselves.

#include <algorithm>
#include <cmath>

#include "cuda/check.h"
#include "nlm/features/kernels.h"

namespace lull::nlm::cuda {
namespace {

constexpr int side = 16, pixels = side * side;  // of a tile
constexpr dim3 threads{side, side, 2};
constexpr int block = 2 * pixels, halo = widest_patch, wide = side + 2 * halo;
static_assert(motion_cell % side == 0, "a tile lies in one cell");

constexpr int together = 6;  // displacements
constexpr int handed = 40;   // numbers of a matrix that go from thread to thread in one go

/// Sums along rows, of patches of 3 and of 7.
struct RowSums {
  alignas(8) float of_three[together][wide][side], of_seven[together][wide][side];
};
struct Summands {
  alignas(8) float at[together][wide][wide];
};
union SharedMemory {
  struct {
    RowSums rows[2];  // those that are read, and those that are made
    Summands summands;
  } sums;
  float matrix[handed][pixels];
};

/// Barriers have names: threads of either kind wait at places of their own, which __syncthreads()
/// may not.
__device__ __forceinline__ void wait_for_block() {
  asm volatile("barrier.sync 1, %0;" ::"n"(block) : "memory");
}
__device__ __forceinline__ void wait_for_second_threads() {
  asm volatile("barrier.sync 2, %0;" ::"n"(pixels) : "memory");
}

struct Displacement {
  int dx, dy, radius;
  /// Row by row through the window.
  __device__ __forceinline__ void next() {
    if (++dx > radius) dx = -radius, ++dy;
  }
};

/// Displacements that are worked on at a time: of one source after the other.
struct Group {
  int source = 0, first = 0;
  Displacement displacement;
  int of_window;

  __device__ __forceinline__ explicit Group(int radius)
      : displacement{-radius, -radius, radius}, of_window((2 * radius + 1) * (2 * radius + 1)) {}
  __device__ __forceinline__ int count() const { return min(together, of_window - first); }
  __device__ __forceinline__ void next() {
    first += together;
    displacement.dx += together;
    while (displacement.dx > displacement.radius)
      displacement.dx -= 2 * displacement.radius + 1, ++displacement.dy;
    if (first < of_window) return;
    first = 0;
    ++source;
    displacement.dx = displacement.dy = -displacement.radius;
  }
};

/// Where the candidates of a block lie that another source has, from their places there.
__device__ __forceinline__ int offset_in(const DeviceLight& source, const LightJob& job) {
  if (source.motion == nullptr) return 0;
  const int column = static_cast<int>(blockIdx.x) * side / job.cell;
  const int row = static_cast<int>(blockIdx.y) * side / job.cell;
  const Motion m = source.motion[row * job.cell_columns + column];
  return m.y * job.space.pitch + m.x;
}

/// 1 / v, of no subnormal v.
__device__ __forceinline__ float inverse_of(float v) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(v));
  return inverse;
}

/// Three numbers of a pixel.
struct Triple {
  float at[3];
  __device__ __forceinline__ explicit Triple(const float4* from) {
    const float4 quad = __ldg(from);
    at[0] = quad.x, at[1] = quad.y, at[2] = quad.z;
  }
};
struct LightAndVariance {
  Triple light, variance;
  __device__ __forceinline__ explicit LightAndVariance(const LightPixel* from)
      : light(&from->light), variance(&from->variance) {}
};

/// The summands of a group, of the tile and what lies around it. `thread`: 0..pixels - 1.
template <int channels>
__device__ __forceinline__ void find_summands(const LightJob& job, const Group& group, int thread,
                                              Summands& summands) {
  const Space& space = job.space;
  const DeviceLight& q = job.source[group.source];
  const LightPixel* const others = q.pixels + offset_in(q, job);
  for (int i = thread; i < wide * wide; i += pixels) {
    const int row = i / wide, column = i - row * wide;
    const int sx = min(static_cast<int>(blockIdx.x) * side + column, space.width - 1 + 2 * halo);
    const int sy = min(static_cast<int>(blockIdx.y) * side + row, space.height - 1 + 2 * halo);
    const int at = (sy - halo + space.pad) * space.pitch + sx - halo + space.pad;
    const LightAndVariance own(job.source[0].pixels + at);
    Displacement d = group.displacement;
#pragma unroll 3  // several loads are on their way
    for (int k = 0; k < group.count(); ++k, d.next()) {
      const LightAndVariance other(others + at + d.dy * space.pitch + d.dx);
      float sum = 0;
#pragma unroll
      for (int c = 0; c < channels; ++c) {
        const float vp = own.variance.at[c], vq = other.variance.at[c];
        const float difference = own.light.at[c] - other.light.at[c];
        sum += (difference * difference - (vp + fminf(vp, vq))) * inverse_of(vp + vq);
      }
      summands.at[k][row][column] = sum;
    }
  }
}

/// Their sums along rows, of two pixels beside each other at a time.
__device__ __forceinline__ void sum_rows(const Summands& summands, int count, int thread,
                                         RowSums& sums) {
  constexpr int pairs = side / 2;
  const int tx = 2 * (thread % pairs);
  for (int n = thread / pairs; n < count * wide; n += pixels / pairs) {
    const int k = n / wide, row = n - k * wide;
    const auto* from = reinterpret_cast<const float2*>(summands.at[k][row] + tx);
    const float2 a = from[0], b = from[1], c = from[2], d = from[3];
    const float2 three = make_float2(b.x + b.y + c.x, b.y + c.x + c.y);
    *reinterpret_cast<float2*>(sums.of_three[k][row] + tx) = three;
    *reinterpret_cast<float2*>(sums.of_seven[k][row] + tx) =
        make_float2(a.x + a.y + three.x + c.y + d.x, a.y + b.x + three.y + d.x + d.y);
  }
}

/// Sums of a pixel with light in them, for a filter whose line has so many coefficients.
template <int channels, int coefficients>
struct LightSums {
  float right[coefficients * channels] = {};
  float slope_light[channels] = {}, slope[channels] = {};

  __device__ __forceinline__ void add(float w, float s, const float (&g)[coefficients],
                                      const float (&uq)[3], const float (&ratio)[channels]) {
#pragma unroll
    for (int i = 0; i < coefficients; ++i) {
      const float wg = w * g[i];
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

  /// `matrix` is changed.
  __device__ void store(float* matrix, const float* penalty, const DeviceCandidate& to,
                        std::ptrdiff_t at) const {
    // A copy, for indices that are not known beforehand: the sums stay in registers.
    float r[coefficients * channels], value[channels];
#pragma unroll
    for (int i = 0; i < coefficients * channels; ++i) r[i] = right[i];
    const float total = matrix[0];
    const float share = solve_line(matrix, r, coefficients, channels, penalty, value);
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      to.value[c][at] = value[c];
      to.derivative[c][at] = share + (slope_light[c] - value[c] * slope[c]) / total;
    }
  }
};

/// The pixel of a thread.
template <int channels, int regressors>
struct OwnPixel {
  static constexpr int coefficients = 1 + places + regressors;
  static constexpr int quads = regressor_quads(regressors);
  int tx, ty, x, y;
  bool inside;
  int at;                              // in a Space
  float half_less_own[4 * quads + 1];  // (1 - its regressors) / 2

  __device__ __forceinline__ explicit OwnPixel(const LightJob& job)
      : tx(static_cast<int>(threadIdx.x)),
        ty(static_cast<int>(threadIdx.y)),
        x(static_cast<int>(blockIdx.x) * side + tx),
        y(static_cast<int>(blockIdx.y) * side + ty),
        inside(x < job.space.width && y < job.space.height) {
    // Threads beyond the plane help with the summands; what they would look at for themselves is
    // that of the last pixel.
    const int px = min(x, job.space.width - 1), py = min(y, job.space.height - 1);
    at = (py + job.space.pad) * job.space.pitch + px + job.space.pad;
    load(job.source[0].regressors + at * quads, half_less_own);
#pragma unroll
    for (int r = 0; r < 4 * quads; ++r) half_less_own[r] = 0.5f - 0.5f * half_less_own[r];
  }

  /// What the line has for the candidate at `from`.
  struct Terms {
    float at[coefficients];
  };
  __device__ __forceinline__ Terms find_terms(const float4* from, const Displacement& d,
                                              float inverse) const {
    Terms terms;
    terms.at[0] = 1;
    terms.at[1] = static_cast<float>(d.dx) * inverse;
    terms.at[2] = static_cast<float>(d.dy) * inverse;
    float its[4 * quads + 1];
    load(from, its);
    // clamp(its - own, -1, 1) in two instructions
#pragma unroll
    for (int r = 0; r < regressors; ++r)
      terms.at[1 + places + r] = 2 * __saturatef(0.5f * its[r] + half_less_own[r]) - 1;
    return terms;
  }

  __device__ __forceinline__ WeightAndSlope<float> weigh_guided(const RowSums& sums, int k) const {
    constexpr float scale =
        1 / (guided_filter.k * guided_filter.k * guided_filter.patch() * channels);
    float three = 0;
#pragma unroll
    for (int row = 2; row < 5; ++row) three += sums.of_three[k][ty + row][tx];
    return weigh(three * scale, static_cast<float>(per_sample(guided_filter, channels)));
  }
  __device__ __forceinline__ WeightAndSlope<float> weigh_colour(const RowSums& sums, int k) const {
    constexpr float scale =
        1 / (colour_filter.k * colour_filter.k * colour_filter.patch() * channels);
    float seven = 0;
#pragma unroll
    for (int row = 0; row < 7; ++row) seven += sums.of_seven[k][ty + row][tx];
    return weigh(seven * scale, static_cast<float>(per_sample(colour_filter, channels)));
  }

 private:
  static __device__ __forceinline__ void load(const float4* from, float (&to)[4 * quads + 1]) {
#pragma unroll
    for (int i = 0; i < quads; ++i) {
      const float4 quad = __ldg(from + i);
      to[4 * i] = quad.x, to[4 * i + 1] = quad.y, to[4 * i + 2] = quad.z, to[4 * i + 3] = quad.w;
    }
  }
};

/// All groups of all sources, as either kind of threads works on them: prepare(group, rows) makes
/// sums along rows for add(source, from, d, rows, k), once for each displacement; `from` is the
/// candidate's place for the pixel at `at`.
template <class Prepare, class Add>
__device__ __forceinline__ void for_candidates(const LightJob& job, int at, RowSums (&rows)[2],
                                               Prepare prepare, Add add) {
  Group group(job.search_radius), coming = group;
  prepare(coming, rows[0]);
  wait_for_block();
  for (int turn = 0; group.source < job.sources; turn ^= 1) {
    coming.next();
    if (coming.source < job.sources) prepare(coming, rows[turn ^ 1]);
    const DeviceLight q = job.source[group.source];
    const int moved = at + offset_in(q, job);
    Displacement d = group.displacement;
#pragma unroll 1
    for (int k = 0; k < group.count(); ++k, d.next())
      add(q, moved + d.dy * job.space.pitch + d.dx, d, rows[turn], k);
    group = coming;
    wait_for_block();
  }
}

/// From the second thread of each pixel to the first; only these call it with a place to read to.
template <int count>
__device__ __forceinline__ void hand_over(const float* from, float* to,
                                          float (&memory)[handed][pixels], int pixel) {
#pragma unroll
  for (int begin = 0; begin < count; begin += handed) {
    wait_for_block();
#pragma unroll
    for (int i = begin; i < count && i < begin + handed; ++i)
      if (from != nullptr) memory[i - begin][pixel] = from[i];
    wait_for_block();
#pragma unroll
    for (int i = begin; i < count && i < begin + handed; ++i)
      if (to != nullptr) to[i] = memory[i - begin][pixel];
  }
}

template <int channels, int regressors>
__global__ void __launch_bounds__(block, 1) light_kernel(const __grid_constant__ LightJob job) {
  using Pixel = OwnPixel<channels, regressors>;
  constexpr int coefficients = Pixel::coefficients;
  __shared__ SharedMemory shared;
  const Pixel pixel(job);
  const int number = pixel.ty * side + pixel.tx;
  const float inverse = 1 / static_cast<float>(job.search_radius);

  if (threadIdx.z == 1) {  // whole warps
    float matrix[triangle(coefficients)] = {};
    const auto prepare = [&](const Group& group, RowSums& rows) {
      find_summands<channels>(job, group, number, shared.sums.summands);
      wait_for_second_threads();
      sum_rows(shared.sums.summands, group.count(), number, rows);
    };
    const auto add = [&](const DeviceLight& q, int from, const Displacement& d, const RowSums& rows,
                         int k) {
      const float w = pixel.weigh_guided(rows, k).weight;
      if (!(w > 0)) return;
      const auto terms = pixel.find_terms(q.regressors + from * Pixel::quads, d, inverse);
#pragma unroll
      for (int i = 0; i < coefficients; ++i) {
        const float wg = w * terms.at[i];
#pragma unroll
        for (int j = 0; j <= i; ++j) matrix[triangle(i) + j] += wg * terms.at[j];
      }
    };
    for_candidates(job, pixel.at, shared.sums.rows, prepare, add);
    hand_over<triangle(coefficients)>(matrix, nullptr, shared.matrix, number);
    return;
  }

  const LightAndVariance own(job.source[0].pixels + pixel.at);
  float colour_total = 0;
  LightSums<channels, 1> colour;
  LightSums<channels, coefficients> guided;
  const auto add = [&](const DeviceLight& q, int from, const Displacement& d, const RowSums& rows,
                       int k) {
    const WeightAndSlope<float> c = pixel.weigh_colour(rows, k);
    const WeightAndSlope<float> g = pixel.weigh_guided(rows, k);
    if (!(c.weight > 0 || g.weight > 0)) return;
    const LightAndVariance other(q.pixels + from);
    const auto& uq = other.light.at;
    float ratio[channels];
#pragma unroll
    for (int i = 0; i < channels; ++i)
      ratio[i] = (own.light.at[i] - uq[i]) * inverse_of(own.variance.at[i] + other.variance.at[i]);
    if (c.weight > 0) {
      constexpr float one[1] = {1};
      colour_total += c.weight;
      colour.add(c.weight, c.slope, one, uq, ratio);
    }
    if (g.weight > 0) {
      const auto terms = pixel.find_terms(q.regressors + from * Pixel::quads, d, inverse);
      guided.add(g.weight, g.slope, terms.at, uq, ratio);
    }
  };
  const auto nothing = [](const Group&, RowSums&) {};
  for_candidates(job, pixel.at, shared.sums.rows, nothing, add);
  float matrix[triangle(coefficients)];
  hand_over<triangle(coefficients)>(nullptr, matrix, shared.matrix, number);
  if (!pixel.inside) return;
  float penalty[coefficients];
#pragma unroll
  for (int i = 0; i < coefficients; ++i) penalty[i] = ridge;
#pragma unroll
  for (int r = 0; r < regressors; ++r) penalty[1 + places + r] += __ldg(job.noise[r] + pixel.at);
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(pixel.y) * job.space.width + pixel.x;
  colour.store(&colour_total, penalty, job.colour, to);
  guided.store(matrix, penalty, job.guided, to);
}

dim3 grid_of(const Space& space) {
  return dim3((static_cast<unsigned>(space.width) + side - 1) / side,
              (static_cast<unsigned>(space.height) + side - 1) / side);
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

}  // namespace lull::nlm::cuda
