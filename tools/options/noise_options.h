#pragma once
// Defines the options that describe the noise.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "noise/noise_model.h"
#include "noise/volume/estimate_photons.h"
#include "noise/volume/volume_noise.h"

namespace lull::tools {

struct NoiseRecord;  // tools/noise/noise_record.h

/// Unit of --sigma. automatic: the unit of the file for volumes and float stacks, 8-bit levels
/// otherwise.
enum class SigmaScale { automatic, native, eight_bits, unit };

/// Special values of --repair. Any other value names a file.
inline constexpr const char *repair_auto = "auto", *repair_off = "off";

struct NoiseOptions {
  std::optional<std::array<float, 3>> sigma;  // empty: estimated, or given by `file`
  SigmaScale scale = SigmaScale::automatic;
  std::string file;  // noise file; empty: none
  /// The noise from an earlier estimation in this process, or null. No option sets this member.
  std::shared_ptr<const NoiseRecord> known;
  std::optional<NoiseKind> kind;  // for volumes; empty: estimated from their background
  /// Parameters of photon noise that the user states for a stack, in the units of the file. Empty
  /// if the user does not request photon noise.
  std::optional<KnownPhotonNoise> photons;
  std::string map;                   // file of the noise map to write; empty: none
  float strength = 1;                // factor for the noise level
  std::string repair = repair_auto;  // repair_auto, repair_off, or the file of a list of defects
};

/// Returns white noise with the sigma of the options. Without a sigma, returns an arbitrary noise
/// level, so that check() can examine the other parameters.
[[nodiscard]] NoiseModel given_noise(const NoiseOptions& options);
/// Returns `noise` with the noise levels multiplied by --strength.
[[nodiscard]] NoiseModel with_strength(const NoiseOptions& options, const NoiseModel& noise);

}  // namespace lull::tools
