#pragma once
// Arrays of Python as planes of frames, and results as arrays.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/frame_pool.h"

namespace lull::python {

/// A plane of samples, (height, width), with any strides.
using Samples = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>>;
using WritableSamples = nanobind::ndarray<nanobind::ndim<2>, nanobind::device::cpu>;
using Image = std::vector<Samples>;

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

 private:
  Frame frame_;
};

}  // namespace lull::python
