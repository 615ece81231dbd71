#pragma once
// Writes the film grain table of a run and passes the table to the encoder.

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/text_file.h"
#include "noise/grain/collector.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/input_noise.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {

/// Implements --grain and --grain-table. --grain keep requires a first pass over a few frames of
/// each scene, because an encoder needs the grain table when it opens.
class GrainJob {
 public:
  /// @throws InvalidArgument  a format without grain table, or an input that lull can read only
  ///     once
  /// @throws CannotCreate  the file of the table exists, or lull cannot create it
  GrainJob(const DenoiseOptions& options, const FrameFormat& format);

  /// Sets the noise estimates. The caller must call set_noise() before all other functions. The
  /// grain table describes the noise estimate on three conditions: the run removes all noise, the
  /// estimate is certain, and the estimate comes from differences between frames. Otherwise, the
  /// table describes the removed noise.
  void set_noise(const NoiseRecord& noise) { scenes_ = noise.scenes; }
  /// With --grain keep, computes the table and the scenes of `noise` in a first pass. The caller
  /// must call this function before it opens the session and the sink. Returns false if the user
  /// has stopped the run.
  [[nodiscard]] bool run_first_pass(const DenoiseOptions& options, InputNoise& noise,
                                    const std::vector<bm3d::Backend>& backends,
                                    const Notify& notify, const std::stop_token& stop);
  /// Returns the path of the table for the encoder, or an empty string without --grain keep.
  std::string encoder_table() const;
  /// Appends a new scene during the run. Thread-safe.
  void on_new_scene(const SceneNoise& scene);
  /// Returns a denoiser that passes frames to `denoiser` and measures the removed grain for
  /// --grain-table. Returns `denoiser` itself without --grain-table, or with --grain keep.
  [[nodiscard]] std::unique_ptr<Denoiser> observe(std::unique_ptr<Denoiser> denoiser);
  /// Writes the table, after the last frame.
  /// @throws IoError, CannotCreate
  void finish();

 private:
  std::string table();

  bool keep_;               // whether --grain keep was given
  bool has_file_;           // --grain-table
  bool removes_all_noise_;  // described at known_noise()
  std::vector<SceneNoise> scenes_;
  std::mutex mutex_;  // protects scenes_
  GrainCollector collector_;
  std::unique_ptr<io::TextFile> file_;            // file of --grain-table; null without this option
  std::unique_ptr<io::TemporaryText> temporary_;  // table for the encoder without --grain-table
};

}  // namespace lull::tools
