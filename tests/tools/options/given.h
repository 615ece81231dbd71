#pragma once
// Options as they are given, one by one.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tools/options/denoise_options.h"

namespace lull::tools {

/// As where the command line has it.
inline void apply(DenoiseOptions& options, std::string_view name, const std::string& value) {
  for (const OptionRow& row : denoise_option_table())
    if (row.names == name || row.names.ends_with("," + std::string(name)))
      return row.apply(options, value);
  FAIL() << "no option " << name;
}

/// All that a run needs.
inline DenoiseOptions minimal() {
  DenoiseOptions options;
  apply(options, "--input", "a");
  apply(options, "--output", "b");
  apply(options, "--sigma", "20");
  return options;
}

/// Of the noise that is given.
inline bm3d::Params params_of(const DenoiseOptions& options, int temporal = 0) {
  return make_params(options, given_noise(options), temporal);
}

}  // namespace lull::tools
