#pragma once
// The grain table of a clip, from its frames before and after denoising.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/estimate/estimate.h"
#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Of which frames the grain is measured: of a scene's first one, of every `step`th of its first
/// `dense` ones, and of every `sparse_step`th behind them.
struct GrainSampling {
  int step = 4;
  int dense = 96;
  int sparse_step = 8;
};

/// The noise of a clip from a time on, measured otherwise than by what denoising takes away.
struct KnownNoise {
  double from_s = 0;                   // of Frame::pts
  std::optional<NoiseEstimate> noise;  // of Y, Cb and Cr; nothing: what is taken away says it
};

/// Sees a clip once, in order, and divides it into scenes: at cuts, where luma changes more than
/// it is wont to, and where the grain's level does by over 15 %. Scenes last a second at least. The
/// table depends on the frames alone, and not on how far see() is ahead of add().
class GrainCollector {
 public:
  explicit GrainCollector(const FrameFormat& format, const GrainSampling& sampling = {});

  /// Takes notice of the clip's next frame, whose samples are in the host's memory. Says whether
  /// its result is of use: then add() has to follow at some time.
  [[nodiscard]] bool see(const Frame& noisy);
  /// A frame that is of use, in order, and its result.
  void add(const Frame& noisy, const Frame& denoised);
  /// The table, once all frames are in. Times count from the first one.
  /// @param known  rising in time; empty: the grain is what was taken away
  [[nodiscard]] GrainTable finish(const std::vector<KnownNoise>& known = {});

 private:
  struct Scene {
    std::int64_t first_pts = 0, start = 0;  // start: in the table's unit, between two frames
    double first_s = 0;                     // first_pts in seconds
  };

  std::int64_t time_of(std::int64_t pts, const Frame& frame) const;
  bool cuts(const Frame& noisy);
  void close();
  void write(const Scene& scene, std::optional<GrainParams> grain);
  void write_closed(const std::vector<KnownNoise>& known);
  double level_change(const GrainStatistics& frame) const;
  void begin(const Scene& scene);

  FrameFormat format_;
  GrainSampling sampling_;
  // see()
  std::int64_t first_pts_ = 0, previous_pts_ = 0, end_ = 0;
  std::int64_t seen_ = 0, since_cut_ = 0, cut_start_ = 0;
  std::vector<int> coarse_;  // luma of the frame before
  double usual_change_ = 0;
  std::deque<Scene> ahead_;  // scenes that add() has not come to
  // add()
  Scene scene_;
  GrainStatistics scene_statistics_;
  std::int64_t measured_ = 0;  // frames of the scene
  struct MeasuredScene {
    Scene scene;
    GrainStatistics statistics;
  };
  std::optional<MeasuredScene> doubt_;  // a frame whose level differs: the next one decides
  // Scenes wait for all others with the same noise.
  std::vector<MeasuredScene> closed_;
  GrainTable table_;
};

}  // namespace lull
