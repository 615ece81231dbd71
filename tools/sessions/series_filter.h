#pragma once
// Filters the components of a series on the devices of a run.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "series/complex/magnitude_denoiser.h"
#include "tools/options/denoise_options.h"
#include "tools/search/series_search.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {

/// A progress callback: receives the number of filtered slices and the total number of slices, over
/// all components.
using ComponentProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// Reports the progress as a line of text, at most every 15 seconds.
class SeriesProgress {
 public:
  explicit SeriesProgress(Notify info) : info_(std::move(info)) {}
  void operator()(std::int64_t done, std::int64_t all);

 private:
  Notify info_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Filters each component of a series as a volume. Returns a session for the slices of the filtered
/// series, or null if the user has stopped the run.
/// @param parts  callback that receives the filtered slices of the real and imaginary parts; may be
///     an empty function
/// @param series  filter_series() overwrites the samples of the series
/// @throws any exception of the sessions
[[nodiscard]] std::unique_ptr<Denoiser> filter_series(
    const DenoiseOptions& options, const io::MediaSource& source,
    const std::shared_ptr<FittedSeries>& series, const std::vector<bm3d::Backend>& backends,
    const Notify& notify, const ComponentProgress& progress, const series::PartsObserver& parts,
    const std::stop_token& stop);

}  // namespace lull::tools
