#pragma once
// Opens the sessions for the denoised layers of OpenEXR files, except the main layer. The main
// layer is the layer whose samples the source returns as frames. Each layer has its own noise and
// white level.

#include <cstddef>
#include <memory>
#include <vector>

#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/input_noise.h"
#include "tools/sessions/sessions.h"
#include "tools/wrap/layer_plan.h"
#include "tools/wrap/layered.h"
#include "tools/wrap/side_inputs.h"

namespace lull::tools {

/// Returns the layers that the source reads in addition to the main layer: the other denoised
/// layers, and the feature buffers of all denoised layers. The source returns the samples of the
/// main layer as frames.
[[nodiscard]] io::LayerChoice layers_to_read(const DenoiseOptions& options);

class LayerSession {
 public:
  /// @param options  options of the run, before rescale_sigma()
  /// @param picture  the main layer: the layer whose samples the source of the run returns as
  ///     frames
  LayerSession(const DenoiseOptions& options, const io::LayerInfo& layer,
               const io::LayerInfo& picture);

  /// Opens a separate source that returns the samples of this layer as frames, to determine the
  /// format and the noise of the layer.
  /// @throws any error of opening a source and side inputs
  void find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info);
  /// Returns the host memory of the session in bytes.
  double memory(const std::vector<bm3d::Backend>& backends) const;
  void open(const std::vector<bm3d::Backend>& backends, const Notify& notify);
  std::size_t sessions() const { return opened_.denoisers.size(); }
  void select_frames(const std::vector<io::FrameRange>& ranges, ContextEnd* context_end,
                     std::size_t first_session, const Notify& notify);
  /// Returns the session of the layer for LayerSessions::attach_to(). Only one call is allowed.
  [[nodiscard]] LayerDenoiser denoiser();

 private:
  FrameFormat filtered_format() const;

  DenoiseOptions options_;
  io::LayerInfo layer_;
  /// A separate source that returns the samples of this layer as frames. Only sessions with a guide
  /// file or an alignment require this source; otherwise null.
  std::unique_ptr<io::MediaSource> source_;
  FrameFormat format_;
  SideInputs side_inputs_;
  InputNoise noise_;
  Notify info_;
  OpenedDenoisers opened_;
};

/// The sessions of all denoised layers except the main layer.
class LayerSessions {
 public:
  LayerSessions() = default;
  LayerSessions(const DenoiseOptions& options, const LayerPlan& plan);

  void find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info);
  double memory(const std::vector<bm3d::Backend>& backends) const;
  void open(const std::vector<bm3d::Backend>& backends, const Notify& notify);
  /// Returns the number of sessions of all layers.
  std::size_t sessions() const;
  /// Restricts all sessions to the frames in `ranges`. For ContextEnd::listener(), the sessions
  /// have consecutive indices, from `first_session` on.
  void select_frames(const std::vector<io::FrameRange>& ranges, ContextEnd* context_end,
                     std::size_t first_session, const Notify& notify);
  /// Returns a denoiser that filters the main layer with `picture`, and the other layers with their
  /// sessions. Only one call is allowed.
  [[nodiscard]] std::unique_ptr<Denoiser> attach_to(std::unique_ptr<Denoiser> picture);

 private:
  std::vector<std::unique_ptr<LayerSession>> layers_;
};

}  // namespace lull::tools
