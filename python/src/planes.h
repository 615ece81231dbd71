#pragma once
// Arrays of Python as planes of frames, and results as arrays.

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

/// A plane of samples, (height, width), with any strides.
using Samples = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>>;
using WritableSamples = nanobind::ndarray<nanobind::ndim<2>, nanobind::device::cpu>;
using Image = std::vector<Samples>;

/// In the memory of a GPU: address of a plane, bytes from row to row, and from number to number.
using DevicePlane = std::tuple<std::uintptr_t, std::int64_t, std::int64_t>;
/// `typestr`: as of numpy's array interface, "<f4" say. @throws InvalidArgument
[[nodiscard]] cuda::ArrayPicture device_image(int device, const std::string& typestr, double low,
                                              double span, const std::vector<DevicePlane>& planes);

/// Frames of one format in the memory of GPUs.
class DeviceFrames {
 public:
  explicit DeviceFrames(const FrameFormat& format) : format_(format) {}
  /// The image as a frame. It shares the memory of rows of samples, which has to stay until the
  /// result is out; others are copied, as all are with `copy`. @throws InvalidArgument
  [[nodiscard]] Frame frame_of(const cuda::ArrayPicture& image, bool copy);

 private:
  FrameFormat format_;
  std::map<int, FramePool> pools_;  // by device
};

/// @throws InvalidArgument  planes that do not have this format
void check_planes(const Image& planes, const FrameFormat& format);

/// The planes as a frame of `pool`'s format. It shares the memory of rows of samples that follow
/// each other, and keeps their arrays alive; others are copied, as all are with `copy`. Called
/// without the interpreter's lock.
[[nodiscard]] Frame frame_of(const Image& planes, FramePool& pool, bool copy);

/// A finished frame.
class Result {
 public:
  explicit Result(Frame frame) : frame_(std::move(frame)) {}
  const Frame& frame() const { return frame_; }
  /// Writes the samples into arrays of the frame's type. Called without the interpreter's lock.
  void copy_to(const std::vector<WritableSamples>& planes) const;
  /// The same of a result on a GPU, into that GPU's memory: as numbers of an image of the kind that
  /// it was.
  void copy_to_device(const cuda::ArrayPicture& to, const cuda::ArrayPicture& original) const;

 private:
  Frame frame_;
};

}  // namespace lull::python
