#pragma once
// Makes the header and all other contents of an output volume, except the samples. VolumeWriter
// writes the samples.

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

/// All contents of a volume's file except the samples.
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
  std::vector<std::string> losses;             // contents of the input that the output lacks
};

/// Writes the samples of an output in file order. Without commit(), the destructor removes all
/// files of the output.
class VolumeWriter {
 public:
  VolumeWriter() = default;
  virtual ~VolumeWriter() = default;
  VolumeWriter(const VolumeWriter&) = delete;
  VolumeWriter& operator=(const VolumeWriter&) = delete;

  /// Appends samples, with x as the fastest index, followed by y, z and the volume number.
  /// @throws IoError
  virtual void write(std::span<const std::byte> samples) = 0;
  /// Writes all bytes that follow the samples.
  /// @throws IoError
  virtual void finish_writing() = 0;
  /// Renames the output to its final name.
  /// @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// Returns the temporary name of the file or folder that contains the samples.
  virtual const std::string& temporary() const = 0;
};

/// Returns the header and the metadata of the output `path`. If input and output have the same
/// format, the output keeps all metadata of the input.
/// @throws InvalidArgument  the format cannot store the volume
[[nodiscard]] VolumeOutput make_volume_output(const std::string& path, const VolumeInput& input,
                                              const OutputSamples& samples);

}  // namespace lull::io
