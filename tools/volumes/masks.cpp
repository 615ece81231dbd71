#include "tools/volumes/masks.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "pipeline/observed_denoiser.h"

namespace lull::tools {
namespace {

std::string size_text(const FrameFormat& format, std::int64_t slices) {
  return std::to_string(format.width) + "x" + std::to_string(format.height) + "x" +
         std::to_string(slices);
}

/// Opens the file of the mask, with the slice axis and the size limits of the volume.
std::unique_ptr<io::MediaSource> open_mask(const std::string& path,
                                           const io::SourceOptions& options) {
  io::SourceOptions mask_options;
  mask_options.limits = options.limits;
  mask_options.axis = options.axis;
  auto mask = io::open_source(path, mask_options);
  if (!mask->info().stack)
    throw InvalidArgument("--mask " + path +
                          " (it is not a volume); give NIfTI, a TIFF stack or OME-Zarr");
  return mask;
}

void check_size(const std::string& path, const io::MediaSource& mask,
                const io::MediaSource& source) {
  const FrameFormat &a = mask.format(), &b = source.format();
  const std::int64_t slices =
      source.info().stack ? source.info().slices : source.info().frames_estimate;
  const std::int64_t all = source.info().frames_estimate, mask_slices = mask.info().frames_estimate;
  const bool fits = slices == 0 ||
                    (mask.info().slices == slices && (mask_slices == slices || mask_slices == all));
  if (a.width == b.width && a.height == b.height && fits) return;
  throw BadData("--mask " + path + " has " + size_text(a, mask_slices) + " voxels, the input has " +
                size_text(b, all) +
                " (a mask must match the volume, or one volume of a series); resample it");
}

std::shared_ptr<const SliceMask> mask_of(const FrameFormat& format,
                                         const std::vector<double>& values, bool zero,
                                         std::int64_t& inside) {
  std::vector<bool> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bits[i] = values[i] != 0 && !std::isnan(values[i]);
    inside += bits[i];
  }
  return std::make_shared<SliceMask>(format.width, format.height, std::move(bits), zero);
}

/// Returns the value of samples outside the mask: black, or the neutral value for chroma.
template <class T>
T zero_of(const FrameFormat& format, int plane, float zero) {
  if constexpr (std::is_floating_point_v<T>) return plane == 0 ? zero : 0;
  const bool chroma = format.layout == Layout::yuv && plane > 0;
  return chroma ? static_cast<T>(1 << (format.bits - 1)) : T{};
}

/// Sets the samples of the result outside the mask: to zero_of() if SliceMask::zero() is true, and
/// otherwise to the input samples. The mask has the size of the first plane. For a subsampled
/// chroma sample, the value of the mask at the corresponding position in the first plane applies.
template <class T>
void restore_plane(const Frame& noisy, int plane, float zero, const Frame& result) {
  const SliceMask& mask = *noisy.mask;
  const FrameFormat& format = noisy.format;
  const int shift_x = plane == 0 ? 0 : format.chroma_shift_x;
  const int shift_y = plane == 0 ? 0 : format.chroma_shift_y;
  const PlaneView<const T> from = noisy.plane<T>(plane);
  const PlaneView<T> to = result.plane<T>(plane);
  const T zero_value = zero_of<T>(format, plane, zero);
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x)
      if (!mask.inside(x << shift_x, y << shift_y))
        to(x, y) = mask.zero() ? zero_value : from(x, y);
}

void restore_outside(const Frame& frame, float zero, const Frame& result) {
  FramePool pool(result.format);
  const Frame noisy = unfiltered(frame, pool);
  for (int i = 0; i < noisy.format.planes(); ++i) switch (noisy.format.sample) {
      case SampleType::u8:
        restore_plane<std::uint8_t>(noisy, i, zero, result);
        break;
      case SampleType::u16:
        restore_plane<std::uint16_t>(noisy, i, zero, result);
        break;
      case SampleType::f32:
        restore_plane<float>(noisy, i, zero, result);
        break;
    }
}

/// A denoiser that assigns a mask to each slice before it pushes the slice.
class MaskAttacher final : public Denoiser {
 public:
  MaskAttacher(std::unique_ptr<Denoiser> denoiser, VolumeMask mask)
      : denoiser_(std::move(denoiser)), mask_(std::move(mask)) {}

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    noisy.mask = mask_.of(noisy);
    return denoiser_->push(std::move(noisy));
  }
  std::optional<Frame> next() override { return denoiser_->next(); }
  std::optional<Frame> drain() override { return denoiser_->drain(); }

 private:
  std::unique_ptr<Denoiser> denoiser_;
  VolumeMask mask_;
};

}  // namespace

const std::shared_ptr<const SliceMask>& VolumeMask::of(const Frame& slice) const {
  const std::int64_t number = series || slice.slice < 0 ? slice.pts : slice.slice;
  if (number < 0 || number >= static_cast<std::int64_t>(slices.size()))
    throw BadData("slice " + std::to_string(number) + " has no mask (--mask has " +
                  std::to_string(slices.size()) + " slices); give a mask of the same size");
  return slices[static_cast<std::size_t>(number)];
}

VolumeMask read_mask(const std::string& path, const io::MediaSource& source,
                     const io::SourceOptions& options, bool zero_outside) {
  const auto file = open_mask(path, options);
  check_size(path, *file, source);
  VolumeMask mask;
  mask.series = file->info().frames_estimate > file->info().slices;
  if (source.info().stack && source.format().sample == SampleType::f32)
    mask.zero = static_cast<float>(-source.info().values.low / source.info().values.span);
  std::vector<double> values;
  while (const auto slice = file->read()) {
    file->values_of(*slice, values);
    mask.slices.push_back(mask_of(file->format(), values, zero_outside, mask.inside));
  }
  if (mask.inside == 0)
    throw BadData("--mask " + path + " selects no voxel (all its values are 0); give another mask");
  return mask;
}

std::optional<VolumeMask> given_mask(const InputOptions& options, const io::MediaSource& source) {
  if (options.mask.empty()) return std::nullopt;
  if (!source.info().stack && !options.stack)
    throw InvalidArgument("--mask for '" + options.file +
                          "' (its frames are not slices of a volume); give --stack if they are");
  return read_mask(options.mask, source, source_options(options), options.zero_outside);
}

std::unique_ptr<Denoiser> masked(std::unique_ptr<Denoiser> denoiser, VolumeMask mask) {
  // restore_outside() changes the samples in place, because the denoiser does not read its results
  // again.
  auto restoring = pipeline::observed(std::move(denoiser),
                                      [zero = mask.zero](const Frame& noisy, const Frame& result) {
                                        restore_outside(noisy, zero, result);
                                      });
  return std::make_unique<MaskAttacher>(std::move(restoring), std::move(mask));
}

}  // namespace lull::tools
