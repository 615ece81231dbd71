#pragma once
// Determines the noise of the input of a run, and the denoising methods, which depend on the noise.

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

/// The noise of the input, given or estimated before the first frame is denoised. lull tracks
/// estimated noise from scene to scene.
class InputNoise {
 public:
  /// The reading thread calls this function when a scene with different noise begins, before the
  /// source returns the first frame of the scene.
  using OnScene = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` must outlive this object. The object calls `info` with messages about the noise.
  /// After the first frame, it does this in the reading thread.
  InputNoise(const DenoiseOptions& options, Notify info)
      : options_(options), info_(std::move(info)) {}

  /// Determines the noise. For a pipe, the function reads and stores the first frames, so the sink
  /// must be open before.
  /// @throws InvalidArgument, and any error of reading
  void find(io::MediaSource& source);

  /// Returns the noise that was known before the first frame.
  const NoiseRecord& known() const { return known_; }
  /// Returns the scenes up to the last frame that was read; all known scenes if the noise is not
  /// tracked. Of two successive scenes with the same start time, the first contains no frame.
  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }
  /// Returns the defects that frames() repairs. If there are any, frames must be in host memory.
  const RepairPlan& repair() const { return repair_; }

  /// Returns whether the frames from which the noise was estimated have constant areas. Frames must
  /// then be in host memory.
  bool has_areas() const { return has_areas_; }
  /// Returns a source of the repaired frames of the input: the frames that find() has read in
  /// advance, then the frames of `source`. For a pipe, it may be called only once.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(FrameSource& source, const io::VideoInfo& input,
                                                    OnScene on_scene);
  /// Uses only the scenes that find() has found, without a search for scenes during the run.
  void use_known_scenes(const io::VideoInfo& input);
  /// Replaces the known scenes by the detected scenes, because the input will be read again. Must
  /// be called after all frames have been read.
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
