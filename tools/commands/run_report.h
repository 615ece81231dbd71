#pragma once
// The page of a run that --report asks for: what it is made of is collected on the way.

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
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// A clean version of the input, read beside it, frame by frame.
class ReferenceReader {
 public:
  /// @throws NoInput, BadData  as io::open_source(); BadData  it is of another format
  ReferenceReader(const DenoiseOptions& options, const io::MediaSource& source);

  /// Of the next frame. Nothing where the reference is at its end, or cannot be read any more.
  std::optional<FrameErrors> errors(const Frame& noisy, const Frame& result);
  /// The next frame is not looked at.
  void skip();
  /// Why it ended early; empty if it did not.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<Frame> take();
  void ask();
  FrameErrors in_file_units(const Frame& noisy, const Frame& result, const Frame& clean);

  std::string name_, problem_;
  std::unique_ptr<io::MediaSource> source_;
  io::ValueScale own_, others_;
  bool stack_ = false, ended_ = false;
  double least_ = 0, greatest_ = 0;  // of a stack's values so far
  std::future<std::optional<Frame>> next_;
};

/// Does nothing if no page is asked for. What goes wrong with it once frames are denoised is told,
/// and harms nothing else.
class RunReport {
 public:
  /// @throws InvalidArgument  the file is one of the run's others; CannotCreate; as ReferenceReader
  RunReport(const DenoiseOptions& options, const io::MediaSource& source);
  ~RunReport();

  /// Before the first frame. `backends`: what denoises.
  void begin(const NoiseRecord& noise, const ClipPlan& plan,
             const std::vector<bm3d::Backend>& backends);
  /// A scene that was found on the way, behind those that are known, before its first frame goes
  /// in. From any thread.
  void on_new_scene(const SceneNoise& scene, const ScenePlan& plan);
  /// The run's denoiser, which is watched.
  [[nodiscard]] std::unique_ptr<Denoiser> observe(std::unique_ptr<Denoiser> denoiser);
  void note(const pipeline::PipelineStats& stats);
  /// Once the output has its name. What went wrong, for a warning; empty if nothing did.
  [[nodiscard]] std::string finish(const pipeline::PipelineStats& stats,
                                   std::int64_t damaged_frames);

 private:
  void add_frame(const Frame& noisy, const Frame& result);
  [[nodiscard]] std::string frames_not_shown() const;
  void write_page(const pipeline::PipelineStats& stats, std::int64_t damaged_frames);
  std::string digest_of_input(double patience_s);
  std::string digest_of_output(double patience_s);

  const DenoiseOptions& options_;
  std::unique_ptr<io::TextFile> file_;  // null: no page is asked for
  io::VideoInfo info_;
  CutGeometry geometry_;
  RunFacts facts_;
  std::optional<RunRecord> record_;
  std::optional<ReferenceReader> reference_;
  std::mutex mutex_;
  std::string problem_;
  std::vector<std::pair<SceneNoise, ScenePlan>> new_scenes_;  // that the record has not
  std::stop_source stop_;
  std::future<std::string> input_digest_;
};

}  // namespace lull::tools
