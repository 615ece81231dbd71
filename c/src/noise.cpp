// Noise estimates.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "c/src/formats.h"
#include "c/src/memory.h"
#include "c/src/parameters.h"
#include "c/src/support.h"
#include "noise/estimate/clipped_noise.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"

using namespace lull::c;

/// Collects frames, or the statistics of slices.
struct lull_estimator {
 public:
  lull_estimator(const InputFormat& input, const lull_params* params)
      : input_(input), memory_(input.frame, std::nullopt) {
    if (params != nullptr) options_ = params->options.noise;
    if (input.is_volume && input.frame.planes() != 1)
      throw lull::InvalidArgument(
          "volumes of several planes (the noise of volumes is estimated in grey ones); estimate "
          "each plane as a volume of its own");
    if (input.is_volume) cubes_.emplace(input.frame, input.frames);
  }

  void add(const lull_frame& given, const std::shared_ptr<FrameOwner>& owner) {
    const int number = number_of(given);
    lull::Frame frame = memory_.frame_of(given, owner);
    if (cubes_) {
      frame.slice = number;
      cubes_->add(frame);
      return;
    }
    const bool follows = number < 0 ? last_ < 0 : number == last_ + 1;
    if (excerpts_.empty() || !follows || input_.is_still) excerpts_.emplace_back();
    excerpts_.back().push_back(std::move(frame));
    last_ = number;
  }

  Noise find() const { return cubes_ ? noise_of_volume() : noise_of_frames(); }

 private:
  Noise noise_of_volume() const {
    if (!cubes_->has_enough_cubes() && cubes_->constant_values().empty())
      throw lull::Error(lull::ErrorKind::bad_data,
                        "a volume with too few cubes (its noise cannot be estimated); set sigma");
    const lull::VolumeEstimate found = lull::estimate_volume(*cubes_, options_.kind, 0);
    const float sigma = found.noise.sigma, level = found.level;
    Noise noise{.estimate = {.noise = lull::NoiseModel({sigma, sigma, sigma}),
                             .level = {level, level, level},
                             .coarse = level / 8,
                             .certain = found.certain,
                             .why = found.why},
                .volume = found.noise};
    if (!options_.sigma) return noise;
    const float given = (*options_.sigma)[0];
    noise.estimate = {.noise = lull::NoiseModel({given, given, given}),
                      .level = {given, given, given}};
    noise.volume = lull::VolumeNoise{.kind = found.noise.kind, .sigma = given};
    return noise;
  }

  Noise noise_of_frames() const {
    if (excerpts_.empty())
      throw lull::Error(lull::ErrorKind::bad_data,
                        "no frame (noise cannot be estimated without any); add some");
    if (!options_.sigma) return {.estimate = lull::estimate_noise(excerpts_), .volume = {}};
    const lull::NoiseModel given(*options_.sigma);
    validate(given);
    Noise noise{.estimate = {.noise = given, .level = *options_.sigma}, .volume = {}};
    if (lull::may_show_clipping(given, input_.frame.layout))
      noise.estimate.noise = with_clipping(given, lull::find_clipping(given, excerpts_));
    return noise;
  }

  InputFormat input_;
  ProgramMemory memory_;
  lull::tools::NoiseOptions options_;
  std::optional<lull::CubeCollector> cubes_;  // for volumes
  std::vector<lull::Excerpt> excerpts_;
  int last_ = -1;  // number of the last frame
};

lull_status lull_estimator_open(const lull_format* format, const lull_params* params,
                                lull_estimator** estimator) {
  return guarded([&] {
    checked(estimator, "estimator") = nullptr;
    *estimator = new lull_estimator(read_format(format), params);
    return LULL_OK;
  });
}

lull_status lull_estimator_add(lull_estimator* estimator, const lull_frame* frame) {
  return guarded([&] {
    const lull_frame given = read_struct(frame, "frame");
    const auto owner = std::make_shared<FrameOwner>(given.release, given.user);
    checked(estimator, "estimator").add(given, owner);
    return LULL_OK;
  });
}

lull_status lull_estimator_find(lull_estimator* estimator, lull_noise** noise) {
  return guarded([&] {
    checked(noise, "noise") = nullptr;
    *noise = new lull_noise{checked(estimator, "estimator").find()};
    return LULL_OK;
  });
}

void lull_estimator_close(lull_estimator* estimator) { delete estimator; }

lull_status lull_noise_get(const lull_noise* noise, lull_noise_info* info) {
  return guarded([&] {
    const Noise& found = checked(noise, "noise").found;
    lull_noise_info description{};
    std::ranges::copy(found.estimate.level, description.sigma);
    const bool is_rician = found.volume && found.volume->kind == lull::NoiseKind::rician;
    description.kind = is_rician ? LULL_RICIAN : LULL_GAUSSIAN;
    description.is_white = found.estimate.noise.is_white() ? 1 : 0;
    description.is_certain = found.estimate.certain ? 1 : 0;
    description.why = found.estimate.why.c_str();
    write_struct(info, description, "info");
    return LULL_OK;
  });
}

void lull_noise_free(lull_noise* noise) { delete noise; }
