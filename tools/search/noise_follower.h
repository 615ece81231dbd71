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
#include "tools/search/glance.h"

namespace lull::tools {

/// From which frames the noise is known of which a follower begins.
enum class KnownFrom {
  first_frames,  // those with which the stream begins
  places,        // spread over the stream
};

/// The frames of a source. Each is given a glance; at a cut, where a scene is known to begin, and
/// where a glance says that the noise may be another one, the frames from there on are looked at
/// before the first of them is given: three, and where those do not say that the noise is as it was
/// or was foretold, up to `frames_ahead`, or up to the next cut. What is like the noise of a scene
/// before is taken for that. As the frames alone decide, equal streams give equal scenes.
///
/// Frames around those that are asked for (Frame::context_only), and those in a GPU's memory, are not
/// looked at: there the scenes that are known begin at their times.
class NoiseFollower final : public FrameSource {
 public:
  /// Told of a scene whose noise is another one, before its first frame is given, by the thread
  /// that reads. `foretold`: it is one of those that were known, at its time.
  using Found = std::function<void(const SceneNoise& scene, bool foretold)>;

  /// @param known  scenes, in the order of time; with the first of them the source begins
  NoiseFollower(FrameSource& source, const DenoiseOptions& options, std::vector<SceneNoise> known,
                KnownFrom from, Found found);

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  struct Seen {
    Frame frame;
    bool shown;  // and may be looked at
    Glance glance;
  };

  bool fill(std::size_t count);
  std::size_t frames_of_scene(std::size_t most);
  bool repeats(std::size_t count) const;
  std::vector<Excerpt> excerpts_at(std::size_t count) const;
  std::size_t foretold_by(double time_s);
  void see_next();
  bool is_like(float level, std::size_t scene, bool cut) const;
  std::optional<std::size_t> scene_like(const NoiseEstimate& found) const;
  bool is_worth_a_look() const;
  bool is_as(std::size_t scene, bool cut);
  std::optional<NoiseEstimate> estimate(std::size_t count, bool cut) const;
  void look(bool cut, std::size_t expected);
  void judge(std::size_t count, const NoiseEstimate& found, bool cut, std::size_t expected);
  void go_on_with(std::size_t scene, bool foretold);

  FrameSource& source_;
  const bool fields_;
  const Found found_;
  std::deque<Seen> ahead_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<SceneNoise> known_;  // first those that are foretold, then those that were found
  const std::size_t foretold_;     // how many
  std::size_t due_ = 1;            // the next of them
  std::size_t at_ = 0;             // whose noise the scene at hand has
  bool over_time_;                 // the scene at hand was measured so
  bool is_film_;                   // any scene was
  bool begun_;                     // the frame that comes is known to be of the scene at hand
  std::optional<double> from_s_;   // where that begins
  std::optional<Glance> last_;     // at the frame before
  float quiet_ = 0;                // of Glance, where was looked last
  std::size_t since_ = 0;          // frames since then
  std::size_t patience_;           // until another look without a cut
};

/// Whether that is done of what these options ask for. A volume has one noise, as have frames that
/// become one picture; times of parts that are joined say little.
[[nodiscard]] bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input);

/// Of the frames with which a pipe begins, as many as there are before the first cut.
[[nodiscard]] std::vector<Frame> before_cut(const std::vector<Frame>& frames);

}  // namespace lull::tools
