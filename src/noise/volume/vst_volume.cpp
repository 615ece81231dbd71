#include "noise/volume/vst_volume.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/volume/photon_vst.h"
#include "noise/volume/sample_vst.h"
#include "noise/vst_session.h"

namespace lull {
namespace {

/// The session of with_vst(). The base class stores the index z of each slice in its volume as
/// InverseData.
class VolumeVstSession final : public VstSession<int> {
 public:
  VolumeVstSession(const VolumeNoise& noise, const FrameFormat& format,
                   std::unique_ptr<Denoiser> filter, const ResultSamples& results)
      : VstSession(format, stabilised_format(format), std::move(filter), results),
        noise_(noise),
        level_(format.width, format.height),
        samples_(format.width, format.height) {
    for (int y = 0; y < format.height && !noise.map; ++y)
      std::fill_n(level_.view().row(y), format.width, noise.sigma);
  }

  std::optional<Frame> drain() override {
    std::optional<Frame> rest = VstSession::drain();
    if (!rest) next_slice_ = 0;
    return rest;
  }

 private:
  void stabilise(PendingFrame& slice) override {
    slice.inverse_data = slice.noisy.slice >= 0 ? slice.noisy.slice : next_slice_;
    next_slice_ = slice.inverse_data + 1;
    load_sigma_map(slice.inverse_data);
    stabilise(slice.noisy, slice.stabilised);
    if (!slice.noisy.guide) return;
    Frame guide = acquire_stabilised();
    stabilise(*slice.noisy.guide, guide);
    slice.stabilised.guide = std::make_shared<const Frame>(std::move(guide));
  }

  void invert(const PendingFrame& slice, const Frame& filtered, Frame& clean) override {
    load_sigma_map(slice.inverse_data);
    const PlaneView<float> back = samples_.view();
    const PlaneView<const float> stabilised = filtered.plane<float>(0);
    const SampleVst samples(noise_, rician_.inverse());
    for (int y = 0; y < stabilised.height; ++y) {
      const float *from = stabilised.row(y), *level = level_.view().row(y);
      float* to = back.row(y);
      for (int x = 0; x < stabilised.width; ++x) to[x] = samples.invert(from[x], level[x], root);
    }
    store_plane(back, clean, 0);
    restore_unfiltered(slice, stabilised, clean);
  }

  void load_sigma_map(int z) {
    if (noise_.map && std::exchange(level_slice_, z) != z) noise_.map->slice(z, level_.view());
  }

  /// Stabilises a slice or its guide with the noise levels in level_.
  void stabilise(const Frame& frame, Frame& made) {
    load_plane(frame, 0, samples_.view());
    const PlaneView<float> stabilised = made.plane<float>(0);
    const SampleVst samples(noise_, rician_.inverse());
    for (int y = 0; y < stabilised.height; ++y) {
      const float *from = samples_.view().row(y), *level = level_.view().row(y);
      float* to = stabilised.row(y);
      for (int x = 0; x < stabilised.width; ++x) to[x] = samples.stabilise(from[x], level[x], root);
    }
  }

  static float root(float v) { return std::sqrt(v); }

  VolumeNoise noise_;
  RicianStabiliser rician_{rician_shrink_range};
  Plane<float> level_;  // noise levels of slice `level_slice_`
  int level_slice_ = -1;
  Plane<float> samples_;
  int next_slice_ = 0;
};

}  // namespace

FrameFormat stabilised_format(const FrameFormat& format) {
  FrameFormat stabilised = format;
  stabilised.sample = SampleType::f32;
  stabilised.bits = 32;
  stabilised.white = 255;
  return stabilised;
}

void validate_vst(const VolumeNoise& noise, const FrameFormat& format) {
  validate(noise);
  if (format.planes() != 1)
    throw InvalidArgument(
        "frames of several planes (only grey frames can have Rician noise or noise that varies in "
        "space); filter them as Gaussian noise");
}

std::unique_ptr<Denoiser> with_vst(const VolumeNoise& noise, const FrameFormat& format,
                                   std::unique_ptr<Denoiser> filter, const ResultSamples& results) {
  validate_vst(noise, format);
  if (noise.photons) return with_photon_vst(*noise.photons, format, std::move(filter), results);
  return std::make_unique<VolumeVstSession>(noise, format, std::move(filter), results);
}

}  // namespace lull
