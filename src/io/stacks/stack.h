#pragma once
// Sources and sinks for stacks of grey slices: volumes (NIfTI and other formats), TIFF files of
// several pages, and OME-Zarr.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/media.h"

namespace lull::io {

enum class StackKind { none, nifti, tiff, zarr };

/// Returns the kind of stack that a file or a folder contains. A TIFF file is a stack if it has
/// several pages, or grey samples that are neither 8- or 16-bit integers nor half floats. A folder
/// is a Zarr store if it contains Zarr metadata or its name ends in .zarr. `nifti` means any format
/// of volumes. The names .nii, .nii.gz, .nrrd, .nhdr, .mgh and .mgz always mean volumes, so that a
/// damaged volume is not treated as a damaged video. The result is `none` for files that cannot be
/// read, and if the options state the format.
StackKind stack_kind(const std::string& path, const SourceOptions& options);

/// Returns the maximum number of samples of a slice. The limit ensures that width and height fit in
/// an int.
std::uint64_t max_samples(const Limits& limits);
/// Throws an error if a stack has more slices than `limits` allows.
/// @throws BadData
void check_slices(const std::string& path, std::int64_t slices, const Limits& limits);
/// Throws an error with the suggestion `advice` if the source needs `bytes` bytes for slices and
/// this exceeds `maximum`.
/// @throws OutOfMemory
void check_memory(const std::string& path, std::int64_t bytes, std::int64_t maximum,
                  const std::string& advice = {});
/// Throws an error if a stack cannot become a file with the name `path`.
/// @throws InvalidArgument
void check_stack_output(const std::string& path, const VideoInfo& stack);

/// Opens a stack as a source.
/// @throws any exception of open_source()
std::unique_ptr<MediaSource> open_nifti_source(const std::string& path,
                                               const SourceOptions& options);
std::unique_ptr<MediaSource> open_tiff_source(const std::string& path,
                                              const SourceOptions& options);
std::unique_ptr<MediaSource> open_zarr_source(const std::string& path,
                                              const SourceOptions& options);

/// Opens the sink for a source of the same kind (nifti, tiff or zarr). Returns null for other
/// sources, and if the output has another format.
/// @throws any exception of open_sink()
std::unique_ptr<MediaSink> open_nifti_sink(const std::string& path, MediaSource& source,
                                           const SinkOptions& options);
/// Returns what a volume loses in the output `path`; empty for sources other than volumes.
/// @throws InvalidArgument  the output cannot store the volume
std::vector<std::string> losses_of_volume(const std::string& path, const MediaSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_tiff_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options);

std::unique_ptr<MediaSink> open_zarr_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options);
/// Returns what a stack of planes (TIFF, OME-Zarr) loses in the output `path`; empty for other
/// sources.
/// @throws InvalidArgument  the output cannot store the samples
std::vector<std::string> losses_of_planes(const std::string& path, const MediaSource& source);

/// Rejects options that only an encoder supports.
/// @throws InvalidArgument
void refuse_encoder_options(const SinkOptions& options, const std::string& path);

/// Rejects output names and options that are only for volumes.
/// @throws InvalidArgument
void refuse_stack(const std::string& path, const SinkOptions& options);

/// Rejects a data type for outputs other than volumes.
/// @throws InvalidArgument
void refuse_datatype(const std::string& path, const SinkOptions& options);

/// Returns the folder that contains the file or the folder `path`.
std::string folder_of(const std::string& path);

/// Base class of the sources of stacks.
class StackSource : public MediaSource {
 public:
  const std::string& why_not_gpu() const noexcept override;
  /// Returns the path of the file.
  virtual const std::string& path() const noexcept = 0;
  /// Returns the files that the source reads: path(), and separate files with samples.
  virtual std::vector<std::string> files() const { return {path()}; }
};

/// Base class of the sinks of stacks.
class StackSink : public MediaSink {
 public:
  const std::string& encoder() const noexcept override { return container_; }
  const std::string& pixel_format() const noexcept override { return samples_; }
  const std::string& container() const noexcept override { return container_; }
  const std::vector<std::string>& losses() const noexcept override { return losses_; }
  const std::string& temporary() const noexcept override { return temporary_; }

 protected:
  std::string container_, samples_, temporary_;
  std::vector<std::string> losses_;
};

}  // namespace lull::io
