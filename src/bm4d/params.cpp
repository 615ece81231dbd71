#include "bm4d/params.h"

#include <bit>
#include <cmath>
#include <string>

#include "core/params/require.h"

namespace lull::bm4d {
namespace {

void require(bool holds, const std::string& what, double value, const std::string& range) {
  lull::require(holds, what, value, range + " for bm4d");
}

void validate_phase(const PhaseParams& p, const std::string& phase) {
  const auto of = [&](const char* what) { return what + (" of the " + phase + " phase"); };
  require(p.cube == 3 || p.cube == 4, of("cube"), p.cube, "3 or 4");
  require(p.window >= 3 && p.window <= max_window && p.window % 2 == 1, of("window"), p.window,
          "odd, from 3 to 15");
  require(
      p.group >= 1 && p.group <= max_group && std::has_single_bit(static_cast<unsigned>(p.group)),
      of("group"), p.group, "1, 2, 4, 8, 16 or 32");
  // A step beyond the side of a cube would leave voxels without an estimate.
  require(p.step >= 1 && p.step <= p.cube, of("step"), p.step,
          "from 1 to the side of a cube, " + std::to_string(p.cube) + ",");
  require(p.kaiser >= 0 && p.kaiser <= 4, of("kaiser"), p.kaiser, "from 0 to 4");
}

}  // namespace

// Measurements determined the constants (docs/measurements/volumes.md).
Params make_params(Profile profile, const NoiseModel& noise) {
  Params p;
  p.noise = noise;
  switch (profile) {
    case Profile::fast:
      p.hard.window = p.wiener.window = 7;
      p.hard.step = 4;
      break;
    case Profile::balanced:
      p.wiener.window = 9;
      break;
    case Profile::high:
    case Profile::best:
      p.hard.step = p.wiener.step = 2;
      p.wiener.cube = 3;
      break;
    case Profile::paper:
      throw InvalidArgument("the profile paper with bm4d (which does not have it); choose another");
  }
  return p;
}

void validate(const Params& p) {
  validate(p.noise);
  if (!p.noise.is_white())
    throw InvalidArgument(
        "noise that is not white with bm4d (bm4d supports only white noise); choose bm3d");
  validate_phase(p.hard, "first");
  validate_phase(p.wiener, "second");
  require(p.lambda >= 0 && std::isfinite(p.lambda), "lambda", p.lambda, "a number from 0");
  require(p.lambda_mean >= 0 && std::isfinite(p.lambda_mean), "lambda-mean", p.lambda_mean,
          "a number from 0");
  require(p.mu2 > 0 && std::isfinite(p.mu2), "mu2", p.mu2, "above 0");
  require(p.mu2_mean >= 0 && std::isfinite(p.mu2_mean), "mu2-mean", p.mu2_mean, "a number from 0");
  require(p.phases == 1 || p.phases == 2, "phases", p.phases, "1 or 2");
}

}  // namespace lull::bm4d
