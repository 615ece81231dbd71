#pragma once
// Creates the source options and the denoiser of a run from the command line options.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "pipeline/part_denoiser.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {

/// Returns whether the source must also return context frames before and after the selected frames.
[[nodiscard]] bool needs_margins(const DenoiseOptions& options);

/// Returns the reason why no GPU can decode for this run, or an empty string if a GPU can. Most
/// reasons are steps of the run that require frames in host memory.
[[nodiscard]] std::string why_no_gpu_decodes(const DenoiseOptions& options,
                                             const std::vector<bm3d::Backend>& backends);

/// Returns the options for opening the input of a run on `backends`. If the input is damaged, a
/// source with these options counts the damage and continues.
[[nodiscard]] io::SourceOptions source_options(const DenoiseOptions& options,
                                               const std::vector<bm3d::Backend>& backends);

/// The filter settings for the frames of a scene.
struct ScenePlan {
  Method method;
  std::optional<Method> half;  // for frames of half the size, which are filtered in addition
};

/// The scenes after the first scene. The reading thread adds each scene when it detects the scene.
/// Thread-safe.
class LaterScenes {
 public:
  /// Adds a scene that begins later than all earlier scenes. Other threads may push frames of the
  /// scene only after this call.
  void add(double from_s, ScenePlan plan);
  /// Returns the number of scenes in this object that begin at or before the time of the frame.
  std::size_t count_at(const Frame& frame) const;
  ScenePlan plan(std::size_t number) const;

 private:
  mutable std::mutex mutex_;
  std::vector<double> starts_;
  std::vector<ScenePlan> plans_;
};

/// The filter settings for a clip: one ScenePlan for each scene. The settings of two scenes differ
/// only in the noise.
struct ClipPlan {
  std::vector<ScenePlan> scenes;  // scenes that are known before the first frame
  std::vector<double> starts;     // start of each scene except the first, in seconds of Frame::pts
  /// The scenes that lull detects after the first scene, while the run reads the clip. Null if lull
  /// does not track the noise. If `later` is not null, lull ignores `starts`.
  std::shared_ptr<LaterScenes> later = nullptr;
  bool frame_by_frame = false;  // whether each frame is filtered independently of the others
  const Method& method() const { return scenes.front().method; }
  /// Returns whether the clip may have more than one scene.
  bool has_scenes() const { return later || !starts.empty(); }
  std::size_t scene_at(const Frame& frame) const;
  /// Returns the filter settings of the scene with the index from scene_at().
  ScenePlan scene(std::size_t number) const;
  /// Returns whether sessions filter at half size in addition to full size. If so, frames must be
  /// in host memory.
  bool has_halves() const;
};

/// Returns the numbers of context frames before and after a part of the clip.
[[nodiscard]] pipeline::PartContext part_context_of(const ClipPlan& plan,
                                                    const FrameFormat& format);

/// Opens the denoisers of a stream: one denoiser for complete frames, or two for even and odd
/// fields. `format` is the format of the frames or fields. Any thread may call `notify` while the
/// denoisers exist.
[[nodiscard]] OpenedDenoisers open_sessions(const DenoiseOptions& options, const ClipPlan& plan,
                                            const FrameFormat& format,
                                            const std::vector<bm3d::Backend>& backends,
                                            const Notify& notify);

/// Stops the source as soon as no session requires further frames. After the last part of a clip,
/// the source returns frames only as context, and would otherwise read to the end of the input.
class ContextEnd {
 public:
  ContextEnd(io::MediaSource& source, std::size_t sessions)
      : source_(source), idle_(sessions, -1) {}

  /// Returns a function that the session with the index `session` must call with the index of the
  /// last frame that it requires. One thread must make all calls.
  std::function<void(std::int64_t)> listener(std::size_t session);

 private:
  io::MediaSource& source_;
  // Index of the last frame that each session requires. The function from listener() sets this
  // index. -1 before the first call of this function.
  std::vector<std::int64_t> idle_;
};

/// Replaces each denoiser by a denoiser that filters only the frames in `ranges`.
/// @param format  format of the frames or fields
/// @param context_end  receives the last required frame of each session; null if the source returns
///     no context frames
/// @param first_session  index of the first denoiser among all sessions of `context_end`
void select_frames(OpenedDenoisers& opened, const std::vector<io::FrameRange>& ranges,
                   const ClipPlan& plan, const FrameFormat& format, ContextEnd* context_end,
                   const Notify& notify, std::size_t first_session = 0);

/// Returns the format that sessions filter: the format of a field, or `format` for complete frames.
[[nodiscard]] FrameFormat filtered_format(const DenoiseOptions& options, const FrameFormat& format);

/// Returns a denoiser that preserves the constant areas of frames of `format`. The noise levels in
/// the methods of `plan` determine which areas count as constant.
[[nodiscard]] std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser,
                                                       const ClipPlan& plan,
                                                       const FrameFormat& format,
                                                       const ResultSamples& results);

/// Combines the denoisers of fields into one denoiser for frames of `format`. The result preserves
/// constant areas. The noise levels of the scenes in `plan` determine which areas count
/// as constant.
[[nodiscard]] std::unique_ptr<Denoiser> merge_fields(OpenedDenoisers opened, const ClipPlan& plan,
                                                     const FrameFormat& format);

}  // namespace lull::tools
