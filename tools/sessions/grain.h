#pragma once
// The grain of a run: what of it goes into a table, and into the stream.

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

/// What --grain and --grain-table ask for. An encoder reads its table when it opens: to keep the
/// grain, the input is read twice, and of the first time a few frames of each scene are denoised,
/// one by one.
class GrainJob {
 public:
  /// `format` is the input's. `noise` is what was found in it: where that was measured over time,
  /// it says more of the grain than what denoising takes away. @throws InvalidArgument  such frames
  /// have no grain table; the input can be read but once; CannotCreate  the table's file is there
  /// or cannot be created
  GrainJob(const DenoiseOptions& options, const FrameFormat& format, const NoiseRecord& noise);

  /// With --grain keep, before the session and the sink are opened: finds the table, and the
  /// scenes of `noise` on the way. False: stopped.
  [[nodiscard]] bool run_first_pass(const DenoiseOptions& options, InputNoise& noise,
                                    const std::vector<bm3d::Backend>& backends,
                                    const Notify& notify, const std::stop_token& stop);
  /// The file for the encoder; empty without --grain keep.
  std::string encoder_table() const;
  /// A scene that was found on the way, behind those that are known. From any thread.
  void on_new_scene(const SceneNoise& scene);
  /// The run's denoiser, which is watched where a table is asked for.
  [[nodiscard]] std::unique_ptr<Denoiser> observe(std::unique_ptr<Denoiser> denoiser);
  /// Once all frames are out: the table gets its name. @throws IoError, CannotCreate
  void finish();

 private:
  std::string table();

  bool keep_, named_;
  bool whole_;  // all that is found is taken away, and from whole frames
  std::vector<SceneNoise> scenes_;
  std::mutex mutex_;  // of scenes_
  GrainCollector collector_;
  std::unique_ptr<io::TextFile> file_;          // null: no name is given
  std::unique_ptr<io::TemporaryText> unnamed_;  // for the encoder alone
};

}  // namespace lull::tools
