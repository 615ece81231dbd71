#pragma once
// Creates the source options and the denoiser of a run from the options of the command line.

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

/// Returns whether the source must also return context frames around the selection.
[[nodiscard]] bool needs_margins(const DenoiseOptions& options);

/// Returns why no GPU can decode although --hwaccel requests it; empty if a GPU can. Only a
/// denoiser on the same GPU can use decoded frames in GPU memory.
[[nodiscard]] std::string why_no_gpu_decodes(const DenoiseOptions& options,
                                             const std::vector<bm3d::Backend>& backends);

/// Returns the options of the source of a run that denoises on `backends`. The source counts damage
/// of the input and continues.
[[nodiscard]] io::SourceOptions source_options(const DenoiseOptions& options,
                                               const std::vector<bm3d::Backend>& backends);

/// The methods that filter the frames of a scene.
struct ScenePlan {
  Method method;
  std::optional<Method> half;  // for frames of half the size, which are filtered in addition
};

/// The scenes after the first scene, which the reading thread adds as it detects them. Thread-safe.
class LaterScenes {
 public:
  /// Adds a scene. `from_s` must be later than in all previous calls. Other threads may push frames
  /// of the scene after the call.
  void add(double from_s, ScenePlan plan);
  /// Returns how many scenes after the current scene begin at the frame or before it.
  std::size_t count_at(const Frame& frame) const;
  ScenePlan plan(std::size_t number) const;

 private:
  mutable std::mutex mutex_;
  std::vector<double> starts_;
  std::vector<ScenePlan> plans_;
};

/// The methods for a clip, one for each scene. The methods differ only in their noise.
struct ClipPlan {
  std::vector<ScenePlan> scenes;  // scenes that are known before the first frame
  std::vector<double> starts;     // start of each scene except the first, in seconds of Frame::pts
  /// All scenes after the first scene, if the noise of a stream is tracked; otherwise null. If it
  /// is set, `starts` has no meaning.
  std::shared_ptr<LaterScenes> later = nullptr;
  bool frame_by_frame = false;  // whether each frame is filtered independently of the others
  const Method& method() const { return scenes.front().method; }
  /// Returns whether the clip has, or may have, more than one scene.
  bool has_scenes() const { return later || !starts.empty(); }
  std::size_t scene_at(const Frame& frame) const;
  /// Returns the methods for the scene with this index (scene_at()).
  ScenePlan scene(std::size_t number) const;
  /// Returns whether frames of half the size are filtered in addition. Frames must then be in host
  /// memory.
  bool has_halves() const;
};

/// Returns the numbers of context frames that a session needs around a part of the clip.
[[nodiscard]] pipeline::PartContext part_context_of(const ClipPlan& plan,
                                                    const FrameFormat& format);

/// Opens the denoisers of a stream: one for complete frames, or one for the fields of each parity.
/// `format` is the format of the frames or fields. `notify` may be called from any thread while the
/// denoisers exist.
[[nodiscard]] OpenedDenoisers open_sessions(const DenoiseOptions& options, const ClipPlan& plan,
                                            const FrameFormat& format,
                                            const std::vector<bm3d::Backend>& backends,
                                            const Notify& notify);

/// Stops the reading of context frames after the last part as soon as no session needs further
/// frames.
class ContextEnd {
 public:
  ContextEnd(io::MediaSource& source, std::size_t sessions)
      : source_(source), idle_(sessions, -1) {}

  /// Returns a function that the session with this index calls with the index of the last frame
  /// that it needs. One thread must make all calls.
  std::function<void(std::int64_t)> listener(std::size_t session);

 private:
  io::MediaSource& source_;
  // For each session, the index of the last frame that it needs, or -1.
  std::vector<std::int64_t> idle_;
};

/// Wraps the denoisers so that they filter only the frames in `ranges`, for example the missing
/// frames of a resumed job, or the frame of --keep.
/// @param format  format of the frames or fields
/// @param context_end  null if no context frames are read
/// @param first_session  index that `context_end` uses for the session of the first denoiser
void select_frames(OpenedDenoisers& opened, const std::vector<io::FrameRange>& ranges,
                   const ClipPlan& plan, const FrameFormat& format, ContextEnd* context_end,
                   const Notify& notify, std::size_t first_session = 0);

/// Returns the format in which sessions get frames of `format`: the format of a field if fields are
/// filtered separately, otherwise `format` itself.
[[nodiscard]] FrameFormat filtered_format(const DenoiseOptions& options, const FrameFormat& format);

/// Wraps a denoiser so that it preserves constant areas as the methods of `plan` require. `format`
/// is the format of its frames.
[[nodiscard]] std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser,
                                                       const ClipPlan& plan,
                                                       const FrameFormat& format,
                                                       const ResultSamples& results);

/// Combines the denoisers of fields into one denoiser for complete frames of `format`, which
/// preserves constant areas as the methods of `plan` require.
[[nodiscard]] std::unique_ptr<Denoiser> merge_fields(OpenedDenoisers opened, const ClipPlan& plan,
                                                     const FrameFormat& format);

}  // namespace lull::tools
