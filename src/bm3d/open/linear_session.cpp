#include "bm3d/open/linear_session.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bm3d/open/pass_through.h"
#include "bm3d/phase_plan.h"
#include "bm3d/stabilisers.h"
#include "core/colour.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "linear/plan.h"
#include "linear/schedule.h"
#include "noise/filtered_samples.h"

namespace lull::bm3d {
namespace {

using linear::Source;

/// A picture of floats whose rows can be read beyond their end (linear::readable_padding).
class Picture {
 public:
  Picture() = default;
  Picture(int width, int height)
      : plane_(width + linear::readable_padding, height), width_(width) {}

  PlaneView<float> view() {
    PlaneView<float> view = plane_.view();
    view.width = width_;
    return view;
  }

 private:
  Plane<float> plane_;
  int width_ = 0;
};

class LinearSession : public Denoiser {
 public:
  LinearSession(const Params& params, const FrameFormat& format,
                std::unique_ptr<linear::Engine> engine, const ResultSamples& results)
      : params_(params),
        format_(format),
        noise_(filtered_noise(params.noise, format)),
        sets_(linear::plan_sets(format, noise_)),
        samples_(params.noise, stabilisers_of(params, format.layout)),
        engine_(std::move(engine)),
        pool_(result_format(format, results)) {
    for (int i = 0; i < format.planes(); ++i) {
      y_[i] = picture_of(i);
      if (is_filtered(i)) x_[i] = picture_of(i), z_[i] = picture_of(i);
    }
    if (std::ranges::any_of(sets_, [](const auto& plan) { return plan.set.is_composite(); }))
      guide_ = picture_of(format.planes() - 1);
  }

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    refuse_device_memory(noisy);
    bool guarded = false;
    for (int i = 0; i < format_.planes(); ++i) guarded |= samples_.load(noisy, i, y_[i].view());
    apply_matrix(opponent_forward, views(y_));
    for (const linear::SetPlan& plan : sets_) filter(plan);
    return store(noisy, guarded);
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  using Views = std::array<PlaneView<float>, 3>;

  Picture picture_of(int i) const { return {format_.plane_width(i), format_.plane_height(i)}; }
  static Views views(std::array<Picture, 3>& pictures) {
    return {pictures[0].view(), pictures[1].view(), pictures[2].view()};
  }
  bool is_filtered(int i) const { return noise_.sigma(i) > 0 && fits_patch(format_, i); }

  void apply_matrix(const float (&matrix)[3][3], const Views& planes) const {
    if (format_.layout == Layout::rgb) apply_colour_matrix(matrix, planes);
  }

  void filter(const linear::SetPlan& plan) {
    std::vector<linear::PlaneState> planes;
    for (const int i : plan.set.planes)
      planes.push_back({y_[i].view(), x_[i].view(), z_[i].view(), &noise_.plane(i)});
    linear::filter_set(*engine_, plan.params, plan.range, planes,
                       [&](Source source) { return guide(plan.set, source); });
  }

  /// Returns the guide of a set, computed from the given pictures.
  PlaneView<const float> guide(const PlaneSet& set, Source source) {
    const auto picture = [&](int i) -> PlaneView<const float> {
      const bool of_set = std::ranges::find(set.planes, i) != set.planes.end();
      // The planes of earlier sets are already filtered, so the filtered planes are used.
      if (!of_set) return (is_filtered(i) ? x_ : y_)[i].view();
      return (source == Source::y ? y_ : source == Source::x ? x_ : z_)[i].view();
    };
    if (!set.is_composite()) return picture(0);
    const PlaneView<float> sum = guide_.view();
    if (set.uses_luma)
      box_average(picture(0), format_.chroma_shift_x, format_.chroma_shift_y, sum);
    else
      for (int y = 0; y < sum.height; ++y) std::fill_n(sum.row(y), sum.width, 0.0f);
    for (const int i : {1, 2})
      if (const float weight = set.chroma_weights[i - 1]; weight != 0)
        add_weighted(picture(i), weight, sum);
    return sum;
  }

  Frame store(const Frame& noisy, bool guarded) {
    Views result;
    for (int i = 0; i < format_.planes(); ++i) result[i] = (is_filtered(i) ? x_ : y_)[i].view();
    apply_matrix(opponent_inverse, result);
    Frame clean = pool_.acquire();
    clean.copy_info(noisy);
    for (int i = 0; i < format_.planes(); ++i) {
      if (params_.noise.sigma(i) > 0 && fits_patch(format_, i))
        samples_.store(result[i], guarded ? &noisy : nullptr, i, clean);
      else
        copy_plane(noisy, i, clean);
    }
    return clean;
  }

  Params params_;
  FrameFormat format_;
  NoiseModel noise_;  // noise of the planes in the form in which they are filtered
  std::vector<linear::SetPlan> sets_;
  FilteredSamples samples_;
  std::unique_ptr<linear::Engine> engine_;
  FramePool pool_;
  std::array<Picture, 3> y_, x_, z_;  // x and z (linear/params.h): only planes that are filtered
  Picture guide_;                     // only if a guide is computed from several planes
};

}  // namespace

std::unique_ptr<Denoiser> open_linear(const Params& params, const FrameFormat& format,
                                      std::unique_ptr<linear::Engine> engine,
                                      const ResultSamples& results) {
  return std::make_unique<LinearSession>(params, format, std::move(engine), results);
}

}  // namespace lull::bm3d
