#pragma once
// The samples, guides and results of one frame, for linear combinations of patches.

#include <array>
#include <memory>
#include <vector>

#include "bm3d/params.h"
#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "linear/engine.h"
#include "linear/plan.h"
#include "linear/schedule.h"
#include "noise/filtered_samples.h"
#include "noise/holes.h"

namespace lull::bm3d {

/// A picture of floats, padded at the end of each row (linear::readable_padding).
class LinearPicture {
 public:
  LinearPicture() = default;
  LinearPicture(int width, int height)
      : plane_(width + linear::readable_padding, height), width_(width) {}

  PlaneView<float> view() {
    PlaneView<float> view = plane_.view();
    view.width = width_;
    return view;
  }

 private:
  Plane<float> plane_;
  int width_ = 0;
};

/// The pictures of the colour channels of a frame (linear/params.h): noisy y, current estimate x,
/// and partly denoised z. Unfiltered channels have only y.
struct LinearPictures {
  std::array<LinearPicture, 3> y, x, z;
  std::array<LinearPicture, 3> frame_guide;  // Frame::guide, only in guided sessions
  LinearPicture guide;                       // only if a set has a composite guide
  std::shared_ptr<const Holes> holes;        // holes of the frame; null: no holes
  bool guarded = false;  // the filter input has replaced samples (float_guard.h)
};

/// Converts frames to pictures and back, for sessions with and without temporal filtering.
class LinearFrames {
 public:
  LinearFrames(const Params& params, const FrameFormat& format, const ResultSamples& results);

  const NoiseModel& noise() const { return noise_; }  // planes as they are filtered
  const std::array<float, 3>& levels() const { return samples_.levels(); }
  const std::vector<linear::SetPlan>& sets() const { return sets_; }

  [[nodiscard]] LinearPictures make_pictures() const;
  /// Loads the samples of a frame as the noisy pictures y, its holes, and in guided sessions its
  /// guide.
  /// @throws InvalidArgument  the guide is missing, or the guide or the holes do not fit the frame
  void load(const Frame& frame, LinearPictures& pictures) const;
  [[nodiscard]] linear::PlaneState state(LinearPictures& pictures, int plane) const;
  /// Returns the guide of the planes in `set`, which guided sessions make from Frame::guide.
  /// @param source  the pictures from which all other sessions make the guide: noisy pictures y,
  ///     estimates x, or partly denoised pictures z
  /// @param earlier_are_finished  if true, the function ignores `source` for filtered planes
  ///     outside `set`, and takes these planes from the estimates x
  [[nodiscard]] PlaneView<const float> guide(const PlaneSet& set, linear::Source source,
                                             bool earlier_are_finished,
                                             LinearPictures& pictures) const;
  /// Makes the result of the frame `noisy` from the estimates x.
  [[nodiscard]] Frame store(const Frame& noisy, LinearPictures& pictures);

 private:
  LinearPicture picture_of(int i) const {
    return {format_.plane_width(i), format_.plane_height(i)};
  }
  bool is_filtered(int i) const;

  Params params_;
  FrameFormat format_;
  NoiseModel noise_;
  std::vector<linear::SetPlan> sets_;
  FilteredSamples samples_;
  FramePool pool_;
};

}  // namespace lull::bm3d
