#pragma once
// Options that are set one by one.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace lull::tools {

/// Sets an option as the command line does.
inline void apply(DenoiseOptions& options, std::string_view name, const std::string& value) {
  for (const OptionRow& row : denoise_option_table())
    if (row.names == name || row.names.ends_with("," + std::string(name)))
      return set_option(options, row, value);
  FAIL() << "no option " << name;
}

/// Returns the minimum set of options for a run.
inline DenoiseOptions minimal() {
  DenoiseOptions options;
  apply(options, "--input", "a");
  apply(options, "--output", "b");
  apply(options, "--sigma", "20");
  return options;
}

/// Returns the parameters for the given noise.
inline bm3d::Params params_of(const DenoiseOptions& options, int temporal = 0) {
  return make_params(options, given_noise(options.noise), temporal);
}

}  // namespace lull::tools
