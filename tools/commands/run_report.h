#pragma once
// Collects the data of --report during a run, and writes the page.

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "io/text_file.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/pages/run_page.h"
#include "tools/pages/run_record.h"
#include "tools/pages/series_record.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// Reads the reference, a clean version of the input, frame by frame in parallel with the input.
class ReferenceReader {
 public:
  /// @throws NoInput  lull cannot open the reference
  /// @throws BadData  the reference is damaged, or its format differs from the format of the input
  ReferenceReader(const DenoiseOptions& options, const io::MediaSource& source);

  /// Reads the next reference frame, and returns the mean squared errors of `noisy` and `result`
  /// relative to this frame. Returns no value at the end of the reference.
  std::optional<FrameErrors> errors(const Frame& noisy, const Frame& result);
  /// Skips the next reference frame.
  void skip();
  /// Returns an error message if the reference (a clean version of the input) ends before the
  /// input, or if lull cannot read the reference. Otherwise, returns an empty string.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<Frame> next_frame();
  /// Starts to read the next frame in another thread.
  void start_reading();
  FrameErrors in_file_units(const Frame& noisy, const Frame& result, const Frame& clean);

  std::string name_, problem_;
  std::unique_ptr<io::MediaSource> source_;
  io::ValueScale reference_values_, input_values_;
  bool stack_ = false, ended_ = false;
  double min_value_ = 0, max_value_ = 0;  // range of the stack's values so far
  std::future<std::optional<Frame>> next_;
};

/// Collects the data of the report page. A failed report does not stop the run; finish() reports
/// the failure.
class RunReport {
 public:
  /// @throws InvalidArgument  the page would overwrite a file of the run
  /// @throws CannotCreate  lull cannot create the page
  /// @throws any error of ReferenceReader()
  RunReport(const DenoiseOptions& options, const io::MediaSource& source);
  ~RunReport();

  /// Begins the report. The caller must call begin() before a denoiser receives the first frame.
  /// `backends` lists the backends of the run.
  void begin(const NoiseRecord& noise, const ClipPlan& plan,
             const std::vector<bm3d::Backend>& backends);
  /// Appends a scene. The caller must add a scene before a denoiser receives the first frame of the
  /// scene. Thread-safe.
  void on_new_scene(const SceneNoise& scene, const ScenePlan& plan);
  /// Returns a denoiser that passes all frames to `denoiser` and records frames and results.
  [[nodiscard]] std::unique_ptr<Denoiser> observe(std::unique_ptr<Denoiser> denoiser);
  void note(const pipeline::PipelineStats& stats);
  /// Writes the page. The output must already have its final name. Returns a warning about missing
  /// parts, or an empty string.
  /// @throws CannotCreate, IoError  lull cannot write the report
  [[nodiscard]] std::string finish(const pipeline::PipelineStats& stats,
                                   std::int64_t damaged_frames);

 private:
  void begin_series(const SceneNoise& scene);
  void add_frame(const Frame& noisy, const Frame& result);
  [[nodiscard]] std::string frames_not_shown() const;
  [[nodiscard]] std::string write_failure_text(const std::exception& error) const;
  void write_page(const pipeline::PipelineStats& stats, std::int64_t damaged_frames);
  std::string digest_of_input(double patience_s);
  std::string digest_of_output(double patience_s);

  const DenoiseOptions& options_;
  std::unique_ptr<io::TextFile> file_;  // null: no page is requested
  io::VideoInfo info_;
  CutGeometry geometry_;
  RunFacts facts_;
  std::optional<RunRecord> record_;
  std::optional<SeriesRecord> series_;  // empty: the input is not denoised as a series
  std::optional<ReferenceReader> reference_;
  std::mutex mutex_;
  std::string problem_;
  std::vector<std::pair<SceneNoise, ScenePlan>>
      new_scenes_;  // scenes that have not been passed to record_ yet
  std::stop_source stop_;
  std::future<std::string> input_digest_;
};

}  // namespace lull::tools
