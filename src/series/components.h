#pragma once
// Computes the components of a series. The components are volumes with white noise, which a filter
// for white noise can denoise.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/frame_pool.h"
#include "core/stream.h"
#include "series/fit.h"
#include "series/residual_fit.h"
#include "series/samples/samples.h"

namespace lull::series {

/// Computes the signal components of a series, with white noise of standard deviation 1. The
/// function predicts missing samples, and sets the components to NaN in voxels without noise.
/// @param components  memory for fit.basis.components() volumes; may be the memory of `samples`;
///     the components then overwrite the first volumes
void project(const Samples& samples, const Fit& fit, const Samples& components);

/// Returns the first volumes of `samples`, as memory for the components. project() may overwrite
/// these volumes with the components.
[[nodiscard]] Samples components_in_place(const Samples& samples, const Fit& fit);

/// The components `first` to `end` - 1, which share the factor `scale`. The input of the filter is
/// m + scale * component, where m is the middle of the filter range (core/float_range.h).
struct ComponentGroup {
  int first = 0, end = 0;
  float scale = 1;
};

/// Groups successive components with equal scale factors. A large factor improves the accuracy in
/// half precision. The factor is therefore the largest power of two, at most 16, for which the
/// scaled component fits in the filter range (core/float_range.h).
[[nodiscard]] std::vector<ComponentGroup> group_components(const Samples& components);

[[nodiscard]] FrameFormat component_format(const Shape& shape);

/// Returns the slices of a group of components, volume after volume. The mask of a slice contains
/// the voxels with noise.
class ComponentSource final : public FrameSource {
 public:
  ComponentSource(const Samples& components, const Fit& fit, const ComponentGroup& group);

  const FrameFormat& format() const noexcept override { return pool_.format(); }
  /// Returns the total number of components in all groups of the series.
  int components() const { return components_.shape.volumes; }
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
  /// @param residuals  receives the components of all groups, in order, and corrects each complete
  ///     component; null: no correction. Must outlive the sink.
  ComponentSink(const Samples& components, const ComponentGroup& group, ResidualFit* residuals)
      : components_(components), group_(group), residuals_(residuals) {}

  void write(Frame frame) override;
  void finish() override {}

 private:
  Samples components_;
  ComponentGroup group_;
  ResidualFit* residuals_;
  std::vector<float> filtered_;  // the values of a slice
  std::int64_t next_ = 0;
};

}  // namespace lull::series
