#include "core/round_up.h"
#include "cuda/device_picture.h"

namespace lull {
namespace {

cudaPitchedPtr pitched(std::byte* data, std::ptrdiff_t stride, PlaneView<const std::byte> size) {
  return {data, static_cast<std::size_t>(stride), static_cast<std::size_t>(size.width),
          static_cast<std::size_t>(size.height)};
}

}  // namespace

void DevicePictureReader::read(const DevicePicture& picture, const FrameFormat& format,
                               const RawPlanes& to, cudaStream_t stream) {
  int device = 0;
  cuda::check(cudaGetDevice(&device));
  {
    const cuda::DeviceScope scope(picture.device);
    if (writer_ != picture.device) written_ = cuda::make_event();
    writer_ = picture.device;
    cuda::check(cudaEventRecord(written_.get(), cudaStreamLegacy));
  }
  cuda::check(cudaStreamWaitEvent(stream, written_.get()));
  const bool here = picture.device == device;
  const DevicePicture local = here ? picture : fetch(picture, device, stream);
  if (format.sample != SampleType::f32) return unpack_picture(local, format, to, stream);
  for (int i = 0; i < format.planes(); ++i)
    cuda::check(cudaMemcpy2DAsync(to.data[i], to.pitch[i], local.planes[i].data,
                                  local.planes[i].stride, local.planes[i].width,
                                  local.planes[i].height, cudaMemcpyDeviceToDevice, stream));
}

/// Copies the picture to `device`. Without peer access, the driver copies through host memory.
DevicePicture DevicePictureReader::fetch(const DevicePicture& picture, int device,
                                         cudaStream_t stream) {
  DevicePicture local = picture;
  local.device = device;
  std::array<std::size_t, max_planes> offset{};
  std::size_t bytes = 0;
  for (int i = 0; i < max_planes; ++i) {
    constexpr std::ptrdiff_t row_alignment = 64;
    local.planes[i].stride = round_up(picture.planes[i].width, row_alignment);
    offset[i] = bytes;
    bytes += static_cast<std::size_t>(local.planes[i].stride) * local.planes[i].height;
  }
  if (copy_.size() < bytes) copy_ = cuda::DeviceBuffer<std::byte>(bytes);
  for (int i = 0; i < max_planes; ++i) {
    const PlaneView<const std::byte>& from = picture.planes[i];
    if (from.empty()) continue;
    local.planes[i].data = copy_.get() + offset[i];
    cudaMemcpy3DPeerParms copy{};
    copy.srcDevice = picture.device;
    copy.srcPtr = pitched(const_cast<std::byte*>(from.data), from.stride, from);
    copy.dstDevice = device;
    copy.dstPtr = pitched(copy_.get() + offset[i], local.planes[i].stride, from);
    copy.extent = {copy.srcPtr.xsize, copy.srcPtr.ysize, 1};
    cuda::check(cudaMemcpy3DPeerAsync(&copy, stream));
  }
  return local;
}

}  // namespace lull
