#pragma once
// Computes the film grain table of a clip from its frames before and after denoising.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Selects the frames of a scene in which the collector measures the grain: every `step`th of the
/// first `dense` frames, and every `sparse_step`th of the following frames.
struct GrainSampling {
  int step = 4;
  int dense = 96;
  int sparse_step = 8;
};

/// The known noise of a clip from the time `from_s` on, for example an estimate. The grain imitates
/// the known noise instead of the noise that the filter removed.
struct KnownNoise {
  double from_s = 0;  // begin in seconds, on the time axis of Frame::pts
  // Noise of Y, Cb and Cr. If the member is empty, the grain imitates the removed noise: the
  // difference between the noisy and the denoised frames.
  std::optional<NoiseEstimate> noise;
};

/// Reads a clip once, in order, and divides it into scenes of at least a second. A new scene begins
/// at a cut (an unusual change of luma), or where the grain level changes by more than 15 %. The
/// caller may pass any number of frames to observe() before it passes them to add().
class GrainCollector {
 public:
  explicit GrainCollector(const FrameFormat& format, const GrainSampling& sampling = {});

  /// Reads the next frame of the clip, in host memory. Returns whether the caller must call add()
  /// after it has filtered this frame. add() then measures the grain.
  [[nodiscard]] bool observe(const Frame& noisy);
  /// Measures the grain of a frame for which observe() returned true. The caller must add frames in
  /// order.
  void add(const Frame& noisy, const Frame& denoised);
  /// Returns the grain table of the clip, after the last call of add(). Times in the table are
  /// relative to the first frame.
  /// @param known  known noise of successive parts of the clip, in ascending order of
  ///     KnownNoise::from_s; if empty, the grain imitates the removed noise
  [[nodiscard]] GrainTable finish(const std::vector<KnownNoise>& known = {});

 private:
  struct Scene {
    std::int64_t first_pts = 0, start = 0;  // `start`: between two frames, in the unit of the table
    double first_s = 0;                     // `first_pts` in seconds
  };

  std::int64_t time_of(std::int64_t pts, const Frame& frame) const;
  bool is_cut(const Frame& noisy);
  void close();
  void write(const Scene& scene, std::optional<GrainParams> grain);
  void write_closed(const std::vector<KnownNoise>& known);
  double level_change(const GrainStatistics& frame) const;
  void begin(const Scene& scene);

  FrameFormat format_;
  GrainSampling sampling_;
  // State of observe().
  std::int64_t first_pts_ = 0, previous_pts_ = 0, end_ = 0;
  std::int64_t seen_ = 0, since_cut_ = 0, cut_start_ = 0;
  std::vector<int> coarse_;  // cell means of the previous frame
  double typical_change_ = 0;
  std::deque<Scene> upcoming_;  // scenes whose first frame add() has not reached
  // State of add().
  Scene scene_;
  GrainStatistics scene_statistics_;
  std::int64_t measured_ = 0;  // measured frames of the scene
  struct MeasuredScene {
    Scene scene;
    GrainStatistics statistics;
  };
  // The previous frame, if its grain level differs from the level of the current scene. If the
  // level of the next frame also differs, a new scene begins at the previous frame.
  std::optional<MeasuredScene> deviating_;
  // Measured scenes that are not in the table yet. Scenes with the same known noise get a common
  // fit.
  std::vector<MeasuredScene> closed_;
  GrainTable table_;
};

}  // namespace lull
