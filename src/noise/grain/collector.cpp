#include "noise/grain/collector.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "noise/grain/fit.h"

namespace lull {
namespace {

constexpr std::int64_t second = 10'000'000;
// Number of cells along each side of a frame. The collector detects scene cuts by the mean luma of
// the cells.
constexpr int cells = 32;
// At a scene cut, the mean change of the luma of the cells exceeds two limits: `cut_change` 8-bit
// steps, and `cut_factor` times the typical change between the previous frames.
constexpr double cut_change = 12, cut_factor = 3;
constexpr double level_tolerance = 0.15;

template <class T>
void add_cells(const Frame& frame, std::vector<double>& cells_out, int across, int down) {
  const auto plane = frame.plane<T>(0);
  const double scale = 255 / frame.format.full_scale();
  for (int cy = 0; cy < down; ++cy)
    for (int cx = 0; cx < across; ++cx) {
      const int x0 = cx * plane.width / across, x1 = (cx + 1) * plane.width / across;
      const int y0 = cy * plane.height / down, y1 = (cy + 1) * plane.height / down;
      double sum = 0;
      int count = 0;
      for (int y = y0; y < y1; y += 2)  // every second row is sufficient
        for (int x = x0; x < x1; ++x) sum += static_cast<double>(plane(x, y)), ++count;
      cells_out.push_back(sum * scale / count);
    }
}

/// Returns the mean luma of the cells of a frame, in sixteenths of an 8-bit step.
std::vector<int> coarse_luma(const Frame& frame) {
  const int across = std::min(cells, frame.format.width);
  const int down = std::min(cells, frame.format.height);
  std::vector<double> means;
  switch (frame.format.sample) {
    case SampleType::u8:
      add_cells<std::uint8_t>(frame, means, across, down);
      break;
    case SampleType::u16:
      add_cells<std::uint16_t>(frame, means, across, down);
      break;
    case SampleType::f32:
      add_cells<float>(frame, means, across, down);
      break;
  }
  std::vector<int> coarse;
  for (const double mean : means)  // a mean that is NaN must not look like a cut
    coarse.push_back(mean > 0 && mean < 1e6 ? static_cast<int>(mean * grain_unit) : 0);
  return coarse;
}

double seconds_of(const Frame& frame) {
  return static_cast<double>(frame.pts) * static_cast<double>(frame.time_base.num) /
         static_cast<double>(std::max<std::int64_t>(frame.time_base.den, 1));
}

/// Returns the index in `known` of the noise at the time `time_s`. Before the first element's time,
/// the result is 0.
std::size_t noise_index_at(const std::vector<KnownNoise>& known, double time_s) {
  constexpr double rounding = 1e-4;  // containers round times, for example to milliseconds
  const auto next = std::ranges::upper_bound(known, time_s + rounding, {}, &KnownNoise::from_s);
  return next == known.begin() ? 0 : next - known.begin() - 1;
}

}  // namespace

GrainCollector::GrainCollector(const FrameFormat& format, const GrainSampling& sampling)
    : format_(format), sampling_(sampling), scene_statistics_(format) {}

std::int64_t GrainCollector::time_of(std::int64_t pts, const Frame& frame) const {
  const double tick =
      static_cast<double>(frame.time_base.num) / static_cast<double>(frame.time_base.den);
  return std::llround(static_cast<double>(pts - first_pts_) * tick * second);
}

bool GrainCollector::is_cut(const Frame& noisy) {
  std::vector<int> coarse = coarse_luma(noisy);
  double change = 0;
  for (std::size_t i = 0; i < coarse_.size(); ++i) change += std::abs(coarse[i] - coarse_[i]);
  if (!coarse_.empty()) change /= static_cast<double>(coarse_.size() * grain_unit);
  coarse_ = std::move(coarse);
  const bool cut = change > cut_change && change > cut_factor * typical_change_;
  if (!cut) typical_change_ = 0.75 * typical_change_ + 0.25 * change;
  return cut;
}

bool GrainCollector::observe(const Frame& noisy) {
  if (seen_ == 0) first_pts_ = previous_pts_ = noisy.pts;
  const std::int64_t now = time_of(noisy.pts, noisy);
  const std::int64_t before = time_of(previous_pts_, noisy);
  const std::int64_t lasts = time_of(noisy.pts + noisy.duration, noisy) - now;
  const bool cut = is_cut(noisy) && now - cut_start_ >= second;
  if (seen_ == 0 || cut) {
    // The start time of the scene is halfway between the timestamps of its first frame and of the
    // previous frame. A start time equal to the timestamp of the first frame could be too late,
    // because containers round timestamps.
    cut_start_ = before + (now - before) / 2;
    upcoming_.push_back({noisy.pts, cut_start_, seconds_of(noisy)});
    since_cut_ = 0;
  }
  end_ = now + (lasts > 0 ? lasts : seen_ > 0 ? now - before : second / 25);
  previous_pts_ = noisy.pts;
  ++seen_;
  const std::int64_t number = since_cut_++;
  return number < sampling_.dense ? number % sampling_.step == 0
                                  : (number - sampling_.dense) % sampling_.sparse_step == 0;
}

/// Returns the relative difference between the grain level of a frame and the grain level of its
/// scene. The function compares the two levels at the same luma. It returns 0 if there are too few
/// samples.
double GrainCollector::level_change(const GrainStatistics& frame) const {
  double found = 0, expected = 0;
  for (int i = 0; i < GrainStatistics::bins; ++i) {
    const auto& of_frame = frame.plane(0).by_luma[i];
    const auto& of_scene = scene_statistics_.plane(0).by_luma[i];
    if (of_frame.count < 256 || of_scene.count < 1024) continue;
    found += static_cast<double>(of_frame.squares);
    expected += static_cast<double>(of_frame.count) * static_cast<double>(of_scene.squares) /
                static_cast<double>(of_scene.count);
  }
  return expected > 0 && found > 0 ? std::sqrt(found / expected) - 1 : 0;
}

void GrainCollector::write(const Scene& scene, std::optional<GrainParams> grain) {
  if (table_.empty() || table_.back().grain != grain)
    table_.push_back({scene.start, 0, std::move(grain)});
}

void GrainCollector::close() {
  if (measured_ > 0) closed_.push_back({scene_, std::move(scene_statistics_)});
}

void GrainCollector::write_closed(const std::vector<KnownNoise>& known) {
  std::vector<GrainStatistics> all(known.size(), GrainStatistics(format_));
  for (const MeasuredScene& closed : closed_)
    if (!known.empty()) all[noise_index_at(known, closed.scene.first_s)] += closed.statistics;
  for (const MeasuredScene& closed : closed_) {
    const std::size_t k = noise_index_at(known, closed.scene.first_s);
    if (known.empty() || !known[k].noise) {
      write(closed.scene, fit_grain(closed.statistics));
      continue;
    }
    const KnownGrain grain{*known[k].noise, all[k]};
    write(closed.scene, fit_grain(closed.statistics, &grain));
  }
}

void GrainCollector::begin(const Scene& scene) {
  close();
  scene_ = scene;
  scene_statistics_ = GrainStatistics(format_);
  measured_ = 0;
}

void GrainCollector::add(const Frame& noisy, const Frame& denoised) {
  const std::int64_t now = time_of(noisy.pts, noisy);
  while (!upcoming_.empty() && upcoming_.front().first_pts <= noisy.pts) {
    if (deviating_) scene_statistics_ += std::exchange(deviating_, std::nullopt)->statistics;
    begin(upcoming_.front());
    upcoming_.pop_front();
  }
  GrainStatistics frame(format_);
  frame.add(noisy, denoised);
  const double change = measured_ > 0 ? level_change(frame) : 0;
  if (std::abs(change) > level_tolerance && now - scene_.start >= second) {
    if (!deviating_) {
      deviating_ = MeasuredScene{{noisy.pts, now, seconds_of(noisy)}, std::move(frame)};
      return;
    }
    // If the grain of two successive frames deviates from the grain of the scene, a new scene
    // begins at the first of these two frames.
    MeasuredScene other = *std::exchange(deviating_, std::nullopt);
    begin(other.scene);
    scene_statistics_ += other.statistics;
    ++measured_;
  }
  if (deviating_) scene_statistics_ += std::exchange(deviating_, std::nullopt)->statistics;
  scene_statistics_ += frame;
  ++measured_;
}

GrainTable GrainCollector::finish(const std::vector<KnownNoise>& known) {
  if (deviating_) scene_statistics_ += std::exchange(deviating_, std::nullopt)->statistics;
  close();
  write_closed(known);
  for (std::size_t i = 0; i < table_.size(); ++i)
    table_[i].end = i + 1 < table_.size() ? table_[i + 1].start : end_;
  return std::move(table_);
}

}  // namespace lull
