#include "io/stacks/zarr_source.h"

#include <filesystem>

#include "core/error.h"
#include "io/zarr/zarr_pyramid.h"

namespace lull::io {
namespace {

StackAxes axes_of(const ZarrImage& image) {
  const ZarrLevel& level = image.levels.front();
  return {.channels = level.size_of(ZarrAxis::channel),
          .times = level.size_of(ZarrAxis::time),
          .slices = level.size_of(ZarrAxis::z),
          .page_of_frame = {},
          .is_described = image.is_described,
          .warning = {}};
}

}  // namespace

ZarrSource::ZarrSource(const std::string& path, const SourceOptions& options)
    : PlaneSource(path),
      image_(read_zarr_image(path)),
      reader_(image_.levels.front()),
      max_memory_(options.limits.memory) {
  const ZarrLevel& level = image_.levels.front();
  const auto samples = static_cast<std::uint64_t>(level.size_of(ZarrAxis::x)) *
                       static_cast<std::uint64_t>(level.size_of(ZarrAxis::y));
  if (const std::uint64_t most = lull::io::max_samples(options.limits); samples > most)
    throw BadData("'" + path + "' has planes of " + std::to_string(samples) +
                  " samples (more than " + std::to_string(most) + "); allow it with --max-pixels");
  constexpr std::int64_t max_planes = INT32_MAX;
  StackAxes axes = axes_of(image_);
  if (axes.channels * axes.frames_of_channel() > max_planes)
    throw BadData("'" + path + "' states " + describe(axes) + " (more than " +
                  std::to_string(max_planes) + " planes); check the store");
  check_slices(path, axes.channels * axes.frames_of_channel(), options.limits);
  const StoredType type = level.array.samples.type;
  const PlaneFormat format{.width = static_cast<int>(level.size_of(ZarrAxis::x)),
                           .height = static_cast<int>(level.size_of(ZarrAxis::y)),
                           .type = type,
                           .bits = 8 * size_of(type)};
  check_memory(path, static_cast<std::int64_t>(memory_to_read(level) + format.bytes()), max_memory_,
               "write the store again with chunks of fewer slices, or ");
  info_.notes = image_.notes;
  set_planes(std::move(axes), format, options, "zarr");
}

/// Returns the pyramid for an OME-TIFF output: the sizes of the planes in all smaller levels. Each
/// level keeps all slices, channels and time points, because OME-TIFF reduces only rows and
/// columns.
PlanePyramid ZarrSource::pyramid() const {
  PlanePyramid pyramid;
  try {
    check_pyramid(image_);
  } catch (const BadData&) {
    pyramid.loss = "the pyramid (its levels are not smaller copies of one image)";
    return pyramid;
  }
  const auto size_of = [](const ZarrLevel& level) {
    return PlaneSize{.width = level.size_of(ZarrAxis::x), .height = level.size_of(ZarrAxis::y)};
  };
  PlaneSize last = size_of(image_.levels.front());
  for (const ZarrLevel& level : image_.levels) {
    const PlaneSize size = size_of(level);
    if (size.width < last.width || size.height < last.height) pyramid.levels.push_back(last = size);
    if (level.size_of(ZarrAxis::z) < image_.levels.front().size_of(ZarrAxis::z))
      pyramid.note =
          "the levels of the pyramid get all slices (OME-TIFF reduces only rows and "
          "columns)";
  }
  return pyramid;
}

std::vector<std::string> ZarrSource::files() const {
  const std::string& folder = image_.levels.front().array.folder;
  return {folder + (image_.levels.front().array.version == 2 ? "/.zarray" : "/zarr.json")};
}

void ZarrSource::read_plane(std::int64_t number, std::vector<std::byte>& stored, bool) {
  const StackAxes& all = axes();
  const std::int64_t in_channel = number % all.frames_of_channel();
  reader_.read({.time = in_channel / all.slices,
                .channel = number / all.frames_of_channel(),
                .z = in_channel % all.slices},
               stored);
  // If the metadata state a wrong separator for chunk names, the reader finds no chunks.
  if (number + 1 == pages() && !reader_.has_found_chunks())
    throw BadData("'" + image_.levels.front().array.folder +
                  "' has no chunks (all samples are its fill value); check the store");
}

std::unique_ptr<MediaSource> open_zarr_source(const std::string& path,
                                              const SourceOptions& options) {
  return std::make_unique<ZarrSource>(path, options);
}

}  // namespace lull::io
