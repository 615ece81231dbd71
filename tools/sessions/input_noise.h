#pragma once
// The noise of the input of a run, and what its frames are filtered with for it.

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

/// It is stated or found before the first frame is denoised, and along a pipe it is followed from
/// scene to scene.
class InputNoise {
 public:
  /// Told of a scene of a pipe whose noise is another one, before its first frame is given, by the
  /// thread that reads.
  using Found = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` outlive it. `info` is told what was found, later by the thread that reads.
  InputNoise(const DenoiseOptions& options, Say info) : options_(options), info_(std::move(info)) {}

  /// Finds it. A pipe, which gives its frames once, is looked at behind its sink, which has to be
  /// open before the first frame is read: `open_sink` opens it.
  /// @throws whatever reading and `open_sink` throw; InvalidArgument
  void find(io::MediaSource& source, const std::function<void()>& open_sink);

  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }

  /// The frames of the source, those first that find() read of it. Once.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(io::MediaSource& source, Found found);

 private:
  void find_in_depths(io::MediaSource& source, const std::function<void()>& open_sink);
  void take_up(const SceneNoise& scene, const io::VideoInfo& input, const Found& found);

  const DenoiseOptions& options_;
  Say info_;
  NoiseRecord record_;
  ClipPlan plan_;
  std::vector<Frame> first_;  // of a pipe
  bool follows_ = false;      // a pipe from scene to scene
};

}  // namespace lull::tools
