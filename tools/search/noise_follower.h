#pragma once
// The noise of a stream, scene by scene: frames are read ahead where it may change.

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/search/quick_check.h"

namespace lull::tools {

/// From which frames the noise is known of which a follower begins.
enum class KnownFrom {
  first_frames,  // those with which the stream begins
  positions,        // spread over the stream
};

/// The frames of a source. Each is given a check; at a cut, where a scene is known to begin, and
/// where a check says that the noise may be another one, the frames from there on are looked at
/// before the first of them is given: three, and where those do not say that the noise is as it was
/// or was is_predicted, up to `frames_ahead`, or up to the next cut. What is like the noise of a scene
/// before is taken for that. As the frames alone decide, equal streams give equal scenes.
///
/// Frames around those that are asked for (Frame::context_only), and those in a GPU's memory, are not
/// looked at: there the scenes that are known begin at their times.
class NoiseFollower final : public FrameSource {
 public:
  /// Told of a scene whose noise is another one, before its first frame is given, by the thread
  /// that reads. `is_predicted`: it is one of those that were known, at its time.
  using OnScene = std::function<void(const SceneNoise& scene, bool is_predicted)>;

  /// @param known  scenes, in the order of time; with the first of them the source begins
  NoiseFollower(FrameSource& source, const DenoiseOptions& options, std::vector<SceneNoise> known,
                KnownFrom from, OnScene on_scene);

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  struct AheadFrame {
    Frame frame;
    bool can_check;  // and may be looked at
    QuickCheck check;
  };

  bool fill(std::size_t count);
  std::size_t frames_of_scene(std::size_t most);
  bool repeats(std::size_t count) const;
  std::vector<Excerpt> excerpts_at(std::size_t count) const;
  std::size_t predicted_at(double time_s);
  void check_next();
  bool is_near_level_of(float level, std::size_t scene, bool cut) const;
  std::optional<std::size_t> find_similar_scene(const NoiseEstimate& found) const;
  bool needs_estimate() const;
  bool has_noise_of(std::size_t scene, bool cut);
  std::optional<NoiseEstimate> estimate(std::size_t count, bool cut) const;
  void update_scene(bool cut, std::size_t expected);
  void choose_scene(std::size_t count, const NoiseEstimate& found, bool cut, std::size_t expected);
  void switch_to(std::size_t scene, bool is_predicted);

  FrameSource& source_;
  const bool fields_;
  const OnScene on_scene_;
  std::deque<AheadFrame> ahead_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<SceneNoise> known_;  // first those that are is_predicted, then those that were found
  const std::size_t predicted_count_;     // how many
  std::size_t next_predicted_ = 1;            // the next of them
  std::size_t scene_ = 0;             // whose noise the scene at hand has
  bool is_temporal_;                 // the scene at hand was measured so
  bool has_temporal_scene_;                   // any scene was
  bool continues_scene_;                     // the frame that comes is known to be of the scene at hand
  std::optional<double> from_s_;   // where that begins
  std::optional<QuickCheck> last_check_;     // at the frame before
  float checked_flat_noise_ = 0;                // of QuickCheck, where was looked last
  std::size_t frames_since_check_ = 0;          // frames since then
  std::size_t check_interval_;           // until another look without a cut
};

/// Whether that is done of what these options ask for. A volume has one noise, as have frames that
/// become one picture; times of parts that are joined say little.
[[nodiscard]] bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input);

/// Of the frames with which a pipe begins, as many as there are before the first cut.
[[nodiscard]] std::vector<Frame> first_scene_of(const std::vector<Frame>& frames);

}  // namespace lull::tools
