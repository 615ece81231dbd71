// Filters renders on a GPU. A thread block processes 16 x 16 pixels. Each pixel has two threads,
// because the registers of one thread are not sufficient. The first thread sums illumination, and
// the second thread sums the matrix of the linear fit.

// For each group of displacements, a thread block computes in shared memory
//   1. the terms of the distance for the tile and a halo of 3 pixels (22 x 22 pixels),
//   2. the sums of the terms along rows, for two sizes of patches, and
//   3. the weights of the pixels of the tile, from sums along columns.
// Finally, each thread adds the candidates to its sums.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "nlm/features/light_stages.cuh"

namespace lull::nlm::cuda {
namespace {

using namespace light_detail;

/// Weighted sums over the candidates of a pixel. From these sums, the filter fits a linear function
/// to the demodulated illumination. The linear function has `coefficients` coefficients.
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
      slope_light[c] += s * (ratio[c] * uq[c]);
      slope[c] += s * ratio[c];
    }
  }

  /// Fits the linear function (step 3 of formulas.h), and stores the result and its derivative.
  /// Overwrites `matrix`.
  __device__ void store(float* matrix, const float* penalty, const DeviceCandidate& to,
                        std::ptrdiff_t at) const {
    // The function copies the sums, because solve_line() indexes its arrays dynamically, which
    // forces the arrays into local memory. The original sums stay in registers.
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

/// The pixel of a thread, and its position in memory.
template <int channels, int regressors>
struct OwnPixel {
  static constexpr int coefficients = 1 + position_terms + regressors;
  static constexpr int quads = regressor_quads(regressors);
  int tx, ty, x, y;
  bool inside;
  int at;                              // offset in a Space
  float half_less_own[4 * quads + 1];  // (1 - regressors of the pixel) / 2

  __device__ __forceinline__ explicit OwnPixel(const LightJob& job)
      : tx(static_cast<int>(threadIdx.x)),
        ty(static_cast<int>(threadIdx.y)),
        x(static_cast<int>(blockIdx.x) * side + tx),
        y(static_cast<int>(blockIdx.y) * side + ty),
        inside(x < job.space.width && y < job.space.height) {
    // A tile can extend beyond the plane. The threads outside the plane store no result, but help
    // to compute the terms that other threads need. Each of these threads loads the nearest pixel
    // of the plane as its own pixel, to avoid invalid reads.
    const int px = min(x, job.space.width - 1), py = min(y, job.space.height - 1);
    at = (py + job.space.pad) * job.space.pitch + px + job.space.pad;
    load(job.source[0], at, half_less_own);
#pragma unroll
    for (int r = 0; r < 4 * quads; ++r) half_less_own[r] = 0.5f - 0.5f * half_less_own[r];
  }

  /// The vector (1, g) of a candidate for the linear fit (step 3 of formulas.h).
  struct Terms {
    float at[coefficients];
  };
  __device__ __forceinline__ Terms find_terms(const DeviceLight& q, int from,
                                              const DeviceDisplacement& d) const {
    Terms terms;
    terms.at[0] = 1;
    terms.at[1] = d.x;
    terms.at[2] = d.y;
    float its[4 * quads + 1];
    load(q, from, its);
    // Computes clamp(x(q) - x(p), -1, 1) in two instructions, for each regressor x, candidate q and
    // pixel p.
#pragma unroll
    for (int r = 0; r < regressors; ++r)
      terms.at[1 + position_terms + r] = 2 * __saturatef(0.5f * its[r] + half_less_own[r]) - 1;
    return terms;
  }

 private:
  static __device__ __forceinline__ void load(const DeviceLight& from, int at,
                                              float (&to)[4 * quads + 1]) {
#pragma unroll
    for (int i = 0; i < quads; ++i) {
      const float4 quad = __ldg(from.regressors[i] + at);
      to[4 * i] = quad.x, to[4 * i + 1] = quad.y, to[4 * i + 2] = quad.z, to[4 * i + 3] = quad.w;
    }
  }
};

/// Calls add(source, from, d, bases) for each candidate of the pixel at the position `at`. The
/// candidate has the displacement d and the position `from` in the frame `source`. `bases` contains
/// the eighth roots of the weights (base_of() in formulas.h).
template <int channels, class Add>
__device__ __forceinline__ void for_candidates(const LightJob& job, int at, Stages& stages,
                                               Add add) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int number = ty * side + tx, thread = static_cast<int>(threadIdx.z) * pixels + number;
  for (Group group; group.source < job.sources; group.next(job)) {
    const int count = group.count(job);
    find_summands<channels>(job, group, thread, stages);
    wait_for_block();
    sum_rows(count, thread, stages);
    wait_for_block();
    find_bases<channels>(count, tx, ty, stages);
    wait_for_block();
    const DeviceLight q = job.source[group.source];
    const int moved = at + offset_in(q, job);
    DeviceDisplacement next = load(job.displacement + group.first);
#pragma unroll 2
    for (int k = 0; k < count; ++k) {
      const DeviceDisplacement d = next;
      next = load(job.displacement + group.first + k + 1);
      add(q, moved + d.offset, d, stages.bases[k][number]);
    }
    // No barrier is necessary at the end of the loop, because faster warps do not overwrite the
    // data that add() reads.
  }
}

/// Copies values from the second thread of a pixel to the first thread, through shared memory. The
/// first thread passes the destination `to`, and a null pointer as `from`. The second thread passes
/// the source `from`, and a null pointer as `to`.
template <int count>
__device__ __forceinline__ void transfer(const float* from, float* to,
                                         float (&memory)[transfer_size][pixels], int pixel) {
#pragma unroll
  for (int begin = 0; begin < count; begin += transfer_size) {
    wait_for_block();
#pragma unroll
    for (int i = begin; i < count && i < begin + transfer_size; ++i)
      if (from != nullptr) memory[i - begin][pixel] = from[i];
    wait_for_block();
#pragma unroll
    for (int i = begin; i < count && i < begin + transfer_size; ++i)
      if (to != nullptr) to[i] = memory[i - begin][pixel];
  }
}

template <int channels, int regressors>
__global__ void __launch_bounds__(block, 1) light_kernel(const __grid_constant__ LightJob job) {
  using Pixel = OwnPixel<channels, regressors>;
  constexpr int coefficients = Pixel::coefficients;
  extern __shared__ float4 aligned_memory[];
  auto& shared = *reinterpret_cast<SharedMemory*>(aligned_memory);
  const auto colour_slope = static_cast<float>(per_sample(colour_filter, channels));
  const auto guided_slope = static_cast<float>(per_sample(guided_filter, channels));
  const Pixel pixel(job);
  const int number = pixel.ty * side + pixel.tx;

  if (threadIdx.z == 1) {  // all threads of a warp take the same branch
    float matrix[triangle(coefficients)] = {};
    const auto add = [&](const DeviceLight& q, int from, const DeviceDisplacement& d,
                         float2 bases) {
      const auto terms = pixel.find_terms(q, from, d);
      if (!(bases.y > 0)) return;
      const float w = weight_of(bases.y, guided_slope).weight;
#pragma unroll
      for (int i = 0; i < coefficients; ++i) {
        const float wg = w * terms.at[i];
#pragma unroll
        for (int j = 0; j <= i; ++j) matrix[triangle(i) + j] += wg * terms.at[j];
      }
    };
    for_candidates<channels>(job, pixel.at, shared.stages, add);
    transfer<triangle(coefficients)>(matrix, nullptr, shared.matrix, number);
    return;
  }

  const LightAndVariance own(job.source[0], pixel.at);
  float colour_total = 0;
  LightSums<channels, 1> colour;
  LightSums<channels, coefficients> guided;
  const auto add = [&](const DeviceLight& q, int from, const DeviceDisplacement& d, float2 bases) {
    const LightAndVariance other(q, from);
    const auto terms = pixel.find_terms(q, from, d);
    if (!(bases.x > 0 || bases.y > 0)) return;
    const auto& uq = other.light.at;
    float ratio[channels];
#pragma unroll
    for (int i = 0; i < channels; ++i)
      ratio[i] = (own.light.at[i] - uq[i]) * inverse_of(own.variance.at[i] + other.variance.at[i]);
    if (bases.x > 0) {
      const auto c = weight_of(bases.x, colour_slope);
      constexpr float one[1] = {1};
      colour_total += c.weight;
      colour.add(c.weight, c.slope, one, uq, ratio);
    }
    if (bases.y > 0) {
      const auto g = weight_of(bases.y, guided_slope);
      guided.add(g.weight, g.slope, terms.at, uq, ratio);
    }
  };
  for_candidates<channels>(job, pixel.at, shared.stages, add);
  float matrix[triangle(coefficients)];
  transfer<triangle(coefficients)>(nullptr, matrix, shared.matrix, number);
  if (!pixel.inside) return;
  float penalty[coefficients];
#pragma unroll
  for (int i = 0; i < coefficients; ++i) penalty[i] = ridge;
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(pixel.y) * job.space.width + pixel.x;
#pragma unroll
  for (int r = 0; r < regressors; ++r) penalty[1 + position_terms + r] += __ldg(job.noise[r] + to);
  colour.store(&colour_total, penalty, job.colour, to);
  guided.store(matrix, penalty, job.guided, to);
}

dim3 grid_of(const Space& space) {
  return dim3((static_cast<unsigned>(space.width) + side - 1) / side,
              (static_cast<unsigned>(space.height) + side - 1) / side);
}

template <int channels, int regressors>
void launch(const LightJob& job, cudaStream_t stream) {
  constexpr auto kernel = light_kernel<channels, regressors>;
  lull::cuda::allow_shared_memory(kernel);
  kernel<<<grid_of(job.space), threads, sizeof(SharedMemory), stream>>>(job);
  lull::cuda::check(cudaGetLastError());
}

template <int channels>
void launch(const LightJob& job, cudaStream_t stream) {
  switch (job.regressors) {  // the engine pads regressors to one of these numbers
    case 0:
      return launch<channels, 0>(job, stream);
    case 4:  // normal and depth
      return launch<channels, 4>(job, stream);
    case 7:
      return launch<channels, 7>(job, stream);
  }
}

}  // namespace

void filter_light(const LightJob& job, cudaStream_t stream) {
  if (job.channels == 1)
    launch<1>(job, stream);
  else
    launch<3>(job, stream);
}

}  // namespace lull::nlm::cuda
