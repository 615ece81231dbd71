#pragma once
// Arrays of Python as planes of frames, and results as arrays.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "core/frame_pool.h"

namespace lull::python {

/// A plane of samples, (height, width), with any strides.
using Samples = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>>;
using WritableSamples = nanobind::ndarray<nanobind::ndim<2>, nanobind::device::cpu>;
using Image = std::vector<Samples>;

/// In the memory of a GPU: address of each plane, and bytes from row to row.
using DevicePlanes = std::vector<std::pair<std::uintptr_t, std::int64_t>>;

/// Planes on GPU `device` as a frame, sharing their memory, which has to stay until the result is
/// out. They were written by work that is done.
[[nodiscard]] Frame device_frame(const DevicePlanes& planes, int device, const FrameFormat& format);

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
  /// The same of a result on a GPU, into that GPU's memory.
  void copy_to_device(const DevicePlanes& planes) const;

 private:
  Frame frame_;
};

}  // namespace lull::python
