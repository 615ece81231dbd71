#pragma once
// Slices in GPU memory, in the sample format of frames: inputs, or results before the download.

#include <array>
#include <cstddef>

#include "bm4d/cuda/rings.h"
#include "core/float_range.h"
#include "core/frame.h"
#include "core/round_up.h"
#include "cuda/device_picture.h"
#include "cuda/staging.h"

namespace lull::bm4d::cuda {

/// One plane of all slices, as a kernel argument.
struct StoredPlanes {
  Ring<std::byte> bytes;
  int pitch, width, height;  // pitch in bytes
  SampleType sample;
  double full_scale;
  int max_value;            // maximum of integer samples
  const float* thresholds;  // thresholds of dithering; null: samples are rounded to nearest
  FloatGuard guard;         // used for float samples
};

/// All planes of all slices, in ring buffers.
class StoredSlices {
 public:
  /// `levels` are the noise levels of the stored samples.
  StoredSlices(const FrameFormat& format, const std::array<float, max_planes>& levels, int depth,
               cudaStream_t stream)
      : format_(format), levels_(levels), thresholds_(dither_thresholds(format, stream)) {
    for (int i = 0; i < format.planes(); ++i)
      planes_[i] = {depth, static_cast<std::size_t>(pitch(i)) * format.plane_height(i), stream};
  }

  /// Queues the upload of a slice from host or GPU memory. The slice must stay valid until the
  /// upload is complete.
  void upload(int z, const Frame& slice, cudaStream_t stream) {
    if (slice.on_device) return pictures_.read(*slice.on_device, format_, planes_of(z), stream);
    for (int i = 0; i < format_.planes(); ++i)
      staging_.upload(slice.planes[i], planes_[i].at(z), pitch(i), stream);
  }
  /// Queues a copy from plane `i` of the stored slice `z` to plane `i` of `slice`, which is in host
  /// or GPU memory.
  void download(int z, int i, const Frame& slice, cudaStream_t stream) const {
    const auto& to = slice.planes[i];
    lull::cuda::check(cudaMemcpy2DAsync(to.data, to.stride, planes_[i].at(z), pitch(i), to.width,
                                        to.height, cudaMemcpyDefault, stream));
  }
  /// Queues the conversion of the unfiltered plane `i` of a slice of `noisy` to a result.
  void convert(int z, int i, const StoredSlices& noisy, cudaStream_t stream) const {
    convert_samples(noisy.planes_of(z), i, format_.plane_width(i), format_.plane_height(i),
                    planes_of(z), stream);
  }
  StoredPlanes plane(int i) const {
    return {planes_[i].ring(),       pitch(i),          format_.plane_width(i),
            format_.plane_height(i), format_.sample,    format_.full_scale(i),
            format_.max_value(),     thresholds_.get(), FloatGuard(format_, levels_[i])};
  }

 private:
  int pitch(int i) const {
    constexpr int row_alignment = 64;
    return round_up(format_.plane_width(i) * format_.bytes_per_sample(), row_alignment);
  }
  RawPlanes planes_of(int z) const {
    RawPlanes planes(format_);
    planes.thresholds = thresholds_.get();
    for (int i = 0; i < format_.planes(); ++i)
      planes.data[i] = planes_[i].at(z), planes.pitch[i] = pitch(i);
    return planes;
  }

  FrameFormat format_;
  std::array<float, max_planes> levels_;
  lull::cuda::DeviceBuffer<float> thresholds_;
  std::array<Slices<std::byte>, max_planes> planes_;
  lull::cuda::Staging staging_;
  DevicePictureReader pictures_;
};

}  // namespace lull::bm4d::cuda
