#include "noise/volume/photon_vst.h"

#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/volume/vst_volume.h"
#include "noise/vst_session.h"

namespace lull {
namespace {

struct NoInverseData {};

void stabilise_photons(const PhotonStabiliser& stabiliser, const Frame& frame,
                       PlaneView<float> samples, const Frame& made) {
  load_plane(frame, 0, samples);
  const PlaneView<float> stabilised = made.plane<float>(0);
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x) stabilised(x, y) = stabiliser.forward(samples(x, y));
}

class PhotonVstSession final : public VstSession<NoInverseData> {
 public:
  PhotonVstSession(const PhotonNoise& noise, const FrameFormat& format,
                   std::unique_ptr<Denoiser> filter, const ResultSamples& results)
      : VstSession(format, stabilised_format(format), std::move(filter), results),
        stabiliser_(noise),
        samples_(format.width, format.height) {}

 private:
  void stabilise(PendingFrame& frame) override {
    stabilise_photons(stabiliser_, frame.noisy, samples_.view(), frame.stabilised);
    if (!frame.noisy.guide) return;
    Frame guide = acquire_stabilised();
    stabilise_photons(stabiliser_, *frame.noisy.guide, samples_.view(), guide);
    frame.stabilised.guide = std::make_shared<const Frame>(std::move(guide));
  }

  void invert(const PendingFrame& frame, const Frame& filtered, Frame& clean) override {
    const PlaneView<const float> stabilised = filtered.plane<float>(0);
    const PlaneView<float> back = samples_.view();
    for (int y = 0; y < back.height; ++y)
      for (int x = 0; x < back.width; ++x) back(x, y) = stabiliser_.inverse(stabilised(x, y));
    store_plane(back, clean, 0);
    restore_unfiltered(frame, stabilised, clean);
  }

  const PhotonStabiliser stabiliser_;
  Plane<float> samples_;
};

class PhotonRepeatFinder final : public RepeatFinder {
 public:
  PhotonRepeatFinder(const PhotonNoise& noise, const FrameFormat& format,
                     std::unique_ptr<RepeatFinder> finder)
      : stabiliser_(noise),
        samples_(format.width, format.height),
        pool_(stabilised_format(format)),
        finder_(std::move(finder)) {}

  RepeatState find(const Frame& frame) override {
    Frame stabilised = pool_.acquire();
    stabilised.copy_info(frame);
    stabilise_photons(stabiliser_, frame, samples_.view(), stabilised);
    const RepeatState state = finder_->find(stabilised);
    last_ = std::move(stabilised);  // the frame must exist until the next call
    return state;
  }
  void clear() override { finder_->clear(); }

 private:
  const PhotonStabiliser stabiliser_;
  Plane<float> samples_;
  FramePool pool_;
  Frame last_;
  std::unique_ptr<RepeatFinder> finder_;
};

}  // namespace

std::unique_ptr<Denoiser> with_photon_vst(const PhotonNoise& noise, const FrameFormat& format,
                                          std::unique_ptr<Denoiser> filter,
                                          const ResultSamples& results) {
  if (format.planes() != 1)
    throw InvalidArgument(
        "frames of several planes (only grey frames can have photon noise); filter them as "
        "Gaussian noise");
  return std::make_unique<PhotonVstSession>(noise, format, std::move(filter), results);
}

std::unique_ptr<RepeatFinder> with_photon_vst(const PhotonNoise& noise, const FrameFormat& format,
                                              std::unique_ptr<RepeatFinder> finder) {
  return std::make_unique<PhotonRepeatFinder>(noise, format, std::move(finder));
}

}  // namespace lull
