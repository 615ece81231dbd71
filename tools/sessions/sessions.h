#pragma once
// From the options of a run to what reads its input and denoises it.

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

/// Whether frames around those that are asked for are looked at.
[[nodiscard]] bool needs_margins(const DenoiseOptions& options);

/// Why no GPU decodes though --hwaccel asks for it; empty if one may. Frames in its memory are for
/// nobody but the denoiser on it.
[[nodiscard]] std::string why_no_gpu_decodes(const DenoiseOptions& options,
                                             const std::vector<bm3d::Backend>& backends);

/// Of a run that denoises on `backends`: damage is passed over and counted.
[[nodiscard]] io::SourceOptions source_options(const DenoiseOptions& options,
                                               const std::vector<bm3d::Backend>& backends);

/// What a scene is filtered with.
struct ScenePlan {
  Method method;
  std::optional<Method> half;  // of frames of half the size, which are filtered too
};

/// The scenes of a stream behind its first, told while it runs. From any thread.
class LaterScenes {
 public:
  /// `from_s` is behind those of the scenes before. Frames of the scene may go in from then on.
  void add(double from_s, ScenePlan plan);
  /// How many of them have come by a frame's time.
  std::size_t count_at(const Frame& frame) const;
  ScenePlan plan(std::size_t number) const;

 private:
  mutable std::mutex mutex_;
  std::vector<double> starts_;
  std::vector<ScenePlan> plans_;
};

/// What a clip is filtered with: scenes, which differ in nothing but the noise.
struct ClipPlan {
  std::vector<ScenePlan> scenes;  // that are known before the first frame
  std::vector<double> starts;     // of the second on, in seconds of Frame::pts
  /// Of a stream whose scenes are followed: all behind the first, in place of the others above.
  std::shared_ptr<LaterScenes> later = nullptr;
  bool frame_by_frame = false;  // frames are filtered one by one
  const Method& method() const { return scenes.front().method; }
  /// Or may have: more than one.
  bool has_scenes() const { return later || !starts.empty(); }
  std::size_t scene_at(const Frame& frame) const;
  /// The scene of this number, by scene_at().
  ScenePlan scene(std::size_t number) const;
  /// Whether frames of half the size are made, in the host's memory.
  bool has_halves() const;
};

/// What a session has to see around the frames that are wanted.
[[nodiscard]] pipeline::PartContext part_context_of(const ClipPlan& plan,
                                                     const FrameFormat& format);

/// What denoises a stream: one session for whole frames, or one for the fields of either parity.
/// `format` is what sessions see. `notify` may be called from any thread, as long as they live.
[[nodiscard]] OpenedDenoisers open_sessions(const DenoiseOptions& options, const ClipPlan& plan,
                                            const FrameFormat& format,
                                            const std::vector<bm3d::Backend>& backends,
                                            const Notify& notify);

/// Tells a source that frames around its last part are not needed any more, as soon as all sessions
/// over its frames notify so.
class ContextEnd {
 public:
  ContextEnd(io::MediaSource& source, std::size_t sessions) : source_(source), idle_(sessions, -1) {}

  /// What a session calls with the last frame after which it needs no other; all in one thread.
  std::function<void(std::int64_t)> listener(std::size_t session);

 private:
  io::MediaSource& source_;
  std::vector<std::int64_t> idle_;  // by session
};

/// Of a job that goes on, only what is missing is denoised, with --keep one frame, and of the
/// frames around a part none. `format` is what sessions see; `context_end` is null without margins.
void select_frames(OpenedDenoisers& opened, const std::vector<io::FrameRange>& wanted,
                      const ClipPlan& plan, const FrameFormat& format, ContextEnd* context_end,
                      const Notify& notify);

/// The sessions as one, for whole frames of `format`.
[[nodiscard]] std::unique_ptr<Denoiser> merge_fields(OpenedDenoisers opened, const FrameFormat& format);

}  // namespace lull::tools
