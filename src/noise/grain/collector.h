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

/// Frames in which the grain is measured: the first frame of a scene, every `step`th of its first
/// `dense` frames, and every `sparse_step`th frame after these.
struct GrainSampling {
  int step = 4;
  int dense = 96;
  int sparse_step = 8;
};

/// Noise of a clip from a point in time on, from another source than the removed noise.
struct KnownNoise {
  double from_s = 0;  // begin in seconds, as Frame::pts
  // Noise of Y, Cb and Cr; empty: it is measured in the removed noise.
  std::optional<NoiseEstimate> noise;
};

/// Reads a clip once, in order, and divides it into scenes: at cuts, where luma changes more than
/// typically, and where the level of the grain changes by more than 15 %. Scenes last at least a
/// second. The table depends on the frames alone, and not on how far observe() is ahead of add().
class GrainCollector {
 public:
  explicit GrainCollector(const FrameFormat& format, const GrainSampling& sampling = {});

  /// Reads the next frame of the clip, whose samples must be in host memory. Returns true if the
  /// frame will be measured: then the caller must later call add() for it.
  [[nodiscard]] bool observe(const Frame& noisy);
  /// Adds a frame for which observe() returned true, and its result. Frames must be added in order.
  void add(const Frame& noisy, const Frame& denoised);
  /// Returns the table after all frames were added. Times are relative to the first frame.
  /// @param known  with increasing times; empty: the grain is the removed noise
  [[nodiscard]] GrainTable finish(const std::vector<KnownNoise>& known = {});

 private:
  struct Scene {
    std::int64_t first_pts = 0, start = 0;  // `start`: in the table's unit, between two frames
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
  std::deque<Scene> upcoming_;  // scenes that add() has not reached
  // The following members are the state of add().
  Scene scene_;
  GrainStatistics scene_statistics_;
  std::int64_t measured_ = 0;  // measured frames of the scene
  struct MeasuredScene {
    Scene scene;
    GrainStatistics statistics;
  };
  // A frame whose level deviates. The next frame decides whether a scene begins there.
  std::optional<MeasuredScene> deviating_;
  // A scene is written after all scenes with the same noise were measured.
  std::vector<MeasuredScene> closed_;
  GrainTable table_;
};

}  // namespace lull
