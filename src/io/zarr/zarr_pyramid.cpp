#include "io/zarr/zarr_pyramid.h"

#include <vector>

#include "core/error.h"
#include "io/pyramid/block_means.h"
#include "io/zarr/zarr_planes.h"

namespace lull::io {
namespace {

Blocks blocks_along(ZarrAxis axis, const ZarrLevel& from, const ZarrLevel& to) {
  return {from.size_of(axis), to.size_of(axis)};
}

PlaneSize plane_size(const ZarrLevel& level) {
  return {.width = level.size_of(ZarrAxis::x), .height = level.size_of(ZarrAxis::y)};
}

}  // namespace

void check_pyramid(const ZarrImage& image) {
  for (std::size_t i = 1; i < image.levels.size(); ++i) {
    const ZarrLevel &from = image.levels[i - 1], &to = image.levels[i];
    const auto fail = [&](const std::string& what) {
      throw BadData("'" + to.array.folder + "' has " + what +
                    " than the level before (a pyramid has smaller copies of one image); check the "
                    "store");
    };
    if (from.size_of(ZarrAxis::time) != to.size_of(ZarrAxis::time)) fail("other time points");
    if (from.size_of(ZarrAxis::channel) != to.size_of(ZarrAxis::channel)) fail("other channels");
    for (const ZarrAxis axis : {ZarrAxis::z, ZarrAxis::y, ZarrAxis::x})
      if (to.size_of(axis) > from.size_of(axis)) fail("more samples along an axis");
  }
}

void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch) {
  ZarrPlaneReader reader(from);
  ZarrPlaneWriter writer(output, to, input, scratch);
  PlaneMeans means(plane_size(from), plane_size(to));
  const Blocks z_blocks = blocks_along(ZarrAxis::z, from, to);
  const StoredFormat from_format{.type = from.array.samples.type},
      to_format{.type = to.array.samples.type};
  std::vector<std::byte> stored, result(to.plane_bytes());
  PlaneIndex plane;
  for (plane.channel = 0; plane.channel < to.size_of(ZarrAxis::channel); ++plane.channel)
    for (plane.time = 0; plane.time < to.size_of(ZarrAxis::time); ++plane.time)
      for (std::int64_t z = 0; z < to.size_of(ZarrAxis::z); ++z) {
        means.clear();
        for (plane.z = z_blocks.begin(z); plane.z < z_blocks.end(z); ++plane.z) {
          reader.read(plane, stored);
          means.add(stored, from_format);
        }
        store_values(means.means(), to_format, result);
        writer.write(result);
      }
  writer.finish();
}

}  // namespace lull::io
