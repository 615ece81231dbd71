#pragma once
// Implements `lull bids`, a BIDS App (Gorgolewski et al. 2017, doi:10.1371/journal.pcbi.1005209).

#include <string>
#include <vector>

#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace lull::tools {

struct BidsOptions {
  std::string dataset, output, level;  // `level` must be "participant"
  std::vector<std::string> labels;     // participants, with or without "sub-"; empty: all
  std::vector<std::string> suffixes;   // for example T1w, bold; empty: all supported ones
  DenoiseOptions denoise;              // settings of the denoising; without file names
};

/// Returns the options that both `lull denoise` and `lull bids` accept.
[[nodiscard]] std::vector<OptionRow> bids_option_rows();

/// Denoises the images of a dataset. Returns 0, 128 + n after signal n, or the exit code of the
/// first failure that is not temporary (75 if all failures are temporary).
/// @throws NoInput, BadData, InvalidArgument, CannotCreate  lull can denoise no image
int bids(const BidsOptions& options);

}  // namespace lull::tools
