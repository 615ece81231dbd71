// Replaces zarr_source.cpp and zarr_sink.cpp in builds without c-blosc and zstd.

#include "core/error.h"
#include "io/stacks/stack.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {

std::unique_ptr<MediaSource> open_zarr_source(const std::string& path, const SourceOptions&) {
  throw BadData("'" + path +
                "' is a Zarr store (this build of lull has no c-blosc); build lull with "
                "libblosc-dev and libzstd-dev, or convert it to OME-TIFF");
}

std::unique_ptr<MediaSink> open_zarr_sink(const std::string& path, MediaSource&,
                                          const SinkOptions&) {
  if (!is_zarr_name(path)) return nullptr;
  throw InvalidArgument("'" + path +
                        "' cannot be written (this build of lull has no c-blosc); build lull with "
                        "libblosc-dev and libzstd-dev, or name it .tif");
}

}  // namespace lull::io
