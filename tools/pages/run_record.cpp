#include "tools/pages/run_record.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "pipeline/field_denoiser.h"

namespace lull::tools {
namespace {

constexpr std::size_t max_candidates = 8, max_notes = 1024, max_load_notes = 512;

double decibels(double mse, double peak) {
  return mse > 0 ? 10 * std::log10(peak * peak / mse) : std::numeric_limits<double>::infinity();
}

}  // namespace

RunRecord::RunRecord(const FrameFormat& format, std::vector<std::int64_t> chosen)
    : format_(format),
      chosen_(std::move(chosen)),
      part_(middle_of(format)),
      candidates_(max_candidates),
      notes_(max_notes),
      load_(max_load_notes) {}

void RunRecord::begin(const NoiseRecord& noise, const ClipPlan& plan, bool fields) {
  noise_ = noise;
  noise_.scenes.clear();
  starts_ = plan.starts;
  fields_ = fields && format_.height >= 2;
  expected_.clear();
  for (std::size_t i = 0; i < noise.scenes.size(); ++i)
    add_expected_noise(noise.scenes[i],
                       i < plan.scenes.size() ? plan.scenes[i].method.volume_noise : std::nullopt);
  float max_level = 0;
  for (const ExpectedNoise& expected : expected_) max_level = std::max(max_level, expected.level());
  factor_ = amplification(max_level);
  if (!plan.later) return;  // if not, each later scene is added when it begins
  noise_.scenes.resize(1);
  expected_.erase(expected_.begin() + 1, expected_.end());
  starts_.clear();
}

void RunRecord::add_expected_noise(const SceneNoise& scene,
                                   const std::optional<VolumeNoise>& volume_noise) {
  expected_.emplace_back(scene, format_.layout, volume_noise);
  NoiseEstimate& estimate = noise_.scenes.emplace_back(scene).estimate;
  // The page shows `estimate.level`. This level is still 0 if the user gives the noise level, so
  // the function computes it from the noise model.
  if (estimate.level == std::array<float, 3>{}) estimate.level = estimate.noise.levels_in_samples();
}

void RunRecord::add_scene(const SceneNoise& scene, const ScenePlan& plan) {
  // If the new scene does not begin later than the last scene, the last scene has no frame, and the
  // new scene replaces the last scene.
  if (scene.from_s <= noise_.scenes.back().from_s) {
    noise_.scenes.pop_back();
    expected_.pop_back();
    if (!starts_.empty()) starts_.pop_back();
  }
  if (!expected_.empty()) starts_.push_back(scene.from_s);
  add_expected_noise(scene, plan.method.volume_noise);
}

void RunRecord::show_cuts(const CutGeometry& geometry, std::int64_t volume, std::int64_t slices) {
  cuts_.emplace(Cuts{geometry, volume, slices, VolumeCuts(geometry), VolumeCuts(geometry), 0});
}

std::size_t RunRecord::scene_of(double time_s) const {
  return std::ranges::upper_bound(starts_, time_s) - starts_.begin();
}

ComparisonPictures RunRecord::pictures_of(const Frame& noisy, const Frame& result) const {
  return compare_pictures(part_of(noisy, part_), within_mask(noisy, result, part_), factor_);
}

/// Measures the residual in the displayed part of the frame.
void RunRecord::measure_residual(const Frame& noisy, const Frame& result, std::size_t scene) {
  Frame before = part_of(noisy, part_), after = part_of(result, part_);
  if (fields_) {
    before.format.height = after.format.height = part_.height / 4 * 4;
    before = pipeline::field_of(before, 0);
    after = pipeline::field_of(after, 0);
  }
  residual_.add(
      residual_planes(before, after, expected_[scene], noisy.mask.get(), part_.x, part_.y).part());
}

void RunRecord::add_to_cuts(const Frame& noisy, const Frame& result) {
  const std::int64_t slice = number_ - cuts_->volume * cuts_->slices;
  if (slice < 0 || slice >= cuts_->slices) return;
  cuts_->before.add(noisy, static_cast<int>(slice));
  const Part whole{.width = format_.width, .height = format_.height};
  cuts_->after.add(noisy.mask ? within_mask(noisy, result, whole) : result,
                   static_cast<int>(slice));
  ++cuts_->slices_added;
}

void RunRecord::add_frame(const Frame& noisy, const Frame& result,
                          const std::optional<FrameErrors>& errors) {
  const double time = static_cast<double>(noisy.pts) * static_cast<double>(noisy.time_base.num) /
                      static_cast<double>(std::max<std::int64_t>(noisy.time_base.den, 1));
  if (!first_s_) first_s_ = time;
  const std::size_t scene = std::min(scene_of(time), expected_.size() - 1);
  if (!result.pixels) {
    ++number_;  // an earlier run or another process has encoded this frame
    return;
  }
  if (cuts_) add_to_cuts(noisy, result);
  const bool chosen = std::ranges::find(chosen_, number_) != chosen_.end();
  std::optional<ShownFrame> frame;
  if (candidates_.keeps_next() || chosen) {
    measure_residual(noisy, result, scene);
    if (!cuts_ && (chosen || chosen_.empty()))
      frame = ShownFrame{number_, time - *first_s_, pictures_of(noisy, result)};
  }
  if (chosen && frame) chosen_frames_.push_back(*frame);
  if (candidates_.keeps_next())
    candidates_.add(frame ? *std::move(frame) : ShownFrame{number_, time - *first_s_, {}});
  else
    candidates_.skip();
  FrameNote note{.number = number_, .scene = scene};
  if (errors) {
    double before = 0, after = 0, samples = 0;
    for (int i = 0; i < format_.planes(); ++i) {
      const double count = static_cast<double>(format_.plane_width(i)) * format_.plane_height(i);
      reference_.before[i] += errors->before[i], reference_.after[i] += errors->after[i];
      before += count * errors->before[i], after += count * errors->after[i], samples += count;
    }
    reference_.peak = errors->peak;
    ++reference_.frames;
    note.psnr_before = decibels(before / samples, errors->peak);
    note.psnr_after = decibels(after / samples, errors->peak);
  }
  if (notes_.keeps_next()) {
    for (int i = 0; i < format_.planes(); ++i) note.removed[i] = removed_rms(noisy, result, i);
    notes_.add(note);
  } else {
    notes_.skip();
  }
  ++number_, ++frames_;
}

void RunRecord::add_load(const pipeline::PipelineStats& stats) {
  if (load_.keeps_next())
    load_.add({stats.seconds, stats.busy, stats.frames});
  else
    load_.skip();
}

std::vector<std::int64_t> RunRecord::frames_not_shown() const {
  std::vector<std::int64_t> absent;
  std::ranges::copy_if(chosen_, std::back_inserter(absent), [&](std::int64_t number) {
    return std::ranges::find(chosen_frames_, number, &ShownFrame::number) == chosen_frames_.end();
  });
  return absent;
}

std::vector<ShownFrame> RunRecord::shown_frames() const {
  if (!chosen_.empty() || cuts_) return chosen_frames_;
  const std::vector<ShownFrame>& all = candidates_.items();
  constexpr std::size_t max_shown = 3;
  if (all.size() <= max_shown) return all;
  std::vector<ShownFrame> selected;
  for (std::size_t i = 0; i < max_shown; ++i)
    selected.push_back(all[(2 * i + 1) * all.size() / (2 * max_shown)]);
  return selected;
}

std::vector<ShownFrame> RunRecord::shown_cuts() const {
  std::vector<ShownFrame> cuts;
  if (!cuts_ || cuts_->slices_added < cuts_->slices) return cuts;
  for (int i = 0; i < 3; ++i)
    cuts.push_back({cuts_->geometry.at[2 - i], 0,
                    compare_pictures(cuts_->geometry, cuts_->before, cuts_->after, i, factor_)});
  return cuts;
}

}  // namespace lull::tools
