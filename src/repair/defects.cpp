#include "repair/defects.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <set>
#include <type_traits>

#include "core/plane.h"
#include "core/samples.h"
#include "repair/outliers.h"
#include "repair/stuck.h"
#include "repair/windows.h"

namespace lull::repair {
namespace {

constexpr std::size_t max_lone_frames = 3;  // frames examined for impulses, in addition to a pair
/// Minimum number of different sample values for a search for impulses, because dithered graphics
/// look like impulses.
constexpr std::size_t min_levels = 32;

float level_of(const FrameFormat& format) {
  return format.sample == SampleType::f32 ? 0.0f : to_unit_255(format);
}

/// Replaces each NaN and infinity by the previous finite sample in raster order, because the
/// searches for defects require finite samples.
void remove_non_finite(PlaneView<float> plane) {
  float last = 0;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      float& value = plane(x, y);
      if (!std::isfinite(value)) value = last;
      last = value;
    }
}

/// Loads plane `i` of a frame and converts it to the 0..255 scale.
void load(const Frame& frame, int i, PlaneView<float> plane) {
  load_plane(frame, i, plane);
  if (frame.format.sample == SampleType::f32) remove_non_finite(plane);
}

template <class T>
void store_if(PlaneView<const float> plane, const DefectMask* mask, const Frame& frame, int i) {
  const auto full = static_cast<float>(frame.format.full_scale());
  const PlaneView<T> samples = frame.plane<T>(i);
  const auto store = [&](int x, int y) {
    T& sample = samples(x, y);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(sample)) return;
    sample = as_sample<T>(plane(x, y) * (full / 255.0f), full);
  };
  if (mask) {
    for (const auto& [x, y] : mask->places()) store(x, y);
    return;
  }
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) store(x, y);
}

/// Writes samples of `plane` to plane `i` of the frame: the samples that `mask` marks, or if `mask`
/// is null, all samples. Where the frame contains NaN or infinity, the function writes nothing.
void store(PlaneView<const float> plane, const DefectMask* mask, const Frame& frame, int i) {
  switch (frame.format.sample) {
    case SampleType::u8:
      return store_if<std::uint8_t>(plane, mask, frame, i);
    case SampleType::u16:
      return store_if<std::uint16_t>(plane, mask, frame, i);
    case SampleType::f32:
      return store_if<float>(plane, mask, frame, i);
  }
}

bool have_equal_planes(const Frame& a, const Frame& b, int i) {
  const auto bytes = static_cast<std::size_t>(a.planes[i].width);
  for (int y = 0; y < a.planes[i].height; ++y)
    if (std::memcmp(a.planes[i].row(y), b.planes[i].row(y), bytes) != 0) return false;
  return true;
}

/// Returns whether a plane is large enough for a search for defects, which reads windows around
/// each sample.
bool is_searchable(PlaneView<const float> plane) {
  return plane.width >= min_side && plane.height >= min_side;
}

/// Replaces and marks the defective samples and the impulses of frame `number`. In planes that are
/// too small for a search, the function replaces no impulses, even if the plan of a shared job
/// contains impulses.
void replace_samples(const PlaneDefects& defects, std::int64_t number, PlaneView<float> plane,
                     DefectMask& mask) {
  mask.reset(plane.width, plane.height);
  for (const DefectiveSample& sample : defects.samples)
    if (number < 0 || (sample.first <= number && number <= sample.last))
      mask.mark(sample.x, sample.y);
  if (defects.impulses && is_searchable(plane)) {
    interpolate_marked(mask, defects.noise, plane);
    mark_impulses(*defects.impulses, plane, mask);
  }
  interpolate_marked(mask, defects.noise, plane);
}

bool has_few_levels(PlaneView<const float> plane) {
  std::set<float> levels;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      if (levels.insert(plane(x, y)).second && levels.size() == min_levels) return false;
  return true;
}

/// Finds the defects of one plane of a clip.
class PlaneExamination {
 public:
  PlaneExamination(std::span<const std::vector<Frame>> excerpts, int plane)
      : excerpts_(excerpts), plane_(plane) {
    for (const std::vector<Frame>& excerpt : excerpts)
      for (const Frame& frame : excerpt) frames_.push_back(&frame);
    const FrameFormat& format = frames_.front()->format;
    level_ = level_of(format);
    scratch_ = Plane<float>(format.plane_width(plane), format.plane_height(plane));
  }

  PlaneDefects run() {
    if (!is_searchable(scratch_.view())) return {};
    std::vector<float> noise;
    for (const Frame* frame : frames_) noise.push_back(noise_level(loaded(*frame)));
    std::vector<float> levels = noise;
    defects_.noise = median(levels);
    find_stuck_pixels(noise);
    find_impulses();
    find_lines();
    return std::move(defects_);
  }

 private:
  PlaneView<float> loaded(const Frame& frame) {
    if (loaded_ != &frame) load(frame, plane_, scratch_.view());
    loaded_ = &frame;
    return scratch_.view();
  }

  void find_stuck_pixels(const std::vector<float>& noise) {
    const PlaneReader read = [&](std::size_t frame, const auto& use) {
      use(loaded(*frames_[frame]));
    };
    for (const Position& position : find_stuck(noise, level_, read))
      defects_.samples.push_back({.x = position.x, .y = position.y});
  }

  ExaminedFrame examined(const Frame& frame) {
    const PlaneView<float> plane = repaired(frame);
    const float noise = noise_level(plane);
    return {find_outliers(plane, std::max(20.0f, 8 * noise)), noise, false};
  }

  void find_impulses() {
    std::vector<ExaminedFrame> examined_frames;
    const std::vector<Frame>& first = excerpts_.front();
    if (has_few_levels(loaded(first.front()))) return;
    examined_frames.push_back(examined(first.front()));
    if (examined_frames.front().outliers.isolated.empty()) return;
    if (first.size() > 1 && !have_equal_planes(first[0], first[1], plane_)) {
      examined_frames.push_back(examined(first[1]));
      examined_frames.back().follows_previous = true;
    }
    const std::size_t others = std::min(excerpts_.size() - 1, max_lone_frames);
    for (std::size_t i = 1; i <= others; ++i)
      examined_frames.push_back(examined(excerpts_[i * (excerpts_.size() - 1) / others].front()));
    defects_.impulses = model_impulses(examined_frames, level_);
  }

  /// Returns the plane of a frame after the repair of the defects that the search has found so far.
  PlaneView<float> repaired(const Frame& frame) {
    const PlaneView<float> plane = loaded(frame);
    replace_samples(defects_, -1, plane, mask_);
    if (mask_.count() > 0) loaded_ = nullptr;
    return plane;
  }

  void find_lines() {
    std::vector<LineProfile> rows, columns;
    for (const Frame* frame : frames_) {
      const PlaneView<const float> plane = repaired(*frame);
      rows.push_back(examine_lines(plane, LineAxis::rows, defects_.noise));
      columns.push_back(examine_lines(plane, LineAxis::columns, defects_.noise));
      // If the lines of the first frame have no offsets, the search for line offsets ends.
      if (!rows.front().has_offsets && !columns.front().has_offsets) return;
    }
    defects_.rows = model_lines(rows);
    defects_.columns = model_lines(columns);
  }

  std::span<const std::vector<Frame>> excerpts_;
  int plane_;
  std::vector<const Frame*> frames_;
  float level_ = 0;
  Plane<float> scratch_;
  const Frame* loaded_ = nullptr;  // the frame whose unchanged samples `scratch_` contains
  DefectMask mask_;
  PlaneDefects defects_;
};

std::int64_t repair_plane(const PlaneDefects& defects, std::int64_t number, const Frame& frame,
                          int i) {
  Plane<float> scratch(frame.format.plane_width(i), frame.format.plane_height(i));
  const PlaneView<float> plane = scratch.view();
  load(frame, i, plane);
  DefectMask mask;
  replace_samples(defects, number, plane, mask);
  if (defects.rows) remove_offsets(*defects.rows, LineAxis::rows, plane);
  if (defects.columns) remove_offsets(*defects.columns, LineAxis::columns, plane);
  store(plane, defects.rows || defects.columns ? nullptr : &mask, frame, i);
  return mask.count();
}

}  // namespace

ClipDefects find_defects(std::span<const std::vector<Frame>> excerpts) {
  ClipDefects defects;
  if (excerpts.empty() || excerpts.front().empty()) return defects;
  const int planes = excerpts.front().front().format.planes();
  for (int i = 0; i < planes; ++i) defects.planes[i] = PlaneExamination(excerpts, i).run();
  return defects;
}

std::int64_t repair_in_place(const ClipDefects& defects, std::int64_t number, const Frame& frame) {
  std::int64_t replaced = 0;
  for (int i = 0; i < frame.format.planes(); ++i)
    if (!defects.planes[i].none()) replaced += repair_plane(defects.planes[i], number, frame, i);
  return replaced;
}

}  // namespace lull::repair
