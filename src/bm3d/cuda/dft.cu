// The kernels before and after cuFFT: they copy the patches of the groups, filter the spectra of
// each group, and add the estimates to the sums.

// A slice is a range of consecutive groups of a batch (dft_cuda.h). Each group has space for
// `capacity` patches.

#include "bm3d/cuda/dft_cuda.h"
#include "bm3d/cuda/filter/filter.cuh"
#include "bm3d/cuda/filter/patch_offsets.cuh"
#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "match/group.h"

namespace lull::bm3d {
namespace {

constexpr int patch_area = patch * patch;
constexpr int spectrum_threads = 128;

// Copies the patches of groups, with one thread block per group and one thread per sample of a
// patch.
__global__ void gather_kernel(const FilterArgs a, int first, const float* plane, float* patches) {
  const int reference = first + blockIdx.x, sample = threadIdx.x;
  const int count = 1 << a.groups.log2_filtered(reference);
  float* group = patches + static_cast<std::size_t>(blockIdx.x) * a.groups.capacity * patch_area;
  for (int k = threadIdx.y; k < count; k += blockDim.y)
    group[k * patch_area + sample] =
        plane[patch_offset(a, reference, k) + sample / patch * a.margins.pitch + sample % patch];
}

/// The spectra of one group in shared memory, as an array [patch][coefficient].
using Spectra = cufftComplex[max_group][spectrum_size];

__device__ void butterfly(cufftComplex& a, cufftComplex& b) {
  constexpr float h = 0.70710678f;
  const cufftComplex u = a, v = b;
  a = {(u.x + v.x) * h, (u.y + v.y) * h};
  b = {(u.x - v.x) * h, (u.y - v.y) * h};
}

/// Transforms the spectra across the group in place. In a Haar transform, coefficient 0 is the
/// scaled sum of all members. Each coefficient k > 0 is the scaled difference of two adjacent
/// ranges of members, and member k is the first member of the second range.
__device__ void transform_group(Spectra& spectra, int count, GroupTransform kind, bool inverse) {
  const int pairs = count / 2;
  const int first = inverse && kind == GroupTransform::haar ? count / 2 : 1;
  for (int distance = first; distance >= 1 && distance < count;
       distance = inverse && kind == GroupTransform::haar ? distance / 2 : distance * 2) {
    const int used = kind == GroupTransform::haar ? count / (2 * distance) : pairs;
    for (int i = threadIdx.x; i < used * spectrum_size; i += spectrum_threads) {
      const int p = i / spectrum_size, coefficient = i % spectrum_size;
      const int a = kind == GroupTransform::haar ? p * 2 * distance
                                                 : p / distance * 2 * distance + p % distance;
      butterfly(spectra[a][coefficient], spectra[a + distance][coefficient]);
    }
    __syncthreads();
  }
}

__device__ float block_sum(float value) {
  __shared__ float partial[spectrum_threads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (const float part : partial) sum += part;
  return sum;
}

__device__ void load_spectra(const cufftComplex* from, int count, Spectra& to) {
  for (int i = threadIdx.x; i < count * spectrum_size; i += spectrum_threads) {
    // cuFFT does not normalise; the factor 1/8 makes the transform orthonormal.
    const cufftComplex c = from[i];
    to[i / spectrum_size][i % spectrum_size] = {c.x / patch, c.y / patch};
  }
  __syncthreads();
}

// Filters the spectra of groups, with one thread block per group. The kernel counts columns 1..3 of
// the half spectrum twice, because each of their coefficients represents two coefficients of the
// full spectrum.
__global__ void __launch_bounds__(spectrum_threads)
    spectra_kernel(const FilterArgs a, int first, GroupTransform kind, float sigma,
                   Strength strength, const cufftComplex* basic, cufftComplex* spectra,
                   float* weights) {
  __shared__ Spectra group;
  __shared__ float factors[max_group][spectrum_size];
  const int count = 1 << a.groups.log2_filtered(first + static_cast<int>(blockIdx.x));
  const std::size_t start =
      static_cast<std::size_t>(blockIdx.x) * a.groups.capacity * spectrum_size;
  const auto multiplicity = [](int coefficient) {
    const int column = coefficient % spectrum_columns;
    return column == 0 || column == spectrum_columns - 1 ? 1.0f : 2.0f;
  };

  float energy = 0;
  load_spectra((basic != nullptr ? basic : spectra) + start, count, group);
  transform_group(group, count, kind, false);
  for (int i = threadIdx.x; i < count * spectrum_size; i += spectrum_threads) {
    const cufftComplex c = group[i / spectrum_size][i % spectrum_size];
    const float power = c.x * c.x + c.y * c.y;
    const float limit = strength.value * sigma * (i < spectrum_size ? strength.mean_factor : 1.0f);
    const float factor = i == 0             ? 1.0f
                         : basic != nullptr ? power / (power + strength.value * sigma * sigma)
                                            : (power > limit * limit ? 1.0f : 0.0f);
    factors[i / spectrum_size][i % spectrum_size] = factor;
    energy += factor * factor * multiplicity(i % spectrum_size);
  }
  const float total = block_sum(energy);
  if (basic != nullptr) {
    load_spectra(spectra + start, count, group);
    transform_group(group, count, kind, false);
  }
  for (int i = threadIdx.x; i < count * spectrum_size; i += spectrum_threads) {
    cufftComplex& c = group[i / spectrum_size][i % spectrum_size];
    const float factor = factors[i / spectrum_size][i % spectrum_size];
    c = {c.x * factor, c.y * factor};
  }
  __syncthreads();
  transform_group(group, count, kind, true);
  for (int i = threadIdx.x; i < count * spectrum_size; i += spectrum_threads) {
    const cufftComplex c = group[i / spectrum_size][i % spectrum_size];
    spectra[start + i] = {c.x / patch, c.y / patch};
  }
  if (threadIdx.x == 0) weights[blockIdx.x] = 1.0f / total;
}

__global__ void scatter_kernel(const FilterArgs a, int first, Sums sums, const float* patches,
                               const float* weights) {
  const int reference = first + blockIdx.x, sample = threadIdx.x;
  if (!is_on_grid(a, reference)) return;
  const int count = 1 << a.groups.log2_filtered(reference);
  const float* group =
      patches + static_cast<std::size_t>(blockIdx.x) * a.groups.capacity * patch_area;
  const int fixed_weight = static_cast<int>(weights[blockIdx.x] * weight_scale + 0.5f);
  const float window = a.window[sample / patch] * a.window[sample % patch];
  const float scale = static_cast<float>(fixed_weight) / weight_scale * window * value_scale;
  for (int k = threadIdx.y; k < count; k += blockDim.y) {
    const std::ptrdiff_t place = patch_offset(a, reference, k);
    const float value = (group[k * patch_area + sample] - mid_level) * scale;
    atomicAdd(&sums.numerator[place + sample / patch * a.margins.pitch + sample % patch],
              static_cast<unsigned long long>(static_cast<long long>(rintf(value))));
    if (sample == 0) atomicAdd(&sums.denominator[place], static_cast<std::uint32_t>(fixed_weight));
  }
}

constexpr dim3 patch_block{patch_area, 4};

}  // namespace

void gather_patches(const float* plane, const FilterArgs& args, const Slice& slice, float* patches,
                    cudaStream_t stream) {
  gather_kernel<<<slice.count, patch_block, 0, stream>>>(args, slice.first, plane, patches);
  cuda::check(cudaGetLastError());
}

void filter_spectra(const FilterArgs& args, const Slice& slice, GroupTransform group_transform,
                    float sigma, const Strength& strength, const cufftComplex* basic,
                    cufftComplex* spectra, float* weights, cudaStream_t stream) {
  spectra_kernel<<<slice.count, spectrum_threads, 0, stream>>>(
      args, slice.first, group_transform, sigma, strength, basic, spectra, weights);
  cuda::check(cudaGetLastError());
}

void scatter_patches(const FilterArgs& args, const Slice& slice, const Sums& sums,
                     const float* patches, const float* weights, cudaStream_t stream) {
  scatter_kernel<<<slice.count, patch_block, 0, stream>>>(args, slice.first, sums, patches,
                                                          weights);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
