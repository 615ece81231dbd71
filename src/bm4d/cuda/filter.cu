// The generic filter of groups, for parameters and GPUs that filter_tile.cu does not support. A
// warp stores a group in registers. A lane holds two voxels of each cube. These voxels have the
// same x and y, and their z positions differ by 2.

// The bits of a lane index are the position of the lane's voxels in a cube: bits 0 and 1 are x,
// bits 2 and 3 are y, and bit 4 is the lowest bit of z.

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"

namespace lull::bm4d::cuda {
namespace {

constexpr int warps = 4, threads = 32 * warps;
constexpr unsigned all_lanes = 0xffffffffu;
constexpr float half_root = 0.70710678f;

/// One row of the transform matrix, or of its inverse, for each axis. A lane combines its own
/// values with values of other lanes.
class LaneTransform {
 public:
  __device__ LaneTransform(const FilterPlan& plan, int lane, bool inverse) {
    const auto row = [&](int k, int i) { return inverse ? plan.rows[i][k] : plan.rows[k][i]; };
    const int x = lane & 3, y = lane >> 2 & 3, z = lane >> 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      x_[j] = row(x, x ^ j);
      y_[j] = row(y, y ^ j);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      z_[h][0] = row(z + 2 * h, z);
      z_[h][1] = row(z + 2 * h, z + 2);
      z_[h][2] = row(z + 2 * h, z ^ 1);
      z_[h][3] = row(z + 2 * h, (z ^ 1) + 2);
    }
  }

  __device__ __forceinline__ void apply(float (&v)[2]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      v[h] = along(v[h], x_, 1);
      v[h] = along(v[h], y_, 4);
    }
    const float p = __shfl_xor_sync(all_lanes, v[0], 16), q = __shfl_xor_sync(all_lanes, v[1], 16);
    const float low = z_[0][0] * v[0] + z_[0][1] * v[1] + z_[0][2] * p + z_[0][3] * q;
    v[1] = z_[1][0] * v[0] + z_[1][1] * v[1] + z_[1][2] * p + z_[1][3] * q;
    v[0] = low;
  }

 private:
  __device__ static __forceinline__ float along(float v, const float (&row)[4], int stride) {
    float sum = row[0] * v;
#pragma unroll
    for (int j = 1; j < 4; ++j) sum += row[j] * __shfl_xor_sync(all_lanes, v, j * stride);
    return sum;
  }

  float x_[4], y_[4], z_[2][4];
};

/// One level of the Haar transform, on values whose indices differ by `step`.
template <int step, int most>
__device__ __forceinline__ void haar_level(float (&v)[most][2]) {
#pragma unroll
  for (int k = 0; k < most; k += 2 * step)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float a = v[k][h], b = v[k + step][h];
      v[k][h] = half_root * (a + b);
      v[k + step][h] = half_root * (a - b);
    }
}
/// Haar transform of the first `count` values. All other values become 0. The first result is the
/// mean.
template <int step, int most>
__device__ __forceinline__ void haar(float (&v)[most][2], int count) {
  if constexpr (step < most) {
    if (step < count) haar_level<step>(v);
    haar<2 * step>(v, count);
  }
}
template <int step, int most>
__device__ __forceinline__ void inverse_haar(float (&v)[most][2], int count) {
  if constexpr (step >= 1) {
    if (step < count) haar_level<step>(v);
    inverse_haar<step / 2>(v, count);
  }
}

struct Volumes {
  Ring<float> noisy, basic;
  VolumeSums sums;
};

/// Filters a group of `count` cubes in a warp.
/// @param most  an upper bound of `count`; array elements for the cubes `count` to `most` - 1 are 0
/// @param member  in lane m, the position of the first voxel of cube m
template <bool wiener, int most>
class WarpGroup {
 public:
  __device__ WarpGroup(const FilterPlan& plan, const Volumes& volumes, const Margins& margins,
                       int3 member, int count)
      : plan_(plan),
        volumes_(volumes),
        margins_(margins),
        member_(member),
        count_(count),
        lane_(threadIdx.x % 32) {
    x_ = lane_ & 3, y_ = lane_ >> 2 & 3, z_ = lane_ >> 4;
  }

  __device__ void run() {
    float noisy[most][2];
    const float total = wiener ? filter(noisy) : threshold(noisy);
    // The kernel rounds the weight to a multiple of the unit of the sums of weights. As a result,
    // the sums of estimates and the sums of weights contain equal weights.
    const float weight = rintf(weight_unit / total) / weight_unit;
    inverse_haar<most / 2>(noisy, count_);
    const LaneTransform inverse(plan_, lane_, true);
    float share[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      share[h] = weight * plan_.window[x_] * plan_.window[y_] * plan_.window[z_ + 2 * h];
#pragma unroll
    for (int m = 0; m < most; ++m) {
      if (m >= count_) break;
      inverse.apply(noisy[m]);
      const int3 at = member(m);
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if (is_in(h)) {
          const long long part =
              __float2ll_rn(share[h] * (noisy[m][h] - estimate_centre) * estimate_unit);
          atomicAdd(volumes_.sums.numerator.at(at.z + z_ + 2 * h) + place(at),
                    static_cast<Sum>(part));
        }
    }
    if (lane_ < count_)
      atomicAdd(volumes_.sums.weights.at(member_.z) + margins_.at(member_.x, member_.y),
                static_cast<std::uint32_t>(__float2int_rn(weight * weight_unit)));
  }

 private:
  __device__ bool is_in(int h) const {
    return x_ < plan_.cube && y_ < plan_.cube && z_ + 2 * h < plan_.cube;
  }
  __device__ int3 member(int m) const {
    return make_int3(__shfl_sync(all_lanes, member_.x, m), __shfl_sync(all_lanes, member_.y, m),
                     __shfl_sync(all_lanes, member_.z, m));
  }
  __device__ int place(int3 at) const { return margins_.at(at.x + x_, at.y + y_); }

  __device__ void load(const Ring<float>& volume, float (&v)[most][2]) const {
    const LaneTransform forward(plan_, lane_, false);
#pragma unroll
    for (int m = 0; m < most; ++m) {
      v[m][0] = v[m][1] = 0;
      if (m >= count_) continue;
      const int3 at = member(m);
#pragma unroll
      for (int h = 0; h < 2; ++h)
        v[m][h] = is_in(h) ? volume.at(at.z + z_ + 2 * h)[place(at)] : 0.0f;
      forward.apply(v[m]);
    }
    haar<1>(v, count_);
  }

  /// Returns whether element [m][h] of this lane is the overall mean of the group.
  __device__ bool is_mean(int m, int h) const { return m == 0 && h == 0 && lane_ == 0; }

  __device__ float threshold(float (&noisy)[most][2]) const {
    load(volumes_.noisy, noisy);
    int kept = 0;
#pragma unroll
    for (int m = 0; m < most; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const bool keep =
            is_mean(m, h) || fabsf(noisy[m][h]) > (m == 0 ? plan_.limit_mean : plan_.limit);
        if (!keep) noisy[m][h] = 0;
        kept += keep ? 1 : 0;
      }
    for (int step = 16; step > 0; step /= 2) kept += __shfl_xor_sync(all_lanes, kept, step);
    return static_cast<float>(kept);
  }

  __device__ float filter(float (&noisy)[most][2]) const {
    float factor[most][2];
    load(volumes_.basic, factor);
    float energy = 0;
#pragma unroll
    for (int m = 0; m < most; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float noise = m == 0 ? plan_.limit_mean : plan_.limit;
        const float power = factor[m][h] * factor[m][h];
        // If the noise power is 0, the kernel sets the Wiener factor to 1, because the formula
        // could give 0 / 0.
        const bool whole = is_mean(m, h) || noise == 0;
        factor[m][h] = !is_in(h) || m >= count_ ? 0.0f : whole ? 1.0f : power / (power + noise);
        energy += factor[m][h] * factor[m][h];
      }
    for (int step = 16; step > 0; step /= 2) energy += __shfl_xor_sync(all_lanes, energy, step);
    load(volumes_.noisy, noisy);
#pragma unroll
    for (int m = 0; m < most; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) noisy[m][h] *= factor[m][h];
    return energy;
  }

  const FilterPlan& plan_;
  const Volumes& volumes_;
  const Margins& margins_;
  int3 member_;
  int count_, lane_, x_, y_, z_;
};

/// The generic filter kernel, for groups of up to `most` members.
template <bool wiener, int most>
__global__ void __launch_bounds__(threads)
    filter_kernel(const __grid_constant__ FilterPlan plan, const __grid_constant__ Volumes volumes,
                  const __grid_constant__ Margins margins, ReferenceCubes cubes,
                  const std::uint32_t* groups) {
  const int cube = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (cube >= cubes.count()) return;
  const PhaseParams& p = cubes.params;
  const int in_layer = cube % (cubes.columns * cubes.rows);
  const int x = min(in_layer % cubes.columns * p.step, margins.width - p.cube);
  const int y = min(in_layer / cubes.columns * p.step, margins.height - p.cube);
  const int z = cubes.z + cube / (cubes.columns * cubes.rows) * p.step;
  const std::uint32_t* const group = groups + static_cast<std::size_t>(cube) * p.group;
  const int count = static_cast<int>(group[0] >> 24);
  // The upper byte of group[0] is the number of members. The displacement of the reference cube is
  // 0.
  const std::uint32_t offset = lane > 0 && lane < count ? group[lane] : 0;
  const int3 member = make_int3(x + offset_x(offset), y + offset_y(offset), z + offset_z(offset));
  WarpGroup<wiener, most>(plan, volumes, margins, member, count).run();
}

}  // namespace

void detail::filter_groups_generic(const FilterPlan& plan, const Ring<float>& noisy,
                                   const Ring<float>& basic, const Margins& margins,
                                   const ReferenceCubes& cubes, const std::uint32_t* groups,
                                   const VolumeSums& sums, cudaStream_t stream) {
  const int blocks = (cubes.count() + warps - 1) / warps;
  auto* kernel = plan.wiener ? filter_kernel<true, 16> : filter_kernel<false, 16>;
  if (cubes.params.group == 32)
    kernel = plan.wiener ? filter_kernel<true, 32> : filter_kernel<false, 32>;
  kernel<<<blocks, threads, 0, stream>>>(plan, {noisy, basic, sums}, margins, cubes, groups);
  lull::cuda::check(cudaGetLastError());
}

void filter_groups(const FilterPlan& plan, const Ring<float>& noisy, const Ring<float>& basic,
                   const Margins& margins, const ReferenceCubes& cubes, const std::uint32_t* groups,
                   const VolumeSums& sums, cudaStream_t stream) {
  if (!detail::filter_groups_in_tiles(plan, noisy, basic, margins, cubes, groups, sums, stream))
    detail::filter_groups_generic(plan, noisy, basic, margins, cubes, groups, sums, stream);
}

}  // namespace lull::bm4d::cuda
