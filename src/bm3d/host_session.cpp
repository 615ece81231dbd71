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

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

void copy_samples(PlaneView<const float> from, PlaneView<float> to) {
  for (int y = 0; y < to.height; ++y) std::copy_n(from.row(y), to.width, to.row(y));
}

class HostSession : public Denoiser {
 public:
  HostSession(const Params& params, const FrameFormat& format, std::unique_ptr<PhaseEngine> engine)
      : params_(params), format_(format), engine_(std::move(engine)), pool_(format) {
    sigma_ = format.layout == Layout::rgb ? opponent_sigma(params.sigma) : params.sigma;
    for (int i = 0; i < format.planes(); ++i) {
      if (is_filtered(i)) (i == 0 ? luma_ : chroma_).push_back(i);
      for (Planes* planes : {&noisy_, &basic_, &result_})
        (*planes)[i] = Plane<float>(format.plane_width(i), format.plane_height(i));
    }
    if (params.guide_noise > 0)
      for (int i = 0; i < format.planes(); ++i)
        mixed_[i] = Plane<float>(format.plane_width(i), format.plane_height(i));
    if (!chroma_.empty()) guide_ = Plane<float>(format.plane_width(1), format.plane_height(1));
  }

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (this session runs on the CPU); decode it on the CPU");
    if (luma_.empty() && chroma_.empty()) return noisy;
    load(noisy);
    filter();
    return store(noisy);
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  bool holds_a_patch(int i) const {
    return format_.plane_width(i) >= patch && format_.plane_height(i) >= patch;
  }
  bool is_filtered(int i) const { return sigma_[i] > 0 && holds_a_patch(i); }

  void load(const Frame& frame) {
    for (int i = 0; i < format_.planes(); ++i) load_plane(frame, i, noisy_[i].view());
    if (format_.layout == Layout::rgb)
      mix_planes(opponent_forward, {noisy_[0].view(), noisy_[1].view(), noisy_[2].view()});
    // Planes that are not filtered are their own estimates: for the guides, and for the way back
    // to RGB.
    for (int i = 0; i < format_.planes(); ++i) {
      if (is_filtered(i)) continue;
      copy_samples(noisy_[i].view(), basic_[i].view());
      copy_samples(noisy_[i].view(), result_[i].view());
    }
  }

  Frame store(const Frame& noisy) {
    if (format_.layout == Layout::rgb)
      mix_planes(opponent_inverse, {result_[0].view(), result_[1].view(), result_[2].view()});
    Frame clean = pool_.acquire();
    clean.take_identity(noisy);
    for (int i = 0; i < format_.planes(); ++i) {
      if (params_.sigma[i] > 0 && holds_a_patch(i))
        store_plane(result_[i].view(), clean, i);
      else
        copy_plane(noisy, i, clean);
    }
    return clean;
  }

  /// See guide.h for what is matched where.
  void filter() {
    hard_threshold(luma_, read(noisy_[0]), sigma_[0]);
    if (!chroma_.empty()) {
      clear_guide();
      add_chroma_to_guide(noisy_);
      hard_threshold(chroma_, read(guide_), chroma_guide_sigma());
    }
    if (params_.phases == 1) return;
    const Planes& guides = params_.guide_noise > 0 ? mix_guides() : basic_;
    if (chroma_.empty() || format_.subsampled())
      wiener(luma_, read(guides[0]), params_.guide_noise * sigma_[0], 1.0f);
    if (chroma_.empty()) return;
    box_average(read(guides[0]), format_.chroma_shift_x, format_.chroma_shift_y, guide_.view());
    add_chroma_to_guide(guides);
    std::vector<int> planes = format_.subsampled() ? std::vector<int>{} : luma_;
    planes.insert(planes.end(), chroma_.begin(), chroma_.end());
    wiener(planes, read(guide_), params_.guide_noise * chroma_guide_sigma(), colour_tau);
  }

  /// The basic estimates with their share of the noisy picture.
  const Planes& mix_guides() {
    const float share = params_.guide_noise;
    for (int i = 0; i < format_.planes(); ++i)
      for (int y = 0; y < mixed_[i].height(); ++y) {
        const float *noisy = noisy_[i].view().row(y), *basic = basic_[i].view().row(y);
        float* mixed = mixed_[i].view().row(y);
        for (int x = 0; x < mixed_[i].width(); ++x)
          mixed[x] = basic[x] + share * (noisy[x] - basic[x]);
      }
    return mixed_;
  }

  void clear_guide() {
    for (int y = 0; y < guide_.height(); ++y)
      std::fill_n(guide_.view().row(y), guide_.width(), 0.0f);
  }

  float chroma_sign(int i) const {
    const float magnitude = chroma_.size() == 2 ? chroma_weight : 1.0f;
    return i == 1 ? magnitude : -magnitude;
  }

  void add_chroma_to_guide(const Planes& planes) {
    for (const int i : chroma_) add_weighted(read(planes[i]), chroma_sign(i), guide_.view());
  }

  float chroma_guide_sigma() const {
    float variance = 0;
    for (const int i : chroma_) {
      const float part = chroma_sign(i) * sigma_[i];
      variance += part * part;
    }
    return std::sqrt(variance);
  }

  /// First phase over `planes`, which share their groups: noisy_ to basic_, or to result_ if it is
  /// the only one.
  void hard_threshold(const std::vector<int>& planes, PlaneView<const float> guide, float sigma) {
    run(params_, planes, guide, sigma, params_.phases == 1 ? result_ : basic_, false);
  }

  /// Second phase over `planes`, which share their groups: noisy_ and basic_ to result_.
  void wiener(const std::vector<int>& planes, PlaneView<const float> guide, float guide_sigma,
              float tau_factor) {
    Params params = params_;
    params.wiener.tau *= tau_factor;
    run(params, planes, guide, guide_sigma, result_, true);
  }

  void run(const Params& params, const std::vector<int>& planes, PlaneView<const float> guide,
           float guide_sigma, Planes& results, bool second) {
    if (planes.empty()) return;
    std::vector<PlaneView<const float>> noisy, basic;
    std::vector<PlaneView<float>> estimate;
    std::vector<float> sigma;
    for (const int i : planes) {
      noisy.push_back(noisy_[i].view());
      if (second) basic.push_back(basic_[i].view());
      estimate.push_back(results[i].view());
      sigma.push_back(sigma_[i]);
    }
    engine_->run(params, {.guide = guide,
                          .guide_sigma = guide_sigma,
                          .noisy = noisy,
                          .basic = basic,
                          .sigma = sigma,
                          .estimate = estimate});
  }

  Params params_;
  FrameFormat format_;
  std::unique_ptr<PhaseEngine> engine_;
  FramePool pool_;
  std::array<float, 3> sigma_;      // of the planes that are filtered: of Y, U, V for RGB
  std::vector<int> luma_, chroma_;  // the planes that are filtered: at most {0} and {1, 2}
  Planes noisy_, basic_, mixed_, result_;
  Plane<float> guide_;  // of the chroma planes
};

}  // namespace

std::unique_ptr<Denoiser> open_host(const Params& params, const FrameFormat& format,
                                    std::unique_ptr<PhaseEngine> engine) {
  return std::make_unique<HostSession>(params, format, std::move(engine));
}

}  // namespace lull::bm3d
