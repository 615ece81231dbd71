// Fuzzes a volume or a series and its mask. The first two bytes give the size of the volume's file,
// and the mask's file follows it.

#include <cstdlib>
#include <cstring>

#include "bm4d/bm4d.h"
#include "fuzz/fuzz.h"
#include "tools/commands/volume_quality.h"
#include "tools/volumes/masks.h"

namespace {

using namespace lull;

constexpr int most_voxels = 1 << 10, most_slices = 40;

/// Outside of its mask a slice must be unchanged.
void expect_outside_kept(const Frame& noisy, const Frame& result) {
  for (int y = 0; y < noisy.format.height; ++y)
    for (int x = 0; x < noisy.format.width; ++x) {
      const int bytes = noisy.format.bytes_per_sample();
      if (!result.mask->inside(x, y) && !result.mask->zero() &&
          std::memcmp(noisy.planes[0].row(y) + x * bytes, result.planes[0].row(y) + x * bytes,
                      bytes) != 0)
        std::abort();
    }
}

void denoise(io::MediaSource& source, const tools::VolumeMask& mask) {
  bm4d::Params params = bm4d::make_params(bm4d::Profile::fast, {20, 20, 20});
  params.hard.window = params.wiener.window = 3;
  const auto session = tools::masked(bm4d::open(params, source.format(), {.threads = 1}), mask);
  const std::string name = fuzz::output_name(source.info().container == "tiff" ? ".tif" : ".nii");
  const auto sink = io::open_sink(name, source, {.overwrite = true});
  tools::VolumeQuality quality(source.format().width, source.format().height, source.info().slices,
                               1);
  std::vector<Frame> in;
  std::vector<double> values;
  std::size_t out = 0;
  const auto take = [&](std::optional<Frame> result) {
    if (!result) return false;
    expect_outside_kept(in.at(out++), *result);
    sink->write(*std::move(result));
    return true;
  };
  while (in.size() < most_slices) {
    auto slice = source.read();
    if (!slice) break;
    in.push_back(*slice);
    source.values_of(*slice, values);
    if (slice->slice < source.info().slices && static_cast<int>(in.size()) <= source.info().slices)
      quality.add(values, values, mask.of(*slice).get());
    for (bool more = take(session->push(*std::move(slice))); more;) more = take(session->next());
  }
  while (take(session->drain())) continue;
  if (out != in.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t first = std::min<std::size_t>(data[0] | data[1] << 8, size - 2);
  const fuzz::MemoryFile volume(data + 2, first), mask(data + 2 + first, size - 2 - first);
  fuzz::expect_errors([&] {
    const io::SourceOptions options{.limits = {.pixels = 1 << 16}};
    const auto source = io::open_source(volume.path(), options);
    if (!source->info().stack) return;
    const tools::VolumeMask read = tools::read_mask(mask.path(), *source, options, size % 2 == 0);
    if (source->format().width * source->format().height <= most_voxels) denoise(*source, read);
  });
  return 0;
}
