#pragma once
// Determines the noise of the input of a run. The result also contains the denoising methods, which
// depend on the noise.

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

/// The noise of the input, which is given or estimated before the first frame is denoised.
/// Estimated noise is then tracked from scene to scene.
class InputNoise {
 public:
  /// The reading thread calls this function when a scene with different noise begins, before the
  /// scene's first frame is returned.
  using OnScene = std::function<void(const SceneNoise& scene, const ScenePlan& plan)>;

  /// `options` must outlive this object. `info` is called with messages about the noise. After the
  /// first frame, the reading thread calls it.
  InputNoise(const DenoiseOptions& options, Notify info)
      : options_(options), info_(std::move(info)) {}

  /// Determines the noise. The first frames of a pipe, which can be read only once, are read in
  /// advance. The sink must be open before frames are read from a pipe, so the function calls
  /// `open_sink` first.
  /// @throws InvalidArgument, and any error of reading and of `open_sink`
  void find(io::MediaSource& source, const std::function<void()>& open_sink);

  /// Returns the noise that was known before the first frame.
  const NoiseRecord& known() const { return known_; }
  /// Returns the scenes up to the last frame that was read. If the noise is not tracked, returns
  /// all known scenes. A scene that is followed by a scene with the same start time contains no
  /// frame.
  const NoiseRecord& record() const { return record_; }
  const ClipPlan& plan() const { return plan_; }
  /// Returns the defects that frames() repairs. If there are any, frames must be in host memory.
  const RepairPlan& repair() const { return repair_; }

  /// Returns whether the frames from which the noise was estimated have constant areas. If so,
  /// frames must be in host memory.
  bool has_areas() const { return has_areas_; }
  /// Returns the repaired frames of the input `source`, preceded by the frames that find() has read
  /// in advance. For a pipe, the function may be called once.
  [[nodiscard]] std::unique_ptr<FrameSource> frames(FrameSource& source, const io::VideoInfo& input,
                                                    OnScene on_scene);
  /// Uses the scenes that find() has found, and does not search for later scenes.
  void use_known_scenes(const io::VideoInfo& input);
  /// Turns the detected scenes into known scenes, because the input will be read again. All frames
  /// must have been read.
  void keep_scenes(const io::VideoInfo& input);

 private:
  void estimate_depth_noise(io::MediaSource& source, const std::function<void()>& open_sink);
  void read_ahead(io::MediaSource& source, std::size_t frames,
                  const std::function<void()>& open_sink);
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
