#include "noise/areas/area_session.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/float_range.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/areas/constant_areas.h"
#include "noise/fill_holes.h"
#include "noise/holes.h"

namespace lull {
namespace {

/// Returns pseudo-random noise with standard deviation 1 for the sample at (x, y). The noise also
/// depends on `value`, the interpolated sample, and therefore changes from frame to frame.
float area_noise(float value, int x, int y) {
  // The hash ends with the final mixing step of MurmurHash3 (Austin Appleby, public domain).
  std::uint32_t h = std::bit_cast<std::uint32_t>(value) * 0x9e3779b1u ^
                    static_cast<std::uint32_t>(x) * 0x85ebca77u ^
                    static_cast<std::uint32_t>(y) * 0xc2b2ae3du;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  h ^= h >> 16;
  // The sum of four random bytes is nearly Gaussian. Its standard deviation is sqrt(4 * (256^2 - 1)
  // / 12) = 148.
  const auto bytes =
      static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510;
  return static_cast<float>(bytes) / 148;
}

/// Replaces the samples of `areas` by samples interpolated from their surroundings, plus noise.
/// @param noise  standard deviation on the 0..255 scale; 0: no noise
void replace_areas(const std::vector<SampleRun>& areas, float noise, const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  const PlaneView<float> samples = plane.view();
  load_plane(frame, i, samples);
  std::vector<bool> hole(static_cast<std::size_t>(samples.width) * samples.height);
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x)
      if (!FloatGuard::is_in_filter_range(samples(x, y)))
        hole[static_cast<std::size_t>(y) * samples.width + x] = true;
  for (const SampleRun& run : areas)
    std::fill_n(hole.begin() + static_cast<std::ptrdiff_t>(run.y) * samples.width + run.begin,
                run.end - run.begin, true);
  if (!interpolate_holes(Holes(samples.width, samples.height, hole), samples)) return;
  for (const SampleRun& run : areas)
    for (int x = run.begin; x < run.end; ++x)
      samples(x, run.y) += noise * area_noise(samples(x, run.y), x, run.y);
  const float scale = static_cast<float>(frame.format.full_scale(i)) / 255;
  const auto store = [&]<class T>(PlaneView<T> to) {
    for (const SampleRun& run : areas)
      for (int x = run.begin; x < run.end; ++x)
        to(x, run.y) =
            as_sample<T>(samples(x, run.y) * scale, static_cast<float>(frame.format.max_value()));
  };
  switch (frame.format.sample) {
    case SampleType::u8:
      return store(frame.plane<std::uint8_t>(i));
    case SampleType::u16:
      return store(frame.plane<std::uint16_t>(i));
    case SampleType::f32:
      return store(frame.plane<float>(i));
  }
}

class AreaSession final : public Denoiser {
 public:
  AreaSession(LevelsOfFrame levels, const FrameFormat& format, std::unique_ptr<Denoiser> filter,
              const ResultSamples& results, const AreaOptions& options)
      : levels_(std::move(levels)),
        replaced_pool_(format),
        result_pool_(result_format(format, results)),
        filter_(std::move(filter)),
        options_(options) {}

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    PendingFrame& pending = pending_.emplace_back();
    if (noisy.on_device || !noisy.pixels || noisy.format != replaced_pool_.format())
      return restored(filter_->push(std::move(noisy)));
    const std::array<float, 3> levels = levels_(noisy);
    bool has_areas = false, has_foreign = false;
    for (int i = 0; i < noisy.format.planes(); ++i) {
      if (levels[i] > 0) pending.areas[i] = find_areas(noisy, i, levels[i], options_.are_slices);
      has_areas |= !pending.areas[i].none();
      has_foreign |= !pending.areas[i].foreign.empty();
    }
    if (has_areas) pending.noisy = noisy;
    if (!has_foreign) return restored(filter_->push(std::move(noisy)));
    Frame replaced = copied(noisy, replaced_pool_);
    static_cast<FrameInputs&>(replaced) = noisy;
    for (int i = 0; i < noisy.format.planes(); ++i)
      if (!pending.areas[i].foreign.empty())
        replace_areas(pending.areas[i].foreign, options_.adds_noise ? levels[i] : 0, replaced, i);
    return restored(filter_->push(std::move(replaced)));
  }
  std::optional<Frame> next() override { return restored(filter_->next()); }
  std::optional<Frame> drain() override { return restored(filter_->drain()); }

 private:
  /// A frame whose result the filter has not returned yet.
  struct PendingFrame {
    Frame noisy;  // has samples if the frame has constant areas
    std::array<PlaneAreas, 3> areas;
  };

  std::optional<Frame> restored(std::optional<Frame> result) {
    if (!result) return result;
    if (pending_.empty()) throw InternalError("a filter returned more frames than it received");
    const PendingFrame pending = std::move(pending_.front());
    pending_.pop_front();
    if (!pending.noisy.pixels || !result->pixels) return result;
    // If the result shares its samples with an input frame or with another result, the session
    // changes a copy.
    const bool is_shared = result->pixels.use_count() > 1;
    const Frame clean = is_shared ? copied(*result, result_pool_) : *std::move(result);
    const Frame preserved = unfiltered(pending.noisy, result_pool_);
    const int bytes = clean.format.bytes_per_sample();
    for (int i = 0; i < clean.format.planes(); ++i) {
      for (const SampleRun& run : pending.areas[i].preserved)
        std::copy_n(preserved.planes[i].row(run.y) + std::ptrdiff_t{run.begin} * bytes,
                    std::ptrdiff_t{run.end - run.begin} * bytes,
                    clean.planes[i].row(run.y) + std::ptrdiff_t{run.begin} * bytes);
    }
    return clean;
  }

  LevelsOfFrame levels_;
  FramePool replaced_pool_, result_pool_;
  std::unique_ptr<Denoiser> filter_;
  AreaOptions options_;
  std::deque<PendingFrame> pending_;
};

}  // namespace

std::unique_ptr<Denoiser> with_constant_areas(LevelsOfFrame levels, const FrameFormat& format,
                                              std::unique_ptr<Denoiser> filter,
                                              const ResultSamples& results,
                                              const AreaOptions& options) {
  return std::make_unique<AreaSession>(std::move(levels), format, std::move(filter), results,
                                       options);
}

}  // namespace lull
