#pragma once
// Sequences of raw photographs as sources and sinks of frames.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/stream.h"
#include "io/access.h"
#include "io/pictures/sequence.h"
#include "io/raw/dng_tags.h"
#include "io/raw/raw_picture.h"

namespace lull::io {

/// Reads a raw file, or a numbered sequence of raw files (CinemaDNG) with equal sizes and CFA
/// patterns. A frame is a grey mosaic of 16 bits. Frame::pts is the index of the file.
class RawSource final : public FrameSource {
 public:
  /// Opens the first file.
  /// @throws the exceptions of read_raw() and find_sequence()
  RawSource(const std::string& path, std::int64_t max_pixels);

  /// Selects the files with the indices `first` to `last`. All other functions then count indices
  /// from the file `first`. The caller must call this function before read().
  void select(std::int64_t first, std::int64_t last);

  const FrameFormat& format() const noexcept override { return first_.mosaic.format; }
  std::optional<Frame> read() override;

  const std::vector<SequenceFile>& files() const { return files_; }
  /// Returns the first picture.
  const RawPicture& first() const { return first_; }
  /// Returns the properties of the camera and the picture from the file with the index `index`, and
  /// removes them from this object. read() must have returned the picture of this file. Any thread
  /// may call this function.
  [[nodiscard]] std::shared_ptr<const RawFacts> take_facts(std::int64_t index);

 private:
  void check_same(const RawFacts& facts) const;

  std::int64_t max_pixels_;
  std::vector<SequenceFile> files_;
  RawPicture first_;
  std::size_t next_ = 0;
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const RawFacts>> facts_;
};

/// A denoised picture, and the camera's properties from the input file.
struct RawResult {
  std::shared_ptr<const RawFacts> facts;
  Frame samples;  // a mosaic, or R, G, B
  DngLevels levels;
  std::vector<double> noise_profile;
};

struct RawFileOptions {
  bool overwrite = false;
  Access access{};
  bool strict_metadata = false;  // lost metadata are an error, and no file is written
};

/// Returns whether a file name is suitable for a denoised raw photograph: .dng for raw data, and
/// .tif, .tiff, .png or .exr for developed pictures.
[[nodiscard]] bool is_raw_output(const std::string& path);

/// Writes a picture in the format of the file extension, and renames the complete file to its final
/// name.
/// @return one line for each property that the file cannot store
/// @throws InvalidArgument  no format has this extension, or `options` forbid losses
/// @throws CannotCreate, IoError
std::vector<std::string> write_raw_result(const std::string& path, const RawResult& result,
                                          const RawFileOptions& options);

}  // namespace lull::io
