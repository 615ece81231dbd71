#include "series/components.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/float_range.h"
#include "core/slices.h"

namespace lull::series {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float max_scale = 16;
/// The sample that represents the component value 0 in the input of a filter.
constexpr float middle = (filter_range_min + filter_range_max) / 2;

/// Computes the components of a series for one voxel at a time.
class VoxelProjector {
 public:
  VoxelProjector(const Samples& samples, const Fit& fit, const Stabiliser& stabiliser)
      : samples_(samples),
        basis_(fit.basis),
        stabiliser_(stabiliser),
        noisy_(basis_.size()),
        predicted_(basis_.size()),
        components_(basis_.components()) {}

  const std::vector<double>& project(std::size_t voxel, VoxelState state) {
    for (int i = 0; i < basis_.size(); ++i) {
      const int v = basis_.volumes()[i];
      noisy_[i] = stabiliser_.forward(v, voxel, samples_.volume(v)[voxel]);
    }
    if (state == VoxelState::partial) fill_missing();
    basis_.project(noisy_.data(), components_.data());
    return components_;
  }

 private:
  /// Predicts the missing samples of a voxel iteratively: computes the components from all samples,
  /// and then the missing samples from the components.
  void fill_missing() {
    constexpr int steps = 30;
    std::vector<int> missing;
    double offset = 0;  // mean difference of the known samples from the volume means
    for (int i = 0; i < basis_.size(); ++i)
      if (std::isnan(noisy_[i]))
        missing.push_back(i);
      else
        offset += noisy_[i] - basis_.mean(i);
    offset /= std::max(basis_.size() - static_cast<int>(missing.size()), 1);
    for (const int i : missing) noisy_[i] = basis_.mean(i) + offset;
    for (int step = 0; step < steps; ++step) {
      basis_.project(noisy_.data(), components_.data());
      basis_.reconstruct(components_.data(), predicted_.data());
      for (const int i : missing) noisy_[i] = predicted_[i];
    }
  }

  const Samples& samples_;
  const Basis& basis_;
  const Stabiliser& stabiliser_;
  std::vector<double> noisy_, predicted_, components_;
};

/// Returns the largest absolute value of a component.
float magnitude_of(const float* values, std::size_t count) {
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::abs(values[i]) > largest) largest = std::abs(values[i]);
  return largest;
}

/// Returns the scale factor for components with absolute values up to `magnitude`. The factor is
/// the largest power of two, at most `max_scale`, for which the scaled components fit in the filter
/// range (core/float_range.h).
float scale_for(float magnitude) {
  float scale = max_scale;
  while (scale * magnitude > filter_range_max - middle) scale /= 2;
  return scale;
}

}  // namespace

Samples components_in_place(const Samples& samples, const Fit& fit) {
  Samples components = samples;
  components.shape.volumes = fit.basis.components();
  return components;
}

void project(const Samples& samples, const Fit& fit, const Samples& result) {
  const Stabiliser stabiliser(fit.noise, samples.shape);
  constexpr std::size_t grain = 1024;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, samples.shape.voxels(), grain), [&](const auto& part) {
        VoxelProjector projector(samples, fit, stabiliser);
        for (std::size_t voxel = part.begin(); voxel < part.end(); ++voxel) {
          if (fit.states[voxel] == VoxelState::constant) {
            for (int k = 0; k < fit.basis.components(); ++k) result.volume(k)[voxel] = nan;
            continue;
          }
          const std::vector<double>& components = projector.project(voxel, fit.states[voxel]);
          for (int k = 0; k < fit.basis.components(); ++k)
            result.volume(k)[voxel] = static_cast<float>(components[k]);
        }
      });
}

std::vector<ComponentGroup> group_components(const Samples& components) {
  std::vector<ComponentGroup> groups;
  for (int k = 0; k < components.shape.volumes; ++k) {
    const float scale = scale_for(magnitude_of(components.volume(k), components.shape.voxels()));
    if (groups.empty() || groups.back().scale != scale) groups.push_back({k, k, scale});
    groups.back().end = k + 1;
  }
  return groups;
}

FrameFormat component_format(const Shape& shape) {
  FrameFormat format;
  format.width = shape.width;
  format.height = shape.height;
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 255;
  return format;
}

ComponentSource::ComponentSource(const Samples& components, const Fit& fit,
                                 const ComponentGroup& group)
    : components_(components), group_(group), pool_(component_format(components.shape)) {
  const Shape& shape = components.shape;
  for (int z = 0; z < shape.slices; ++z) {
    std::vector<bool> inside(shape.slice_voxels());
    for (std::size_t i = 0; i < inside.size(); ++i)
      inside[i] = fit.states[z * shape.slice_voxels() + i] != VoxelState::constant;
    masks_.push_back(
        std::make_shared<SliceMask>(shape.width, shape.height, std::move(inside), false));
  }
}

std::optional<Frame> ComponentSource::read() {
  const Shape& shape = components_.shape;
  if (next_ == static_cast<std::int64_t>(group_.end - group_.first) * shape.slices)
    return std::nullopt;
  const int z = static_cast<int>(next_ % shape.slices);
  const float* from = components_.volume(group_.first + static_cast<int>(next_ / shape.slices)) +
                      z * shape.slice_voxels();
  Frame frame = pool_.acquire();
  const PlaneView<float> to = frame.plane<float>(0);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) to(x, y) = middle + group_.scale * *from++;
  frame.pts = next_++;
  frame.duration = 1;
  frame.time_base = {1, 1};
  frame.slice = z;
  frame.mask = masks_[z];
  return frame;
}

void ComponentSink::write(Frame frame) {
  const Shape& shape = components_.shape;
  const int z = static_cast<int>(next_ % shape.slices);
  const int k = group_.first + static_cast<int>(next_ / shape.slices);
  filtered_.resize(shape.slice_voxels());
  const PlaneView<float> from = frame.plane<float>(0);
  auto to = filtered_.begin();
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) *to++ = (from(x, y) - middle) / group_.scale;
  if (residuals_ != nullptr) residuals_->add(k, z, filtered_.data());
  std::ranges::copy(filtered_, components_.volume(k) + z * shape.slice_voxels());
  if (residuals_ != nullptr && z + 1 == shape.slices) residuals_->finish(k);
  ++next_;
}

}  // namespace lull::series
