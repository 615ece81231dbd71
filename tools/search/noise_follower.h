#pragma once
// The noise of a pipe, scene by scene: frames are read ahead where it may change.

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "core/stream.h"
#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/search/glance.h"

namespace lull::tools {

/// The frames of a source. Each is given a glance; at a cut, and where a glance says that the noise
/// may be another one, the frames from there on are looked at before the first of them is given:
/// three, and where those do not say that the noise is as it was, up to `frames_ahead`, or up to
/// the next cut. As the frames alone decide, equal streams give equal scenes.
class NoiseFollower final : public FrameSource {
 public:
  /// Told of a scene whose noise is another one, before its first frame is given, by the thread
  /// that reads.
  using Found = std::function<void(const SceneNoise& scene)>;

  /// @param first  noise of the frames with which the source begins, which were looked at
  NoiseFollower(FrameSource& source, const DenoiseOptions& options, const SceneNoise& first,
                Found found);

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  struct Seen {
    Frame frame;
    Glance glance;
  };

  bool fill(std::size_t count);
  std::size_t frames_of_scene(std::size_t most);
  bool repeats(std::size_t count) const;
  std::vector<Look> looks_at(std::size_t count) const;
  bool is_known(float level, bool cut) const;
  bool is_worth_a_look() const;
  bool is_as_it_was(bool cut);
  std::optional<NoiseEstimate> estimate(std::size_t count, bool cut) const;
  void look(bool cut);

  FrameSource& source_;
  const bool fields_;
  const Found found_;
  std::deque<Seen> ahead_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::optional<Glance> last_;  // at the frame before
  float level_;                 // of luma, in the scene at hand
  bool over_time_;              // measured so
  bool is_film_;                // any scene was
  double from_s_;               // where it begins
  float quiet_ = 0;             // of Glance, where was looked last
  std::size_t since_ = 0;       // frames since then
  std::size_t patience_;        // until another look without a cut
};

/// Whether that is done of what these options ask for, if it comes from a pipe. A volume has one
/// noise, as have frames that become one picture; times of parts that are joined say little.
[[nodiscard]] bool follows_scenes(const DenoiseOptions& options);

/// Of the frames with which a pipe begins, as many as there are before the first cut.
[[nodiscard]] std::vector<Frame> before_cut(const std::vector<Frame>& frames);

}  // namespace lull::tools
