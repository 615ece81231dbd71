#pragma once
// Collects the data for the page of --report during a run, in limited memory.

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

/// Sums of the squared errors before and after denoising, relative to a clean version of the input.
struct ReferenceSums {
  std::int64_t frames = 0;
  std::array<double, 3> before{}, after{};  // sums of mean squared errors, by plane
  double peak = 0;                          // peak value for the PSNR
};

struct FrameNote {
  std::int64_t number = 0;
  std::size_t scene = 0;
  std::array<double, 3> removed{};  // root mean square of the residual, by plane, 0..255 scale
  /// PSNR in dB over all samples, or NaN without a clean version of the input.
  double psnr_before = std::numeric_limits<double>::quiet_NaN();
  double psnr_after = psnr_before;
};

struct LoadNote {
  double seconds = 0;
  std::array<double, pipeline::stages> busy{};  // busy time since the start in seconds
  std::int64_t frames = 0;
};

struct ShownFrame {
  std::int64_t number = 0;
  double time_s = 0;  // time after the first frame
  ComparisonPictures pictures;
};

/// Mean squared errors of a frame by plane, and the peak value of the samples.
struct FrameErrors {
  std::array<double, 3> before{}, after{};
  double peak = 255;
};

class RunRecord {
 public:
  /// @param chosen  numbers of the frames on the page; if empty, the frames are spread over the
  /// clip
  RunRecord(const FrameFormat& format, std::vector<std::int64_t> chosen);

  /// Begins the record. The caller must call this function before add_frame().
  /// @param fields  true if the run filters the fields of interlaced frames separately
  void begin(const NoiseRecord& noise, const ClipPlan& plan, bool fields);
  /// Appends a scene. The thread of add_frame() must call add_scene() before the first frame of the
  /// scene.
  void add_scene(const SceneNoise& scene, const ScenePlan& plan);
  /// Makes the page show three cross-sections through one volume of a series, instead of slices.
  /// The caller must call this function before add_frame().
  void show_cuts(const CutGeometry& geometry, std::int64_t volume, std::int64_t slices);

  /// Adds the next frame. `result` has no samples if the run does not filter the frame. All calls
  /// must come from one thread.
  void add_frame(const Frame& noisy, const Frame& result, const std::optional<FrameErrors>& errors);
  /// Records the load of the pipeline stages. All calls must come from one thread, which need not
  /// be the thread of add_frame().
  void add_load(const pipeline::PipelineStats& stats);

  // Results of the record. The caller may call the following functions only after the end of the
  // run.
  const NoiseRecord& noise() const { return noise_; }
  const FrameFormat& format() const { return format_; }
  std::int64_t frames() const { return frames_; }  // number of frames with a result
  /// Returns the frames on the page, in the order of the clip.
  std::vector<ShownFrame> shown_frames() const;
  /// Returns the numbers of the requested frames that are not on the page.
  std::vector<std::int64_t> frames_not_shown() const;
  /// Returns the cross-sections perpendicular to z, y and x, or an empty list if the input is not a
  /// volume.
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
