#pragma once
// Options about the noise.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "noise/noise_model.h"
#include "noise/volume/volume_noise.h"

namespace lull::tools {

struct NoiseRecord;  // tools/noise/noise_record.h

/// Unit of --sigma. automatic: the units of the file for volumes and float stacks, else 8 bits.
enum class SigmaScale { automatic, native, eight_bits, unit };

/// Values of --repair that are not names of files.
inline constexpr const char *repair_auto = "auto", *repair_off = "off";

struct NoiseOptions {
  std::optional<std::array<float, 3>> sigma;  // empty: estimated, or in `file`
  SigmaScale scale = SigmaScale::automatic;
  std::string file;  // noise file; empty: none
  /// Noise that was estimated already, used instead of a noise file; null: none. No option sets it.
  std::shared_ptr<const NoiseRecord> known;
  std::optional<NoiseKind> kind;    // for volumes; empty: from their background
  std::string map;                  // file of the noise map to write; empty: none
  float strength = 1;               // factor for the noise level
  std::string repair = repair_off;  // repair_auto, repair_off, or the file of a list of defects
};

/// White noise with the given sigma. Without one the level is arbitrary, and the model serves to
/// check the other parameters.
[[nodiscard]] NoiseModel given_noise(const NoiseOptions& options);
/// The noise multiplied by the strength.
[[nodiscard]] NoiseModel with_strength(const NoiseOptions& options, const NoiseModel& noise);

}  // namespace lull::tools
