// Converts a decoded picture to planes of samples: separates Cb and Cr, and shifts samples to the
// low bits. Each thread converts one luma sample or one pair of chroma samples.

#include "cuda/check.h"
#include "cuda/device_planes.h"

namespace lull {
namespace {

template <class Sample>
__device__ const Sample* row_of(const DevicePicture& picture, int plane, int y) {
  return reinterpret_cast<const Sample*>(picture.planes[plane].row(y));
}

template <class Sample>
__device__ Sample* row_of(const RawPlanes& raw, int plane, int y) {
  return reinterpret_cast<Sample*>(static_cast<std::byte*>(raw.data[plane]) +
                                   static_cast<std::size_t>(y) * raw.pitch[plane]);
}

// Unpacks the planes of a picture. blockIdx.z is 0 for the first plane, and 1 for both chroma
// planes.
template <class Sample>
__global__ void unpack_kernel(const DevicePicture picture, int chroma_width, int chroma_height,
                              const RawPlanes raw) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int shift = picture.shift;
  if (blockIdx.z == 0) {
    if (x >= picture.planes[0].width / static_cast<int>(sizeof(Sample)) ||
        y >= picture.planes[0].height)
      return;
    row_of<Sample>(raw, 0, y)[x] = row_of<Sample>(picture, 0, y)[x] >> shift;
    return;
  }
  if (x >= chroma_width || y >= chroma_height) return;
  const bool pairs = picture.interleaved();
  for (int i = 1; i < max_planes; ++i) {
    const Sample v =
        pairs ? row_of<Sample>(picture, 1, y)[2 * x + i - 1] : row_of<Sample>(picture, i, y)[x];
    row_of<Sample>(raw, i, y)[x] = v >> shift;
  }
}

}  // namespace

void unpack_picture(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
                    cudaStream_t stream) {
  const dim3 block{32, 8};
  const dim3 grid((format.width + block.x - 1) / block.x, (format.height + block.y - 1) / block.y,
                  format.planes() > 1 ? 2 : 1);
  const auto kernel =
      format.sample == SampleType::u8 ? unpack_kernel<std::uint8_t> : unpack_kernel<std::uint16_t>;
  kernel<<<grid, block, 0, stream>>>(picture, format.plane_width(1), format.plane_height(1), to);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
