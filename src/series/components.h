#pragma once
// The components of a series as volumes: computed from the samples, and streamed through a filter
// of white noise.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/frame_pool.h"
#include "core/stream.h"
#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Computes the components of `fit`: volume k of `components` is component k. The noise of a
/// component is white with standard deviation 1. Missing samples of a voxel are replaced by values
/// that the components predict from the other samples. Voxels that show no noise become NaN.
/// @param components  has fit.basis.components() volumes; it may begin at the samples, whose first
///     volumes are then replaced
void project(const Samples& samples, const Fit& fit, const Samples& components);

/// Returns the view of the first volumes of the samples as components of `fit`.
[[nodiscard]] Samples components_in_place(const Samples& samples, const Fit& fit);

/// Consecutive components with one scale: a sample is the middle of the range of filters
/// (core/float_range.h) plus scale x component. The standard deviation of its noise is `scale`.
struct ComponentGroup {
  int first = 0, end = 0;
  float scale = 1;
};

/// Divides the components into groups. Scales are powers of two, as large as the range allows, so
/// that filters in half precision lose little.
[[nodiscard]] std::vector<ComponentGroup> group_components(const Samples& components);

/// Returns the format of slices of components.
[[nodiscard]] FrameFormat component_format(const Shape& shape);

/// Returns the slices of the components of a group, volume after volume. A slice has a mask of the
/// voxels that show noise.
class ComponentSource final : public FrameSource {
 public:
  ComponentSource(const Samples& components, const Fit& fit, const ComponentGroup& group);

  const FrameFormat& format() const noexcept override { return pool_.format(); }
  std::optional<Frame> read() override;

 private:
  Samples components_;
  ComponentGroup group_;
  FramePool pool_;
  std::vector<std::shared_ptr<const SliceMask>> masks_;  // mask of each slice
  std::int64_t next_ = 0;
};

/// Replaces the noisy slices of a group by the filtered slices.
class ComponentSink final : public FrameSink {
 public:
  ComponentSink(const Samples& components, const ComponentGroup& group)
      : components_(components), group_(group) {}

  void write(Frame frame) override;
  void finish() override {}

 private:
  Samples components_;
  ComponentGroup group_;
  std::int64_t next_ = 0;
};

}  // namespace lull::series
