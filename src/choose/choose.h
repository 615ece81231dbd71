#pragma once
// Sessions by the names that scripts give: of a method, a profile, a device.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bm3d/bm3d.h"
#include "bm4d/bm4d.h"
#include "core/denoiser.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"
#include "noise/render/light.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// What denoises the frames of a session.
struct SessionChoice {
  std::string method = "bm3d";       // bm3d, nlm: pictures, also over time; bm4d, nlm_volumes:
                                     // slices of volumes
  std::string profile = "balanced";  // fast, balanced, high; but of bm4d paper, too; of bm3d best
  std::string device = "auto";     // auto (a GPU where there is one), cpu, reference, cuda, cuda:N
  int temporal = 0;                // of pictures: R, frames on either side that patches come from
  std::string matcher = "window";  // window, cluster; of bm3d, and of nlm's pictures
  std::string clusters{};          // of the matcher cluster, as parse_clusters() takes them; empty:
                                   // as they are by themselves
  int streams = 2;                 // frames in flight on a GPU, 1..16
  int threads = 0;                 // on the CPU; 0: every core
  bool results_on_device = false;  // on a GPU: as of Backend; frames, too,
                                   // are there if noise is uneven
  bool guided = false;             // of bm3d and nlm: patches are compared in Frame::guide
  NoiseModel noise;
  /// Of volumes whose noise is Rician or varies: samples are made even before the filter.
  std::optional<VolumeNoise> uneven;
  /// Of bm3d and nlm: frames are renders, which bring Frame::features and say their noise, or here.
  std::optional<RenderNoise> render{};
  /// Of bm3d and nlm: frames are depth maps; `noise` is on the 0..255 scale of this.
  std::optional<DepthScale> depth{};
  /// On top of the profile; may be empty.
  std::function<void(bm3d::Params&)> adjust{};
  std::function<void(bm4d::Params&)> adjust_volumes{};
};

struct ChosenSession {
  std::unique_ptr<Denoiser> denoiser;
  Margin margin;
  bm3d::Backend backend;  // what it runs on
};

/// @throws InvalidArgument    a name that is none, or whatever open() of the method throws
/// @throws DeviceUnavailable  the device is not there
[[nodiscard]] ChosenSession open_chosen(const SessionChoice& choice, const FrameFormat& format);

/// The device of this name. @throws InvalidArgument, DeviceUnavailable
[[nodiscard]] bm3d::Backend choose_backend(const std::string& device, int streams = 2,
                                           int threads = 0);
/// "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string device_name(const bm3d::Backend& backend);

}  // namespace lull
