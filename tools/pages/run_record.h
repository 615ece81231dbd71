#pragma once
// What a run's page tells, taken down while it runs, in bounded memory.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "pipeline/run.h"
#include "tools/noise/noise_record.h"
#include "tools/pages/pictures.h"
#include "tools/pages/residual.h"
#include "tools/pages/residual_planes.h"
#include "tools/pages/thinned_list.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// How far frames are from those of a clean version, before and after.
struct ReferenceSums {
  std::int64_t frames = 0;
  std::array<double, 3> before{}, after{};  // sums of mean squared errors, by plane
  double peak = 0;                          // of the PSNR
};

struct FrameNote {
  std::int64_t number = 0;
  std::size_t scene = 0;
  std::array<double, 3> removed{};  // root mean square by plane, on the 0..255 scale
  /// dB, of all samples; no numbers without a reference.
  double psnr_before = std::numeric_limits<double>::quiet_NaN();
  double psnr_after = psnr_before;
};

struct LoadNote {
  double seconds = 0;
  std::array<double, pipeline::stages> busy{};  // seconds, since the start
  std::int64_t frames = 0;
};

struct ShownFrame {
  std::int64_t number = 0;
  double time_s = 0;  // after the first frame
  ComparisonPictures pictures;
};

/// The mean squared errors of one frame, by plane, and the peak of their PSNR.
struct FrameErrors {
  std::array<double, 3> before{}, after{};
  double peak = 255;
};

class RunRecord {
 public:
  /// `chosen`: numbers of frames to show; empty: some that are spread over the clip.
  RunRecord(const FrameFormat& format, std::vector<std::int64_t> chosen);

  /// Before the first frame. `fields`: interlaced frames whose fields were filtered.
  void begin(const NoiseRecord& noise, const ClipPlan& plan, bool fields);
  /// A scene behind those so far, before its first frame; by the thread that calls see().
  void add_scene(const SceneNoise& scene, const ScenePlan& plan);
  /// Before the first slice: three cuts through one volume of a series, in place of slices.
  void show_cuts(const CutGeometry& geometry, std::int64_t volume, std::int64_t slices);

  /// A frame that was asked for, in order, with or without a result; by one thread.
  void add_frame(const Frame& noisy, const Frame& result, const std::optional<FrameErrors>& errors);
  /// By one thread, which may be another.
  void note(const pipeline::PipelineStats& stats);

  // Once all is done:
  const NoiseRecord& noise() const { return noise_; }
  const FrameFormat& format() const { return format_; }
  std::int64_t frames() const { return frames_; }  // seen, with a result
  /// Of which there are pictures, in order.
  std::vector<ShownFrame> shown_frames() const;
  /// Frames that were asked for by their numbers, and of which there is no picture.
  std::vector<std::int64_t> frames_not_shown() const;
  /// Cuts across z, y and x, if there are.
  std::vector<ShownFrame> shown_cuts() const;
  const std::vector<FrameNote>& notes() const { return notes_.items(); }
  const std::vector<LoadNote>& load() const { return load_.items(); }
  ResidualFindings findings() const { return residual_.findings(); }
  const ExpectedNoise& expected(std::size_t scene = 0) const { return expected_[scene]; }
  std::size_t scenes() const { return expected_.size(); }
  const ReferenceSums& reference() const { return reference_; }
  int factor() const { return factor_; }
  const Part& part() const { return part_; }

 private:
  void add_expected_noise(const SceneNoise& scene, const std::optional<VolumeNoise>& volume_noise);
  std::size_t scene_of(double time_s) const;
  void measure_residual(const Frame& noisy, const Frame& result, std::size_t scene);
  ComparisonPictures pictures_of(const Frame& noisy, const Frame& result) const;
  void add_to_cuts(const Frame& noisy, const Frame& result);

  FrameFormat format_;
  std::vector<std::int64_t> chosen_;
  NoiseRecord noise_;
  std::vector<ExpectedNoise> expected_;
  std::vector<double> starts_;
  bool fields_ = false;
  int factor_ = 1;
  Part part_;
  std::int64_t number_ = 0, frames_ = 0;
  std::optional<double> first_s_;
  ThinnedList<ShownFrame> candidates_;
  std::vector<ShownFrame> chosen_frames_;
  ThinnedList<FrameNote> notes_;
  ThinnedList<LoadNote> load_;
  ResidualSums residual_;
  ReferenceSums reference_;
  struct Cuts {
    CutGeometry geometry;
    std::int64_t volume, slices;
    VolumeCuts before, after;
    std::int64_t slices_added;
  };
  std::optional<Cuts> cuts_;
};

}  // namespace lull::tools
