#include "bm3d/open/linear_frames.h"

#include <algorithm>

#include "bm3d/open/pass_through.h"
#include "bm3d/phase_plan.h"
#include "bm3d/stabilisers.h"
#include "core/colour.h"
#include "core/samples.h"
#include "match/frame_guide.h"

namespace lull::bm3d {
namespace {

using linear::Source;

std::array<PlaneView<float>, 3> views_of(std::array<LinearPicture, 3>& pictures) {
  return {pictures[0].view(), pictures[1].view(), pictures[2].view()};
}

}  // namespace

LinearFrames::LinearFrames(const Params& params, const FrameFormat& format,
                           const ResultSamples& results)
    : params_(params),
      format_(format),
      noise_(filtered_noise(params.noise, format)),
      sets_(linear::plan_sets(format, noise_, params.temporal > 0, params.guided)),
      samples_(params.noise, stabilisers_of(params, format.layout)),
      pool_(result_format(format, results)) {}

bool LinearFrames::is_filtered(int i) const {
  return noise_.sigma(i) > 0 && fits_patch(format_, i);
}

LinearPictures LinearFrames::make_pictures() const {
  LinearPictures pictures;
  for (int i = 0; i < format_.planes(); ++i) {
    pictures.y[i] = picture_of(i);
    if (params_.guided) pictures.frame_guide[i] = picture_of(i);
    if (is_filtered(i)) pictures.x[i] = picture_of(i), pictures.z[i] = picture_of(i);
  }
  if (std::ranges::any_of(sets_, [](const auto& plan) { return plan.set.is_composite(); }))
    pictures.guide = picture_of(format_.planes() - 1);
  return pictures;
}

void LinearFrames::load(const Frame& frame, LinearPictures& pictures) const {
  pictures.guarded = false;
  pictures.holes = params_.holes ? holes_of(frame) : nullptr;
  for (int i = 0; i < format_.planes(); ++i)
    pictures.guarded |= samples_.load(frame, i, pictures.y[i].view());
  const bool is_rgb = format_.layout == Layout::rgb;
  if (is_rgb) apply_colour_matrix(opponent_forward, views_of(pictures.y));
  if (!params_.guided) return;
  const Frame& guide = guide_of(frame);
  for (int i = 0; i < format_.planes(); ++i)
    (void)samples_.load(guide, i, pictures.frame_guide[i].view());
  if (is_rgb) apply_colour_matrix(opponent_forward, views_of(pictures.frame_guide));
}

linear::PlaneState LinearFrames::state(LinearPictures& pictures, int plane) const {
  return {pictures.y[plane].view(), pictures.x[plane].view(), pictures.z[plane].view(),
          &noise_.plane(plane)};
}

PlaneView<const float> LinearFrames::guide(const PlaneSet& set, Source source,
                                           bool earlier_are_finished,
                                           LinearPictures& pictures) const {
  const auto picture = [&](int i) -> PlaneView<const float> {
    if (params_.guided) return pictures.frame_guide[i].view();
    const bool of_set = std::ranges::find(set.planes, i) != set.planes.end();
    if (!is_filtered(i)) return pictures.y[i].view();
    if (!of_set && earlier_are_finished) return pictures.x[i].view();
    auto& all = source == Source::y ? pictures.y : source == Source::x ? pictures.x : pictures.z;
    return all[i].view();
  };
  if (!set.is_composite()) return picture(0);
  const PlaneView<float> sum = pictures.guide.view();
  if (set.uses_luma)
    box_average(picture(0), format_.chroma_shift_x, format_.chroma_shift_y, sum);
  else
    for (int y = 0; y < sum.height; ++y) std::fill_n(sum.row(y), sum.width, 0.0f);
  for (const int i : {1, 2})
    if (const float weight = set.chroma_weights[i - 1]; weight != 0)
      add_weighted(picture(i), weight, sum);
  return sum;
}

Frame LinearFrames::store(const Frame& noisy, LinearPictures& pictures) {
  std::array<PlaneView<float>, 3> result;
  for (int i = 0; i < format_.planes(); ++i)
    result[i] = (is_filtered(i) ? pictures.x : pictures.y)[i].view();
  if (format_.layout == Layout::rgb) apply_colour_matrix(opponent_inverse, result);
  Frame clean = pool_.acquire();
  clean.copy_info(noisy);
  for (int i = 0; i < format_.planes(); ++i) {
    if (params_.noise.sigma(i) > 0 && fits_patch(format_, i))
      samples_.store(result[i], pictures.guarded ? &noisy : nullptr, i, clean);
    else
      copy_plane(noisy, i, clean);
  }
  return clean;
}

}  // namespace lull::bm3d
