// Kernels for the variance stabilisation of slices, with one thread per sample. Memory bandwidth
// limits the speed of the kernels. If the compilers generate no fused multiply-add instructions,
// results are bit-identical to the results of the host.

#include <cstdint>
#include <type_traits>

#include "core/samples.h"
#include "cuda/check.h"
#include "noise/volume/cuda/kernels.h"

namespace lull::cuda {
namespace {

constexpr dim3 block{32, 8};  // threads of a block
dim3 blocks_for(const FrameFormat& format) {
  return dim3((format.width + block.x - 1) / block.x, (format.height + block.y - 1) / block.y);
}

struct Root {
  __host__ __device__ float operator()(float v) const { return sqrtf(v); }
};

/// Conversion factors between stored samples and the 0..255 scale.
struct Scale {
  int width, height;
  float to_255, from_255, full_scale;
  explicit Scale(const FrameFormat& format)
      : width(format.width),
        height(format.height),
        to_255(to_unit_255(format)),
        from_255(static_cast<float>(format.full_scale()) / 255.0f),
        full_scale(static_cast<float>(format.full_scale())) {}
};

template <class Sample, class Byte>
__device__ auto& sample_at(PlaneView<Byte> plane, int x, int y) {
  using Seen = std::conditional_t<std::is_const_v<Byte>, const Sample, Sample>;
  return reinterpret_cast<Seen*>(plane.row(y))[x];
}

__device__ float level_at(const SampleVst& samples, const float* level, int width, int x, int y) {
  return level == nullptr ? samples.sigma : level[static_cast<std::size_t>(y) * width + x];
}

template <class Sample>
__global__ void stabilise_kernel(const SliceBytes noisy, const Scale scale, const SampleVst samples,
                                 const float* level, const PlaneView<std::byte> stabilised) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= scale.width || y >= scale.height) return;
  const float v = static_cast<float>(sample_at<Sample>(noisy, x, y)) * scale.to_255;
  sample_at<float>(stabilised, x, y) =
      samples.stabilise(v, level_at(samples, level, scale.width, x, y), Root{});
}

template <class Sample>
__global__ void invert_kernel(const SliceBytes noisy, const SliceBytes stabilised,
                              const SliceBytes filtered, const Scale scale, const SampleVst samples,
                              const float* level, const PlaneView<std::byte> clean) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= scale.width || y >= scale.height) return;
  const float result = sample_at<float>(filtered, x, y);
  Sample& to = sample_at<Sample>(clean, x, y);
  if (__float_as_uint(result) == __float_as_uint(sample_at<float>(stabilised, x, y))) {
    to = sample_at<Sample>(noisy, x, y);
    return;
  }
  const float back = samples.invert(result, level_at(samples, level, scale.width, x, y), Root{});
  to = as_sample<Sample>(back * scale.from_255, scale.full_scale);
}

template <class Work>
void with_sample(SampleType sample, Work work) {
  if (sample == SampleType::u8) return work(std::uint8_t{});
  if (sample == SampleType::u16) return work(std::uint16_t{});
  work(float{});
}

}  // namespace

void stabilise_slice(SliceBytes noisy, const FrameFormat& format, const SampleVst& samples,
                     const float* level, PlaneView<std::byte> stabilised, cudaStream_t stream) {
  with_sample(format.sample, [&]<class Sample>(Sample) {
    stabilise_kernel<Sample><<<blocks_for(format), block, 0, stream>>>(noisy, Scale(format),
                                                                       samples, level, stabilised);
  });
  check(cudaGetLastError());
}

void invert_slice(SliceBytes noisy, SliceBytes stabilised, SliceBytes filtered,
                  const FrameFormat& format, const SampleVst& samples, const float* level,
                  PlaneView<std::byte> clean, cudaStream_t stream) {
  with_sample(format.sample, [&]<class Sample>(Sample) {
    invert_kernel<Sample><<<blocks_for(format), block, 0, stream>>>(
        noisy, stabilised, filtered, Scale(format), samples, level, clean);
  });
  check(cudaGetLastError());
}

}  // namespace lull::cuda
