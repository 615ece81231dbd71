#pragma once
// Reads and writes the files of --phase and --phase-out. These files contain the phases of complex
// samples; the input contains the magnitudes.

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
  /// Opens the file. Without --phase-turn, the constructor reads the file once to determine the
  /// value of a full turn from the range of the values.
  /// @param source  the magnitudes, which must have the same size
  /// @param on_open  function that is called with the open file before the file is read
  /// @throws NoInput  the file cannot be opened
  /// @throws BadData  the file is damaged, has another size, or its range is not a known one
  /// @throws InvalidArgument  the file is not a volume
  PhaseFile(const InputOptions& options, const io::MediaSource& source,
            const std::function<void(io::MediaSource& phases)>& on_open = {});

  /// Returns the next slice of the file. `radians` receives its phases in radians, row by row;
  /// phases may be NaN.
  /// @throws BadData  there is no further slice
  [[nodiscard]] Frame next(std::vector<float>& radians);
  /// Value of a full turn in the unit of the file.
  double turn() const { return turn_; }
  /// The smallest value of the file's range. PhaseOutput writes phases from this value to a full
  /// turn above it.
  double lowest() const { return lowest_; }
  io::MediaSource& source() { return *source_; }

 private:
  void find_turn(double given);

  std::string name_;
  std::unique_ptr<io::MediaSource> source_;
  double turn_ = 0, lowest_ = 0;
  std::vector<double> values_;
};

/// Returns the value of a full turn for phases from `low` to `high`: 2 pi (radians), 360 (degrees),
/// 4096, 8192 (-4096..4096) or 2000 pi (thousandths of a radian). Returns 0 if no unit fits.
[[nodiscard]] double turn_of_range(double low, double high);

/// Writes the file of --phase-out; does nothing without this option.
class PhaseOutput {
 public:
  /// @throws CannotCreate, and any error of PhaseFile()
  PhaseOutput(const DenoiseOptions& options, const io::MediaSource& source);

  bool is_requested() const { return sink_ != nullptr; }
  /// Writes the phases of the next slice. Where the run does not change the magnitude, the phase
  /// does not change.
  /// @param noisy  the magnitudes before the filter
  /// @param real, imaginary  the filtered parts without the slowly varying phase, which the
  ///     function adds again
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
