#pragma once
// Opens the sessions for the layers of OpenEXR files that are denoised in addition to the picture,
// each with its own noise and white level.

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

/// Returns the layers that a run reads together with the picture: the denoised layers and their
/// feature buffers.
[[nodiscard]] io::LayerChoice layers_to_read(const DenoiseOptions& options);

class LayerSession {
 public:
  /// @param options  options of the run, before rescale_sigma()
  /// @param picture  the layer that the source of the run returns as the picture
  LayerSession(const DenoiseOptions& options, const io::LayerInfo& layer,
               const io::LayerInfo& picture);

  /// Opens a separate source with this layer as its picture, to determine the format and the noise
  /// of the layer.
  /// @throws any error of opening a source and side inputs
  void find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info);
  /// Returns the host memory in bytes that the session needs.
  double memory(const std::vector<bm3d::Backend>& backends) const;
  void open(const std::vector<bm3d::Backend>& backends, const Notify& notify);
  std::size_t sessions() const { return opened_.denoisers.size(); }
  void select_frames(const std::vector<io::FrameRange>& ranges, ContextEnd* context_end,
                     std::size_t first_session, const Notify& notify);
  /// Returns the session of the layer for LayerSessions::attach_to(). May be called only once.
  [[nodiscard]] LayerDenoiser denoiser();

 private:
  FrameFormat filtered_format() const;

  DenoiseOptions options_;
  io::LayerInfo layer_;
  /// The source of this layer, which stores the first file of the input in memory. Null as soon as
  /// neither a guide nor the alignment needs it.
  std::unique_ptr<io::MediaSource> source_;
  FrameFormat format_;
  SideInputs side_inputs_;
  InputNoise noise_;
  Notify info_;
  OpenedDenoisers opened_;
};

/// The sessions of all layers that are denoised in addition to the picture.
class LayerSessions {
 public:
  LayerSessions() = default;
  LayerSessions(const DenoiseOptions& options, const LayerPlan& plan);

  void find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info);
  double memory(const std::vector<bm3d::Backend>& backends) const;
  void open(const std::vector<bm3d::Backend>& backends, const Notify& notify);
  /// Returns the number of sessions of all layers.
  std::size_t sessions() const;
  /// Selects the frames of all sessions. `first_session` is the index that `context_end` uses for
  /// the first session.
  void select_frames(const std::vector<io::FrameRange>& ranges, ContextEnd* context_end,
                     std::size_t first_session, const Notify& notify);
  /// Wraps the denoiser of the picture, so that the wrapper also denoises the layers. May be called
  /// only once.
  [[nodiscard]] std::unique_ptr<Denoiser> attach_to(std::unique_ptr<Denoiser> picture);

 private:
  std::vector<std::unique_ptr<LayerSession>> layers_;
};

}  // namespace lull::tools
