#include "bm3d/cuda_phases.h"
#include "bm3d/raw_frame.h"

namespace lull::bm3d {

RawFrame::RawFrame(const FrameFormat& format, cudaStream_t stream) : format_(format) {
  planes_.sample = format.sample;
  planes_.full_scale = format.full_scale();
  for (int i = 0; i < format.planes(); ++i) {
    constexpr int row_alignment = 64;
    planes_.pitch[i] = (format.plane_width(i) * format.bytes_per_sample() + row_alignment - 1) /
                       row_alignment * row_alignment;
    memory_[i] = zeroed<std::byte>(  // padding is read too, four samples at a time
        static_cast<std::size_t>(planes_.pitch[i]) * format.plane_height(i), stream);
    planes_.data[i] = memory_[i].get();
  }
}

void RawFrame::bring(const Frame& frame, cudaStream_t stream) {
  if (frame.on_device) return device_pictures_.read(*frame.on_device, format_, planes_, stream);
  for (int i = 0; i < format_.planes(); ++i) {
    const auto& plane = frame.planes[i];
    cuda::check(cudaMemcpy2DAsync(memory_[i].get(), planes_.pitch[i], plane.data, plane.stride,
                                  plane.width, plane.height, cudaMemcpyHostToDevice, stream));
  }
}

void RawFrame::take(int i, const Frame& frame, cudaStream_t stream) const {
  const auto& to = frame.planes[i];
  cuda::check(cudaMemcpy2DAsync(to.data, to.stride, memory_[i].get(), planes_.pitch[i], to.width,
                                to.height, cudaMemcpyDeviceToHost, stream));
}

void RawFrame::to_planes(const std::array<const Margins*, max_planes>& margins,
                         const std::array<float*, max_planes>& planes, cudaStream_t stream) const {
  if (format_.layout == Layout::rgb)
    return samples_to_planes(planes_, 0, 3, Colour::opponent, *margins[0], planes, stream);
  for (int i = 0; i < format_.planes(); ++i)
    samples_to_planes(planes_, i, 1, Colour::as_is, *margins[i], {planes[i]}, stream);
}

void RawFrame::from_plane(int i, const Margins& margins, const float* plane, cudaStream_t stream) {
  planes_to_samples({plane}, i, 1, Colour::as_is, margins, planes_, stream);
}

void RawFrame::from_opponents(const Margins& margins, const Planes& planes, cudaStream_t stream) {
  planes_to_samples(planes, 0, 3, Colour::opponent, margins, planes_, stream);
}

}  // namespace lull::bm3d
