#include "tools/volumes/series_store.h"

#include "core/error.h"
#include "core/samples.h"
#include "io/files/scratch_memory.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {
namespace {

std::shared_ptr<std::byte[]> allocate(std::size_t bytes, std::int64_t max_memory,
                                      const std::string& folder) {
  const bool fits = max_memory <= 0 || bytes <= static_cast<std::size_t>(max_memory);
  return fits ? io::main_memory(bytes) : io::scratch_memory(bytes, folder);
}

}  // namespace

SeriesStore::SeriesStore(const io::MediaSource& source, std::int64_t max_memory,
                         const std::string& folder) {
  const FrameFormat& format = source.format();
  samples_.shape = {format.width, format.height, static_cast<int>(source.info().slices),
                    static_cast<int>(volumes_of(source.info()))};
  memory_ = allocate(samples_.shape.samples() * sizeof(float), max_memory, folder);
  samples_.data = reinterpret_cast<float*>(memory_.get());
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
