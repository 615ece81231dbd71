#include "bm3d/host_session.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bm3d/colour.h"
#include "bm3d/guide.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"

namespace lull::bm3d {
namespace {

/// The planes of a frame as float samples, in the space in which they are filtered.
using Planes = std::array<Plane<float>, 3>;

class HostSession : public Denoiser {
 public:
  HostSession(const Params& params, const FrameFormat& format, std::unique_ptr<PhaseEngine> engine)
      : params_(params), format_(format), engine_(std::move(engine)), pool_(format) {
    working_sigma_ = format.layout == Layout::rgb ? opponent_sigma(params.sigma) : params.sigma;
    for (int i = 0; i < format.planes(); ++i) {
      any_filtered_ = any_filtered_ || is_filtered(i);
      for (Planes* planes : {&noisy_, &basic_, &result_})
        (*planes)[i] = Plane<float>(format.plane_width(i), format.plane_height(i));
    }
    if (format.subsampled())
      for (Plane<float>* plane : {&chroma_guide_, &chroma_guide_final_})
        *plane = Plane<float>(format.plane_width(1), format.plane_height(1));
  }

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (!any_filtered_) return noisy;
    Frame clean = pool_.acquire();
    clean.take_identity(noisy);
    for (int i = 0; i < format_.planes(); ++i) load_plane(noisy, i, noisy_[i].view());
    if (format_.layout == Layout::rgb) mix_planes(opponent_forward, views(noisy_));
    filter();
    if (format_.layout == Layout::rgb) mix_planes(opponent_inverse, views(result_));
    for (int i = 0; i < format_.planes(); ++i) {
      if (is_filtered(i) && params_.sigma[i] > 0)
        store_plane(result_[i].view(), clean, i);
      else
        copy_plane(noisy, i, clean);
    }
    return clean;
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  /// Where groups come from, in each phase.
  struct Guides {
    PlaneView<const float> hard;
    float sigma;
    PlaneView<const float> wiener;
  };

  bool is_filtered(int i) const {
    return working_sigma_[i] > 0 && format_.plane_width(i) >= patch &&
           format_.plane_height(i) >= patch;
  }

  static std::array<PlaneView<float>, 3> views(Planes& planes) {
    return {planes[0].view(), planes[1].view(), planes[2].view()};
  }

  static void copy_samples(PlaneView<const float> from, PlaneView<float> to) {
    for (int y = 0; y < to.height; ++y) std::copy_n(from.row(y), to.width, to.row(y));
  }

  void filter() {
    const auto luma = std::as_const(noisy_[0]).view();
    const auto best_luma = [&](Planes& planes) {  // the first plane may be free of noise
      return is_filtered(0) ? std::as_const(planes[0]).view() : luma;
    };
    if (!format_.subsampled()) {
      filter_planes(0, format_.planes(), {luma, working_sigma_[0], best_luma(basic_)});
      return;
    }
    filter_planes(0, 1, {luma, working_sigma_[0], best_luma(basic_)});
    if (!is_filtered(1) && !is_filtered(2)) return;
    box_average(luma, format_.chroma_shift_x, format_.chroma_shift_y, chroma_guide_.view());
    box_average(best_luma(result_), format_.chroma_shift_x, format_.chroma_shift_y,
                chroma_guide_final_.view());
    const float averaged =
        std::sqrt(static_cast<float>(1 << (format_.chroma_shift_x + format_.chroma_shift_y)));
    filter_planes(1, 3,
                  {std::as_const(chroma_guide_).view(), working_sigma_[0] / averaged,
                   std::as_const(chroma_guide_final_).view()});
  }

  /// Both phases over the planes first .. last - 1, which share their groups: noisy_ to result_.
  void filter_planes(int first, int last, const Guides& guides) {
    std::vector<PlaneView<const float>> noisy, basic;
    std::vector<PlaneView<float>> estimate, result;
    std::vector<float> sigma;
    for (int i = first; i < last; ++i) {
      if (!is_filtered(i)) {
        copy_samples(noisy_[i].view(), result_[i].view());  // RGB is mixed back from all three
        continue;
      }
      noisy.push_back(noisy_[i].view());
      basic.push_back(basic_[i].view());
      estimate.push_back(basic_[i].view());
      result.push_back(result_[i].view());
      sigma.push_back(working_sigma_[i]);
    }
    if (noisy.empty()) return;
    engine_->run(params_, {.guide = guides.hard,
                           .guide_sigma = guides.sigma,
                           .noisy = noisy,
                           .basic = {},
                           .sigma = sigma,
                           .estimate = params_.phases == 1 ? result : estimate});
    if (params_.phases == 1) return;
    engine_->run(params_, {.guide = guides.wiener,
                           .guide_sigma = 0,
                           .noisy = noisy,
                           .basic = basic,
                           .sigma = sigma,
                           .estimate = result});
  }

  Params params_;
  FrameFormat format_;
  std::unique_ptr<PhaseEngine> engine_;
  FramePool pool_;
  std::array<float, 3> working_sigma_;
  bool any_filtered_ = false;
  Planes noisy_, basic_, result_;
  Plane<float> chroma_guide_, chroma_guide_final_;
};

}  // namespace

std::unique_ptr<Denoiser> open_host(const Params& params, const FrameFormat& format,
                                    std::unique_ptr<PhaseEngine> engine) {
  return std::make_unique<HostSession>(params, format, std::move(engine));
}

}  // namespace lull::bm3d
