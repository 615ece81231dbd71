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

/// Returns the kind of stack that a file or a folder contains. The result is `none` if the input is
/// not a stack, or if `options` state its format.
/// - `nifti`: any volume, or any file named .nii, .nii.gz, .nrrd, .nhdr, .mgh or .mgz
/// - `tiff`: a TIFF file with several pages, or with grey samples that are neither unsigned
///   integers of up to 16 bits nor half floats. With SourceOptions::narrow_page_is_slice, also a
///   page of grey 16-bit samples that use at most 14 bits, unless an option applies only to
///   pictures
/// - `zarr`: a folder named .zarr, or with Zarr metadata
StackKind stack_kind(const std::string& path, const SourceOptions& options);

/// Returns the maximum number of samples of a slice: the smaller of `limits.pixels` and the maximum
/// of an int. The width and the height of a slice then fit in an int.
std::uint64_t max_samples(const Limits& limits);
/// Throws an error if a stack has more slices than `limits` allow.
/// @throws BadData
void check_slices(const std::string& path, std::int64_t slices, const Limits& limits);
/// Throws an error if `bytes`, the memory that a source needs for slices, exceeds `maximum`. The
/// message contains the suggestion `advice`.
/// @throws OutOfMemory
void check_memory(const std::string& path, std::int64_t bytes, std::int64_t maximum,
                  const std::string& advice = {});
/// Throws an error if lull cannot write a stack to a file named `path`.
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

/// The functions open_*_sink() open the sink for a volume (nifti) or a stack of planes (tiff,
/// zarr). Each of these functions returns null for other sources, and for outputs of other formats.
/// @throws any exception of open_sink()
std::unique_ptr<MediaSink> open_nifti_sink(const std::string& path, MediaSource& source,
                                           const SinkOptions& options);
/// Returns one string for each part of the header of `source` that the output `path` cannot store.
/// The list is empty if `source` is not a volume.
/// @throws InvalidArgument  the output cannot store the volume
std::vector<std::string> losses_of_volume(const std::string& path, const MediaSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_tiff_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options);

std::unique_ptr<MediaSink> open_zarr_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options);
/// Returns one string for each property of `source` that the output `path` cannot store. The list
/// is empty if `source` is not a stack of planes (TIFF, OME-Zarr).
/// @throws InvalidArgument  the output cannot store the samples
std::vector<std::string> losses_of_planes(const std::string& path, const MediaSource& source);

/// Throws an error if the caller has set options for encoders.
/// @throws InvalidArgument
void refuse_encoder_options(const SinkOptions& options, const std::string& path);

/// Throws an error if `path` is the name of a volume or of an OME-Zarr store, or if the caller has
/// set SinkOptions::datatype. Sinks that write neither volumes nor OME-Zarr stores call this
/// function.
/// @throws InvalidArgument
void refuse_stack(const std::string& path, const SinkOptions& options);

/// Throws an error if the caller has set SinkOptions::datatype, because only volumes support this
/// option.
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
  /// Returns the files that the source reads: path(), and any separate files with samples.
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
