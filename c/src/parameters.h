#pragma once
// Parameters by name. Names, values and checks are those of the options of the command `lull`.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "c/include/lull.h"
#include "noise/estimate/estimate.h"
#include "noise/volume/volume_noise.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace lull::c {

/// A noise estimate.
struct Noise {
  NoiseEstimate estimate;
  std::optional<VolumeNoise> volume;  // for volumes whose noise is Rician or varies
};

/// Names of the options of the command `lull`, without dashes, that are parameters of the C
/// interface.
[[nodiscard]] std::span<const std::string_view> parameter_names();
/// Returns the row of the option table for a parameter; null if there is no such parameter.
[[nodiscard]] const tools::OptionRow* find_parameter(std::string_view name);

/// Returns a message of the command `lull` without the dashes of options.
[[nodiscard]] std::string in_own_words(std::string text);

/// Names of the profiles of a method; empty for unknown methods.
[[nodiscard]] std::span<const char* const> profiles_of(std::string_view method);
[[nodiscard]] std::span<const char* const> method_names();

}  // namespace lull::c

struct lull_noise {
  lull::c::Noise found;
};

struct lull_params {
  lull::tools::DenoiseOptions options;
  std::optional<lull::c::Noise> noise;
};
