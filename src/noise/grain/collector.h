#pragma once
// Collects the grain table of a clip from its frames before and after denoising.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Determines in which frames of a scene the grain is measured: in every `step`th frame, beginning
/// with the first, and after the first `dense` frames in every `sparse_step`th frame.
struct GrainSampling {
  int step = 4;
  int dense = 96;
  int sparse_step = 8;
};

/// Noise of a clip that is known from another source than the denoised frames. It applies from the
/// time `from_s` on.
struct KnownNoise {
  double from_s = 0;  // begin in seconds, on the time axis of Frame::pts
  // Noise of Y, Cb and Cr; empty: the noise is measured as the difference between the noisy and the
  // denoised frames.
  std::optional<NoiseEstimate> noise;
};

/// Reads a clip once, in order, and divides it into scenes. A new scene begins at a cut, which is
/// an unusual change of luma. A new scene also begins where the level of the grain changes by more
/// than 15 %. Scenes last at least a second. The grain table depends only on the frames, and not on
/// how many frames observe() is ahead of add().
class GrainCollector {
 public:
  explicit GrainCollector(const FrameFormat& format, const GrainSampling& sampling = {});

  /// Reads the next frame of the clip, whose samples must be in host memory. Returns true if the
  /// grain of this frame must be measured. In this case, the caller must also call add() for the
  /// frame when the frame has been filtered.
  [[nodiscard]] bool observe(const Frame& noisy);
  /// Adds a frame for which observe() returned true, and the denoised frame. Frames must be added
  /// in order.
  void add(const Frame& noisy, const Frame& denoised);
  /// Returns the grain table. The caller must call this function after all frames were added. Times
  /// are relative to the first frame.
  /// @param known  entries with increasing times; if empty, the grain imitates the removed noise
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
  // The following members are the state of observe().
  std::int64_t first_pts_ = 0, previous_pts_ = 0, end_ = 0;
  std::int64_t seen_ = 0, since_cut_ = 0, cut_start_ = 0;
  std::vector<int> coarse_;  // cell means of the previous frame
  double typical_change_ = 0;
  std::deque<Scene> upcoming_;  // scenes whose first frame add() has not reached
  // The following members are the state of add().
  Scene scene_;
  GrainStatistics scene_statistics_;
  std::int64_t measured_ = 0;  // measured frames of the scene
  struct MeasuredScene {
    Scene scene;
    GrainStatistics statistics;
  };
  // A frame whose grain level deviates from its scene. The next frame decides whether a new scene
  // begins at this frame.
  std::optional<MeasuredScene> deviating_;
  // Scenes whose measurement is complete. The collector writes these scenes to the table after the
  // measurement of all scenes with the same known noise.
  std::vector<MeasuredScene> closed_;
  GrainTable table_;
};

}  // namespace lull
