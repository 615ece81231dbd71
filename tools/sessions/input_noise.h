#pragma once
// The noise of the input of a run, and what its frames are filtered with for it.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/open_denoiser.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// It is stated or found before the first frame is denoised. What is found is followed from scene
/// to scene along the frames.
class InputNoise {
 public:
  /// Told of a scene whose noise is another one, before its first frame is given, by the thread
  /// that reads.
  using OnScene = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` outlive it. `info` is told what was found, later by the thread that reads.
  InputNoise(const DenoiseOptions& options, Notify info)
      : options_(options), info_(std::move(info)) {}

  /// Finds it. A pipe, which gives its frames once, is looked at behind its sink, which has to be
  /// open before the first frame is read: `open_sink` opens it.
  /// @throws whatever reading and `open_sink` throw; InvalidArgument
  void find(io::MediaSource& source, const std::function<void()>& open_sink);

  /// What was known before the first frame.
  const NoiseRecord& known() const { return known_; }
  /// The scenes up to the last frame that was read. (Where they are not followed, all that are
  /// known. One that is at once followed by another, at its own time, has no frame.)
  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }

  /// The frames of `source`, which has the input's; those first that find() read of it. Of a pipe
  /// once.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(FrameSource& source, const io::VideoInfo& input,
                                                    OnScene on_scene);
  /// All frames were read: what was found is what is known when they are read again.
  void keep_scenes(const io::VideoInfo& input);

 private:
  void estimate_depth_noise(io::MediaSource& source, const std::function<void()>& open_sink);
  void read_ahead(io::MediaSource& source, std::size_t frames,
                  const std::function<void()>& open_sink);
  NoiseRecord noise_of_pipe(const io::VideoInfo& input) const;
  void start_scene(const SceneNoise& scene, bool is_predicted, const io::VideoInfo& input,
                   const OnScene& on_scene);

  const DenoiseOptions& options_;
  Notify info_;
  NoiseRecord known_, record_;
  ClipPlan plan_;
  std::vector<Frame> first_;  // of a pipe
};

}  // namespace lull::tools
