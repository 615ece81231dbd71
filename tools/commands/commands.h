#pragma once
// What the subcommands of lull do. Each returns the exit code of the process or throws an Error.

#include <string>

#include "tools/options/denoise_options.h"

namespace lull::tools {

/// lull denoise. 0, or 128 + n if signal n stopped it.
int denoise(const DenoiseOptions& options);

/// lull preview. `options.at_us` is the time of the frame; an empty output is chosen by the input's
/// name. 0, or 128 + n if signal n stopped it.
int preview(const DenoiseOptions& options);

/// lull devices.
int devices();

/// lull probe: what is in an input, and what `output` (empty: a Matroska file) would have of it.
int probe(const DenoiseOptions& options, bool json);

struct CompareOptions {
  std::string first, second;
  std::string csv;  // empty: none
};

/// lull compare.
int compare(const CompareOptions& options);

}  // namespace lull::tools
