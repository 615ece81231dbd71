// Opens an input as a stack of slices or as a video, depending on its path and content.

#include "core/error.h"
#include "io/dicom/dicom.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/media.h"
#include "io/read/source.h"
#include "io/stacks/stack.h"

namespace lull::io {

namespace {

std::unique_ptr<MediaSource> make_source(const std::string& path, const SourceOptions& options) {
  const StackKind stack = stack_kind(path, options);
  if (stack != StackKind::nifti && options.axis)
    throw InvalidArgument("an axis for '" + path + "' (only volumes have axes); leave --axis out");
  if (!options.series_uid.empty() && !is_dicom(path))
    throw InvalidArgument("a series of '" + path +
                          "' (only DICOM has series to choose from); leave --series-uid out");
  if (stack != StackKind::none && !options.selection.all())
    throw InvalidArgument("a part of '" + path +
                          "' (a stack of slices cannot be divided); leave --frames, --start and "
                          "--duration out");
  if (stack != StackKind::none && options.video)
    throw InvalidArgument("a video stream of '" + path +
                          "' (a stack of slices has none); leave --video out");
  if (stack != StackKind::none && options.white != 0 && options.white != 1)
    throw InvalidArgument("a white for '" + path +
                          "' (a stack of slices has a range of its own); leave --white out");
  if (stack == StackKind::nifti) return open_nifti_source(path, options);
  if (stack == StackKind::tiff) return open_tiff_source(path, options);
  if (stack == StackKind::zarr) return open_zarr_source(path, options);
  capture_ffmpeg_log();
  return std::make_unique<FileSource>(path, options);
}

}  // namespace

std::unique_ptr<MediaSource> open_source(const std::string& path, const SourceOptions& options) {
  auto source = make_source(path, options);
  if (!options.layer.empty() && source->layers().empty())
    throw InvalidArgument("the layer " + options.layer + " of '" + path +
                          "' (only OpenEXR files have layers); leave --layer out");
  return source;
}

}  // namespace lull::io
