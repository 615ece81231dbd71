#pragma once
// Determines the noise of the input of a run.

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

/// The noise of the input: given, or estimated before the first frame and tracked from scene to
/// scene.
class InputNoise {
 public:
  /// The reading thread calls this function before the source returns the first frame of a scene
  /// with different noise.
  using OnScene = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` must outlive this object. `info` receives messages about the noise, in the reading
  /// thread after the first frame.
  InputNoise(const DenoiseOptions& options, Notify info)
      : options_(options), info_(std::move(info)) {}

  /// Determines the noise. For a pipe, the function reads and stores the first frames, so the
  /// caller must open the sink before this call.
  /// @throws InvalidArgument, and any error of reading
  void find(io::MediaSource& source);

  /// Returns the given or estimated noise, as known before the first frame.
  const NoiseRecord& known() const { return known_; }
  /// Returns the scenes up to the last frame, or all known scenes if lull does not track the noise.
  /// A scene with the same start time as the next scene has no frame.
  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }
  /// Returns the defects that the source of frames() repairs. If there are defects, frames must be
  /// in host memory.
  const RepairPlan& repair() const { return repair_; }

  /// Returns whether the frames of the noise estimation have constant areas. If so, frames must be
  /// in host memory.
  bool has_areas() const { return has_areas_; }
  /// Returns a source of repaired frames: first the frames that find() has read, then the frames of
  /// `source`. For a pipe, only one call is allowed.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(FrameSource& source, const io::VideoInfo& input,
                                                    OnScene on_scene);
  /// Turns off the search for scenes during the run. The run then uses only the scenes from find().
  void use_known_scenes(const io::VideoInfo& input);
  /// Replaces the known scenes by the detected scenes, between the first and the second pass over
  /// the input.
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
