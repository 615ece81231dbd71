#pragma once
// The files of --phase and --phase-out: the phases of complex samples, whose magnitudes are the
// input.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/frame.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Reads the file of --phase slice by slice.
class PhaseFile {
 public:
  /// Opens the file. Without --phase-turn, the range of all values determines a full turn.
  /// @param source  the magnitudes
  /// @param on_open  receives the open file
  /// @throws NoInput  lull cannot open the file
  /// @throws BadData  the file is damaged, or its size or range is wrong
  PhaseFile(const InputOptions& options, const io::MediaSource& source,
            const std::function<void(io::MediaSource& phases)>& on_open = {});

  /// Returns the next slice, and writes its phases to `radians` in radians, row by row. Phases may
  /// be NaN.
  /// @throws BadData  there is no further slice
  [[nodiscard]] Frame next(std::vector<float>& radians);
  /// Value of a full turn in the unit of the file.
  double turn() const { return turn_; }
  /// The lowest phase in the unit of the file. The phases that PhaseOutput writes are in the range
  /// of one full turn that begins at this value.
  double lowest() const { return lowest_; }
  io::MediaSource& source() { return *source_; }

 private:
  void find_turn(double given);

  std::string name_;
  std::unique_ptr<io::MediaSource> source_;
  double turn_ = 0, lowest_ = 0;
  std::vector<double> values_;
};

/// Returns the value of a full turn for phases from `low` to `high`: 2 * pi (radians), 360
/// (degrees), 4096, 8192 (-4096..4096) or 2000 * pi (thousandths of a radian). Returns 0 for any
/// other range.
[[nodiscard]] double turn_of_range(double low, double high);

/// Writes the file of --phase-out. Without this option, the object does nothing.
class PhaseOutput {
 public:
  /// @throws CannotCreate, and any error of PhaseFile()
  PhaseOutput(const DenoiseOptions& options, const io::MediaSource& source);

  bool is_requested() const { return sink_ != nullptr; }
  /// Writes the phases of the next slice. A voxel keeps its phase if the filter has not changed its
  /// magnitude.
  /// @param noisy  the magnitudes before the filter
  /// @param real, imaginary  the filtered parts after the removal of the slowly varying phase; the
  ///     function restores the slowly varying phase
  void write(const Frame& noisy, const Frame& real, const Frame& imaginary);
  /// Completes the file after the last slice.
  /// @throws IoError, CannotCreate
  void finish();

 private:
  float zero_ = 0;  // the magnitude sample that represents 0, on the 0..255 scale
  std::unique_ptr<PhaseFile> phases_;
  std::unique_ptr<io::MediaSink> sink_;  // null: no file is requested
};

}  // namespace lull::tools
