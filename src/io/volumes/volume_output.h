#pragma once
// The contents of a volume file, except the samples, for each format that lull writes. This file
// also declares the interface that writes the samples.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/foreign_volume.h"
#include "io/volumes/nifti_header.h"
#include "io/volumes/output_samples.h"
#include "io/volumes/volume_name.h"

namespace lull::io {

/// All properties that the reader has read from the file of a volume, except the samples.
struct VolumeInput {
  std::string path = {};
  std::vector<std::byte> head = {};           // all bytes of a NIfTI file before the first sample
  NiftiHeader header = {};                    // content of the header
  std::optional<ForeignVolume> foreign = {};  // the volume is not a single NIfTI file
  std::vector<std::byte> tail = {};           // MGH only: the bytes after the samples

  /// Returns the position of the volume in space, and the time between volumes.
  VolumeGeometry geometry() const;
};

struct VolumeOutput {
  std::string container;                       // "nifti", "nrrd", "mgh" or "pair"
  std::vector<std::byte> head, tail;           // the bytes before and after the samples
  bool is_head_gzip = false, is_gzip = false;  // whether head and samples are compressed
  std::string data_path;                       // file of the samples; empty: they follow the head
  std::vector<std::string> losses;             // what the input contains and the output cannot hold
};

/// Writes the samples of an output in the order of the volume. If the caller does not call
/// commit(), the destructor removes all files of the output.
class VolumeWriter {
 public:
  VolumeWriter() = default;
  virtual ~VolumeWriter() = default;
  VolumeWriter(const VolumeWriter&) = delete;
  VolumeWriter& operator=(const VolumeWriter&) = delete;

  /// Appends samples. The fastest index is x, followed by y, z and the number of the volume.
  /// @throws IoError
  virtual void write(std::span<const std::byte> samples) = 0;
  /// Writes all bytes that follow the samples.
  /// @throws IoError
  virtual void finish_writing() = 0;
  /// Gives the output its final name.
  /// @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// Returns the temporary name of the file or folder that contains the samples.
  virtual const std::string& temporary() const = 0;
};

/// Returns the contents of the output `path`, except the samples. If the input has the same format,
/// the output has all contents of the input.
/// @throws InvalidArgument  the format cannot hold the volume
[[nodiscard]] VolumeOutput make_volume_output(const std::string& path, const VolumeInput& input,
                                              const OutputSamples& samples);

}  // namespace lull::io
