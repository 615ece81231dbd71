#include "scale/enlarger.h"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "core/validate_format.h"
#include "scale/resampling.h"

namespace lull::scale {
namespace {

/// Maximum width and height of a frame, in samples.
constexpr double most_samples = 1 << 30;

// Returns the threshold of BM3D in each round, as a noise level on the 0..255 scale. The number of
// elements is the number of rounds.
std::vector<float> rounds_of(bm3d::Profile profile) {
  switch (profile) {
    case bm3d::Profile::fast:
      return {12};
    case bm3d::Profile::high:
      return {20, 12, 8, 5, 3};
    default:
      return {16, 8, 4};
  }
}

bm3d::Params round_params(bm3d::Profile profile, const FrameFormat& format, float sigma) {
  const float chroma = format.layout == Layout::rgb ? sigma : 0;
  bm3d::Params params = bm3d::make_params(profile, {sigma, chroma, chroma});
  params.phases = 1;
  return params;
}

/// Returns the format of float frames on the 0..255 scale.
FrameFormat float_format(FrameFormat format) {
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 255;
  return format;
}

int scaled(int length, double factor, int shift) {
  if (factor == 1) return length;
  const double unit = 1 << shift;
  return static_cast<int>(std::lround(length * factor / unit)) << shift;
}

std::string text_of(double factor) {
  std::string text = std::to_string(factor);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Filter taps for the enlargement and the reduction of one plane.
struct PlaneTaps {
  Taps up_x, up_y, down_x, down_y;

  PlaneTaps(const FrameFormat& from, const FrameFormat& to, int plane, ChromaSite site) {
    if (plane == 0) site = {};
    const double ratio_x = 1.0 * to.width / from.width, ratio_y = 1.0 * to.height / from.height;
    const int width = from.plane_width(plane), height = from.plane_height(plane);
    up_x = enlarging_taps(width, to.plane_width(plane), ratio_x, site.x);
    up_y = enlarging_taps(height, to.plane_height(plane), ratio_y, site.y);
    down_x = reducing_taps(width, to.plane_width(plane), ratio_x, site.x);
    down_y = reducing_taps(height, to.plane_height(plane), ratio_y, site.y);
  }
};

/// Scratch memory and filter taps for the enlargement of one plane.
class PlaneWork {
 public:
  PlaneWork(const FrameFormat& from, const FrameFormat& to, int plane, ChromaSite site)
      : taps_(from, to, plane, site),
        small_(from.plane_width(plane), from.plane_height(plane)),
        residual_(from.plane_width(plane), from.plane_height(plane)),
        intermediate_(to.plane_width(plane), from.plane_height(plane)) {}

  PlaneView<float> small() { return small_.view(); }

  void enlarge_into(PlaneView<float> large) { enlarge(read(small_), large, Write::replace); }

  /// Back-projection: subtracts the area means of `large` from the small picture, enlarges this
  /// residual, and adds the enlarged residual to `large`.
  void back_project(PlaneView<float> large) {
    // The intermediate plane has the width of `large` and the height of the small plane, as in
    // enlarge(). This function therefore reduces the height first.
    resample_columns(taps_.down_y, large, intermediate_.view());
    resample_rows(taps_.down_x, read(intermediate_), residual_.view());
    const PlaneView<float> residual = residual_.view(), small = small_.view();
    for (int y = 0; y < small.height; ++y)
      for (int x = 0; x < small.width; ++x) residual(x, y) = small(x, y) - residual(x, y);
    enlarge(read(residual_), large, Write::accumulate);
  }

 private:
  static PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

  void enlarge(PlaneView<const float> from, PlaneView<float> to, Write write) {
    resample_rows(taps_.up_x, from, intermediate_.view());
    resample_columns(taps_.up_y, read(intermediate_), to, write);
  }

  PlaneTaps taps_;
  Plane<float> small_, residual_, intermediate_;
};

void replace_non_finite(PlaneView<float> plane) {
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      if (!std::isfinite(plane(x, y))) plane(x, y) = 0;
}

}  // namespace

FrameFormat scaled_format(const FrameFormat& format, double factor) {
  validate(format);
  if (!(factor >= min_factor && factor <= max_factor))
    throw InvalidArgument("scale = " + text_of(factor) +
                          " (must be from 1 to 4); choose one in range");
  FrameFormat to = format;
  if (factor * std::max(format.width, format.height) > most_samples)
    throw InvalidArgument(
        "enlarged frames would be too large (more than 2^30 samples a side); choose a smaller "
        "factor");
  to.width = scaled(format.width, factor, format.chroma_shift_x);
  to.height = scaled(format.height, factor, format.chroma_shift_y);
  return to;
}

class Enlarger::Work {
 public:
  Work(const Params& params, const FrameFormat& from, const bm3d::Backend& backend,
       const FrameFormat& results)
      : to_(scaled_format(results, params.factor)),
        arena_(backend.threads > 0 ? backend.threads : tbb::task_arena::automatic),
        results_(to_),
        floats_(float_format(to_), bm3d::frame_memory(backend)) {
    for (int i = 0; i < to_.planes(); ++i) planes_.emplace_back(from, to_, i, params.site);
    if (to_.width == from.width && to_.height == from.height) return;
    bm3d::Backend alone = backend;
    alone.streams = 1;
    alone.results_on_device = false;
    alone.results = {};
    for (const float sigma : rounds_of(params.profile))
      rounds_.push_back(
          bm3d::open(round_params(params.profile, to_, sigma), floats_.format(), alone));
  }

  const FrameFormat& format() const { return to_; }

  Frame enlarged(const Frame& clean) {
    if (clean.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (it is enlarged in host memory); leave results in host "
          "memory");
    Frame large = floats_.acquire();
    for_planes(clean.format, [&](int i) {
      load_plane(clean, i, planes_[i].small());
      if (clean.format.sample == SampleType::f32) replace_non_finite(planes_[i].small());
      planes_[i].enlarge_into(large.plane<float>(i));
      planes_[i].back_project(large.plane<float>(i));
    });
    for (const std::unique_ptr<Denoiser>& round : rounds_) {
      large = filtered(*round, std::move(large));
      for_planes(clean.format, [&](int i) { planes_[i].back_project(large.plane<float>(i)); });
    }
    Frame result = results_.acquire();
    result.copy_info(clean);
    for (int i = 0; i < to_.planes(); ++i) store_plane(large.plane<const float>(i), result, i);
    return result;
  }

 private:
  template <class Use>
  void for_planes(const FrameFormat& format, const Use& use) {
    arena_.execute([&] {
      for (int i = 0; i < format.planes(); ++i) use(i);
    });
  }

  static Frame filtered(Denoiser& session, Frame frame) {
    std::optional<Frame> result = session.push(std::move(frame));
    while (std::optional<Frame> rest = session.drain()) result = std::move(rest);
    if (!result) throw InternalError("a session did not return a frame");
    return *std::move(result);
  }

  FrameFormat to_;
  tbb::task_arena arena_;
  FramePool results_, floats_;
  std::vector<PlaneWork> planes_;
  std::vector<std::unique_ptr<Denoiser>> rounds_;
};

Enlarger::Enlarger(const Params& params, const FrameFormat& format, const bm3d::Backend& backend,
                   const std::optional<FrameFormat>& results)
    : work_(std::make_unique<Work>(params, format, backend, results.value_or(format))) {}
Enlarger::~Enlarger() = default;
const FrameFormat& Enlarger::format() const noexcept { return work_->format(); }
Frame Enlarger::enlarged(const Frame& clean) { return work_->enlarged(clean); }

double host_bytes(const Params& params, const FrameFormat& format, const bm3d::Backend& backend) {
  const FrameFormat to = scaled_format(format, params.factor);
  const double small = 1.0 * format.width * format.height, large = 1.0 * to.width * to.height;
  const int planes = format.planes();
  // Number of float samples in memory: the planes of PlaneWork, and two frames.
  double samples = planes * (2 * small + std::sqrt(small * large) + 2 * large);
  if (backend.kind != bm3d::BackendKind::cuda)  // BM3D stores noisy planes, guides and sums
    samples += static_cast<double>(rounds_of(params.profile).size()) * (planes * 4 + 2) * large;
  return samples * sizeof(float);
}

}  // namespace lull::scale
