#include "tools/volumes/series_store.h"

#include "core/error.h"
#include "core/samples.h"
#include "io/files/scratch_memory.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {
SeriesStore::SeriesStore(const io::MediaSource& source, int volumes, std::int64_t max_memory,
                         const std::string& folder)
    : max_memory_(max_memory), folder_(folder) {
  const FrameFormat& format = source.format();
  samples_.shape = {format.width, format.height, static_cast<int>(source.info().slices), volumes};
  allocate();
}

void SeriesStore::allocate() {
  const std::size_t bytes = samples_.shape.samples() * sizeof(float);
  const bool fits = max_memory_ <= 0 || bytes <= static_cast<std::size_t>(max_memory_);
  memory_ = fits ? io::main_memory(bytes) : io::scratch_memory(bytes, folder_);
  samples_.data = reinterpret_cast<float*>(memory_.get());
}

SeriesStore SeriesStore::with_volumes(int volumes) const {
  SeriesStore store;
  store.max_memory_ = max_memory_;
  store.folder_ = folder_;
  store.samples_.shape = samples_.shape;
  store.samples_.shape.volumes = volumes;
  store.allocate();
  return store;
}

void SeriesStore::add(const Frame& slice) {
  const series::Shape& shape = samples_.shape;
  if (slice.pts < 0 || slice.pts >= static_cast<std::int64_t>(shape.slices) * shape.volumes)
    throw InternalError("a frame that is not a slice of the series");
  load_plane(slice, 0,
             {samples_.data + static_cast<std::size_t>(slice.pts) * shape.slice_voxels(),
              shape.width, shape.height, shape.width});
}

}  // namespace lull::tools
