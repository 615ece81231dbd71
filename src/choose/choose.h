#pragma once
// Opens sessions by the names of a method, a profile and a device, for example for scripts.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bm3d/bm3d.h"
#include "bm4d/bm4d.h"
#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"
#include "noise/render/light.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// The method of a session and its parameters.
struct SessionChoice {
  /// Name of the method: bm3d or nlm for pictures and clips, bm4d or nlm_volumes for slices of
  /// volumes.
  std::string method = "bm3d";
  /// Name of the profile: fast, balanced or high. All methods except bm4d have a fourth profile,
  /// paper, and bm3d has a fifth profile, best.
  std::string profile = "balanced";
  /// Name of the device: auto (a GPU if there is one), cpu, reference, cuda or cuda:N.
  std::string device = "auto";
  /// Temporal radius R for clips: patches come from R frames before and R frames after each frame.
  int temporal = 0;
  /// Name of the matcher, for bm3d and for nlm of pictures: window or cluster.
  std::string matcher = "window";
  /// Parameters of the cluster matcher, in the format of parse_clusters(). An empty string selects
  /// the defaults.
  std::string clusters{};
  int streams = bm3d::default_streams;  // number of frames in flight on a GPU, 1..16
  int threads = 0;                      // number of threads on the CPU; 0: one per core
  /// If true, a session on a GPU writes its results to GPU memory (Backend::results_on_device). If
  /// `volume_noise` also has a value, the caller must pass input frames in GPU memory.
  bool results_on_device = false;
  bool guided = false;  // for bm3d and nlm: the filter compares patches in Frame::guide
  NoiseModel noise;
  /// The noise of a volume. This member has a value only if the noise is not Gaussian, or if the
  /// noise level varies in space. The session then stabilises the variance before it filters.
  std::optional<VolumeNoise> volume_noise;
  /// Noise of renders, for bm3d and nlm. If `render` has a value, all frames must contain
  /// Frame::features. If RenderNoise::sigma is 0, the session determines the noise level, for
  /// example from the features.
  std::optional<RenderNoise> render{};
  /// Scale of depth maps, for bm3d and nlm. If `depth` has a value, all frames must be depth maps,
  /// and `noise` must be on the 0..255 scale of this DepthScale.
  std::optional<DepthScale> depth{};
  /// Optional functions that adjust the parameters of the profile.
  std::function<void(bm3d::Params&)> adjust{};
  std::function<void(bm4d::Params&)> adjust_volumes{};
};

struct ChosenSession {
  std::unique_ptr<Denoiser> denoiser;
  Margin margin;
  bm3d::Backend backend;  // where the session runs
};

/// Opens a session with the method, the device and the parameters in `choice`, for frames of
/// `format`.
/// @throws InvalidArgument    a name is unknown, the method does not support a parameter, or open()
///     of the method throws this error
/// @throws DeviceUnavailable  the device does not exist
[[nodiscard]] ChosenSession open_chosen(const SessionChoice& choice, const FrameFormat& format);

/// Opens a detector that finds the same repeated frames as a session for `choice`. Programs that
/// denoise parts of a clip need this detector (bm3d/bm3d.h). `choice` must not contain render noise
/// or a depth scale.
/// @throws InvalidArgument  as open_chosen()
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const SessionChoice& choice,
                                                               const FrameFormat& format);

/// Returns the backend for the name of a device (SessionChoice::device).
/// @throws InvalidArgument, DeviceUnavailable
[[nodiscard]] bm3d::Backend choose_backend(const std::string& device,
                                           int streams = bm3d::default_streams, int threads = 0);
/// Returns the name of the device on which a session runs, such as "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string device_name(const bm3d::Backend& backend);

}  // namespace lull
