#pragma once
// Determines the noise of the input of a run. The noise determines the parameters of the denoising
// methods.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/repair/repair_plan.h"
#include "tools/search/noise_search.h"
#include "tools/sessions/open_denoiser.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// The noise of the input. The user specifies the noise, or lull estimates the noise before the
/// first frame. lull tracks estimated noise from scene to scene.
class InputNoise {
 public:
  /// The reading thread calls this function at the beginning of a scene with different noise. The
  /// source returns the first frame of the scene after the call.
  using OnScene = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` must outlive this object. The object calls `info` with messages about the noise.
  /// After the first frame, the reading thread makes these calls.
  InputNoise(const DenoiseOptions& options, Notify info)
      : options_(options), info_(std::move(info)) {}

  /// Determines the noise. For a pipe, the function reads and stores the first frames, so the
  /// caller must open the sink first.
  /// @throws InvalidArgument, and any error of reading
  void find(io::MediaSource& source);

  /// Returns the noise that lull determines before the first frame: the given or estimated noise of
  /// the input.
  const NoiseRecord& known() const { return known_; }
  /// Returns the scenes up to the last frame of the source. If lull does not track the noise, the
  /// record contains all known scenes. If two successive scenes have the same start time, the first
  /// of these scenes contains no frame.
  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }
  /// Returns the defects that the source of frames() repairs. If there are defects, frames must be
  /// in host memory.
  const RepairPlan& repair() const { return repair_; }

  /// Returns whether the frames of the noise estimation have constant areas. If so, frames must be
  /// in host memory.
  bool has_areas() const { return has_areas_; }
  /// Returns a source of the repaired frames of the input. The source first returns the frames that
  /// find() has read, and then the frames of `source`. For a pipe, the caller may call this
  /// function only once.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(FrameSource& source, const io::VideoInfo& input,
                                                    OnScene on_scene);
  /// Turns off the search for scenes during the run. The run then uses only the scenes from find().
  void use_known_scenes(const io::VideoInfo& input);
  /// Replaces the known scenes by the detected scenes, for a second pass over the input. The caller
  /// must call this function after the last frame of the first pass.
  void keep_scenes(const io::VideoInfo& input);

 private:
  void estimate_depth_noise(io::MediaSource& source);
  NoiseRecord noise_of_pipe(const io::VideoInfo& input) const;
  InputSamples repaired_samples(const io::MediaSource& source, bool needed);
  void start_scene(const SceneNoise& scene, bool is_predicted, const io::VideoInfo& input,
                   const OnScene& on_scene);

  const DenoiseOptions& options_;
  Notify info_;
  NoiseRecord known_, record_;
  RepairPlan repair_;
  bool has_areas_ = false;
  ClipPlan plan_;
  std::vector<Frame> first_;  // first frames of a pipe, repaired
};

}  // namespace lull::tools
