#pragma once
// Converts between Python arrays and planes of frames.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "core/frame_pool.h"
#include "cuda/samples/arrays.h"

namespace lull::python {

/// A plane of samples with the shape (height, width) and arbitrary strides.
using Samples = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>>;
using WritableSamples = nanobind::ndarray<nanobind::ndim<2>, nanobind::device::cpu>;
using Image = std::vector<Samples>;

/// A plane in GPU memory: address, row stride in bytes, sample stride in bytes.
using DevicePlane = std::tuple<std::uintptr_t, std::int64_t, std::int64_t>;
/// Returns an image in GPU memory. `typestr` is a type string of numpy, for example "<f4".
/// @throws InvalidArgument
[[nodiscard]] cuda::ArrayPicture device_image(int device, const std::string& typestr, double low,
                                              double span, const std::vector<DevicePlane>& planes);

/// Creates frames of one format in the memory of GPUs.
class DeviceFrames {
 public:
  explicit DeviceFrames(const FrameFormat& format) : format_(format) {}
  /// Returns a copy of the image if `copy` is true or the rows are not contiguous, and otherwise a
  /// view. The image must outlive the view.
  /// @throws InvalidArgument
  [[nodiscard]] Frame frame_of(const cuda::ArrayPicture& image, bool copy);

 private:
  FrameFormat format_;
  std::map<int, FramePool> pools_;  // by device
};

/// @throws InvalidArgument  the planes do not have the format of the frames
void check_planes(const Image& planes, const FrameFormat& format);

/// Returns a copy of the planes if `copy` is true or the rows are not contiguous, and otherwise a
/// view. A view keeps the Python arrays alive. The caller must not hold the GIL.
[[nodiscard]] Frame frame_of(const Image& planes, FramePool& pool, bool copy);

/// A frame that a session has returned.
class Result {
 public:
  explicit Result(Frame frame) : frame_(std::move(frame)) {}
  const Frame& frame() const { return frame_; }
  /// Copies the samples into arrays of the frame's sample type. The caller must not hold the GIL.
  void copy_to(const std::vector<WritableSamples>& planes) const;
  /// Copies a result into the image `to` on the same GPU. Samples that the filter did not change
  /// come from the input image `original`, which has the element type of `to`.
  void copy_to_device(const cuda::ArrayPicture& to, const cuda::ArrayPicture& original) const;

 private:
  Frame frame_;
};

}  // namespace lull::python
