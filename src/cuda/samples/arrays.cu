// Converts array elements to samples and back.

// The kernels compute in double precision and round each step as numpy does on the host
// (python/lull/_values.py), so that results are equal bit for bit.

#include <cuda_fp16.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/error.h"
#include "cuda/handles.h"
#include "cuda/samples/arrays.h"
#include "cuda/warp.cuh"

namespace lull::cuda {
namespace {

constexpr dim3 block{32, 8};

/// Source planes and destination planes of one kernel launch.
struct PlanePairs {
  std::array<ArrayPlane, 3> from{}, to{};
  std::array<int, 3> width{}, height{};
};

/// Conversion of samples to array elements: low + sample * span. If `plain` is true, elements and
/// samples are equal.
struct Scale {
  bool plain;
  double low, span;
  explicit Scale(const ArrayPicture& array)
      : plain(array.low == 0 && array.span == 1), low(array.low), span(array.span) {}
};

ArrayPlane plane_of(PlaneView<const std::byte> plane, const FrameFormat& format) {
  return {const_cast<std::byte*>(plane.data), plane.stride, format.bytes_per_sample()};
}

/// Position of an array element in a picture.
struct Place {
  int x, y, plane;
};
__device__ Place own_place() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), static_cast<int>(blockIdx.z)};
}
__device__ bool holds(const PlanePairs& pairs, Place p) {
  return p.x < pairs.width[p.plane] && p.y < pairs.height[p.plane];
}
template <class Number>
__device__ Number& number_at(const std::array<ArrayPlane, 3>& planes, Place p) {
  const ArrayPlane& plane = planes[p.plane];
  return *reinterpret_cast<Number*>(plane.data + p.y * plane.row + p.x * plane.number);
}

template <class Number>
constexpr bool is_half = std::is_same_v<Number, __half>;

template <class Number>
__device__ double as_double(Number v) {
  if constexpr (is_half<Number>)
    return __half2float(v);
  else
    return static_cast<double>(v);
}

template <class Number>
__device__ float to_sample(Number v, const Scale& scale) {
  if (scale.plain) {
    if constexpr (is_half<Number>)
      return __half2float(v);
    else
      return static_cast<float>(v);
  }
  constexpr double reach = 0.5;  // must equal the tolerance in python/lull/_values.py
  const double at = (as_double(v) - scale.low) / scale.span;
  return at >= -reach && at <= 1 + reach ? static_cast<float>(at) : nanf("");
}

template <class Number>
__device__ Number to_number(float sample, const Scale& scale) {
  // The intrinsics prevent the compiler from fusing the product and the sum into a multiply-add.
  const double found = __dadd_rn(__dmul_rn(sample, scale.span), scale.low);
  if constexpr (is_half<Number>) {
    return __double2half(found);
  } else if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<Number>(found);
  } else {
    constexpr Number least = std::numeric_limits<Number>::min();
    constexpr Number most = std::numeric_limits<Number>::max();
    const double whole = rint(found);
    if (whole >= static_cast<double>(most)) return most;
    return whole > static_cast<double>(least) ? static_cast<Number>(whole) : least;
  }
}

template <class Number>
__global__ void copy_kernel(const PlanePairs pairs) {
  const Place p = own_place();
  if (holds(pairs, p)) number_at<Number>(pairs.to, p) = number_at<Number>(pairs.from, p);
}

template <class Number>
__global__ void to_samples_kernel(const PlanePairs pairs, const Scale scale) {
  const Place p = own_place();
  if (holds(pairs, p))
    number_at<float>(pairs.to, p) = to_sample(number_at<Number>(pairs.from, p), scale);
}

template <class Number>
__global__ void to_numbers_kernel(const PlanePairs pairs, const std::array<ArrayPlane, 3> originals,
                                  const Scale scale) {
  const Place p = own_place();
  if (!holds(pairs, p)) return;
  const float sample = number_at<float>(pairs.from, p);
  const Number original = number_at<Number>(originals, p);
  const bool same = isnan(sample) || sample == to_sample(original, scale);
  number_at<Number>(pairs.to, p) = same ? original : to_number<Number>(sample, scale);
}

/// Calls `work` with a value of the C++ type that corresponds to `type`.
template <class Work>
void with_number(NumberType type, Work work) {
  switch (type) {
    case NumberType::u8:
      return work(std::uint8_t{});
    case NumberType::i8:
      return work(std::int8_t{});
    case NumberType::u16:
      return work(std::uint16_t{});
    case NumberType::i16:
      return work(std::int16_t{});
    case NumberType::u32:
      return work(std::uint32_t{});
    case NumberType::i32:
      return work(std::int32_t{});
    case NumberType::u64:
      return work(std::uint64_t{});
    case NumberType::i64:
      return work(std::int64_t{});
    case NumberType::f16:
      return work(__half{});
    case NumberType::f32:
      return work(float{});
    case NumberType::f64:
      return work(double{});
  }
}

dim3 blocks_for(const FrameFormat& format) {
  return dim3((format.width + block.x - 1) / block.x, (format.height + block.y - 1) / block.y,
              format.planes());
}

void wait() {
  check(cudaGetLastError());
  check(cudaStreamSynchronize(cudaStreamPerThread));
}

void copy_samples(const PlanePairs& pairs, const FrameFormat& format) {
  const auto kernel = format.sample == SampleType::u8    ? copy_kernel<std::uint8_t>
                      : format.sample == SampleType::u16 ? copy_kernel<std::uint16_t>
                                                         : copy_kernel<std::uint32_t>;
  kernel<<<blocks_for(format), block, 0, cudaStreamPerThread>>>(pairs);
  wait();
}

PlanePairs sized(const FrameFormat& format) {
  PlanePairs pairs;
  for (int i = 0; i < format.planes(); ++i) {
    pairs.width[i] = format.plane_width(i);
    pairs.height[i] = format.plane_height(i);
  }
  return pairs;
}

/// Checks that the samples are floats.
/// @throws InvalidArgument
void check_floats(const FrameFormat& format) {
  if (format.sample != SampleType::f32)
    throw InvalidArgument(
        "an array whose elements are not samples of the session (only float sessions convert "
        "elements); convert the array");
}

}  // namespace

void array_to_samples(const ArrayPicture& from, const FrameFormat& format, const DevicePlanes& to) {
  const DeviceScope scope(from.device);
  PlanePairs pairs = sized(format);
  pairs.from = from.planes;
  for (int i = 0; i < format.planes(); ++i) pairs.to[i] = plane_of(to[i], format);
  if (from.has_samples(format.sample)) return copy_samples(pairs, format);
  check_floats(format);
  with_number(from.type, [&]<class Number>(Number) {
    to_samples_kernel<Number>
        <<<blocks_for(format), block, 0, cudaStreamPerThread>>>(pairs, Scale(from));
  });
  wait();
}

void samples_to_array(const DevicePicture& result, const FrameFormat& format,
                      const ArrayPicture& original, const ArrayPicture& to) {
  const DeviceScope scope(result.device);
  PlanePairs pairs = sized(format);
  for (int i = 0; i < format.planes(); ++i) pairs.from[i] = plane_of(result.planes[i], format);
  pairs.to = to.planes;
  if (to.has_samples(format.sample)) return copy_samples(pairs, format);
  check_floats(format);
  with_number(to.type, [&]<class Number>(Number) {
    to_numbers_kernel<Number>
        <<<blocks_for(format), block, 0, cudaStreamPerThread>>>(pairs, original.planes, Scale(to));
  });
  wait();
}

namespace {

constexpr int threads = 256;  // threads of a block that copies contiguous elements

int blocks_of(std::int64_t numbers) {
  // Maximum number of thread blocks. For longer arrays, each thread processes several elements.
  constexpr std::int64_t most = 4096;
  return static_cast<int>(std::min((numbers + threads - 1) / threads, most));
}

__device__ std::ptrdiff_t offset_of(const NumberGrid& grid, std::int64_t i) {
  std::ptrdiff_t offset = 0;
  for (int axis = NumberGrid::max_axes - 1; axis >= 0; --axis) {
    const std::int64_t length = grid.length[axis];
    if (length == 1) continue;
    offset += i % length * grid.stride[axis];
    i /= length;
  }
  return offset;
}

template <class Number>
__global__ void gather_kernel(const NumberGrid from, std::int64_t count, std::int64_t step,
                              Number* to) {
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < count;
       i += std::int64_t{threads} * gridDim.x)
    to[i] = *reinterpret_cast<const Number*>(from.data + offset_of(from, i * step));
}

__global__ void max_kernel(const NumberGrid numbers, std::int64_t count, unsigned* greatest) {
  unsigned own = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < count;
       i += std::int64_t{threads} * gridDim.x)
    own = max(own, static_cast<unsigned>(*reinterpret_cast<const std::uint16_t*>(
                       numbers.data + offset_of(numbers, i))));
  own = ~warp_min(~own);
  if (threadIdx.x % 32 == 0) atomicMax(greatest, own);
}

}  // namespace

void gather(const NumberGrid& from, int bytes, std::int64_t step, void* to, int device) {
  const DeviceScope scope(device);
  const std::int64_t count = (from.size() + step - 1) / step;
  const auto launch = [&]<class Number>(Number) {
    gather_kernel<Number><<<blocks_of(count), threads, 0, cudaStreamPerThread>>>(
        from, count, step, static_cast<Number*>(to));
  };
  if (bytes == 1) launch(std::uint8_t{});
  if (bytes == 2) launch(std::uint16_t{});
  if (bytes == 4) launch(std::uint32_t{});
  if (bytes == 8) launch(std::uint64_t{});
  wait();
}

int max_u16(const NumberGrid& numbers, int device) {
  const DeviceScope scope(device);
  const DeviceBuffer<unsigned> greatest(1);
  check(cudaMemsetAsync(greatest.get(), 0, greatest.bytes(), cudaStreamPerThread));
  const std::int64_t count = numbers.size();
  max_kernel<<<blocks_of(count), threads, 0, cudaStreamPerThread>>>(numbers, count, greatest.get());
  check(cudaGetLastError());
  unsigned found = 0;
  check(cudaMemcpyAsync(&found, greatest.get(), sizeof(found), cudaMemcpyDeviceToHost,
                        cudaStreamPerThread));
  check(cudaStreamSynchronize(cudaStreamPerThread));
  return static_cast<int>(found);
}

}  // namespace lull::cuda
