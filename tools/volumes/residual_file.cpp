#include "tools/volumes/residual_file.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/slices.h"
#include "pipeline/observed_denoiser.h"

namespace lull::tools {

ResidualFile::ResidualFile(const DenoiseOptions& options, io::MediaSource& source)
    : source_(source) {
  const std::string& path = options.output.residuals;
  if (path.empty()) return;
  if (!source.info().volume)
    throw InvalidArgument("--residuals for '" + options.input.file +
                          "' (only volumes are supported); leave it out");
  sink_ = io::open_sink(path, source,
                        {.overwrite = options.output.overwrite,
                         .datatype = io::DataType::float32,
                         .access = options.output.access});
}

std::unique_ptr<Denoiser> ResidualFile::observe(std::unique_ptr<Denoiser> denoiser) {
  if (!sink_) return denoiser;
  return pipeline::observed(std::move(denoiser), [this](const Frame& noisy, const Frame& result) {
    write(noisy, result);
  });
}

/// Writes the residual of one slice. If the input file contains NaN in a voxel, the residual is
/// NaN. `noisy` also contains NaN in voxels with an outlier. The residual of such a voxel is 0,
/// because the output file contains the outlier unchanged.
void ResidualFile::write(const Frame& noisy, const Frame& result) {
  Frame residual = FramePool(noisy.format).acquire();
  residual.copy_info(noisy);
  const io::ValueScale& values = source_.info().values;
  const auto zero = static_cast<float>(-values.low / values.span);
  const PlaneView<const float> from = noisy.plane<float>(0), clean = result.plane<float>(0);
  const PlaneView<float> to = residual.plane<float>(0);
  std::vector<double> stored;
  source_.values_of(noisy, stored);
  std::vector<bool> inside;
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      const float difference = from(x, y) - clean(x, y);
      const bool is_nan = std::isnan(stored[inside.size()]);
      inside.push_back(is_nan || (difference != 0 && !std::isnan(from(x, y))));
      to(x, y) = zero + difference;
    }
  residual.mask = std::make_shared<SliceMask>(to.width, to.height, std::move(inside), true);
  sink_->write(std::move(residual));
}

void ResidualFile::finish() {
  if (sink_) sink_->finish();
}

}  // namespace lull::tools
