#pragma once
// lull bids: a BIDS App (Gorgolewski et al. 2017, doi:10.1371/journal.pcbi.1005209) that denoises
// the images of a dataset.

#include <string>
#include <vector>

#include "tools/options/denoise_options.h"

namespace lull::tools {

struct BidsOptions {
  std::string dataset, output, level;  // level: participant
  std::vector<std::string> labels;     // of participants, with or without "sub-"; empty: all
  std::vector<std::string> suffixes;   // T1w, bold; empty: all that can be denoised
  DenoiseOptions denoise;              // how; without names
};

/// The rows of the table of lull denoise that say how.
[[nodiscard]] std::vector<OptionRow> bids_option_rows();

/// The exit code: 0, that of the first image that failed, or 128 + n if signal n stopped it.
/// @throws NoInput, BadData, InvalidArgument, CannotCreate  nothing can be done at all
int bids(const BidsOptions& options);

}  // namespace lull::tools
