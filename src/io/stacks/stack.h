#pragma once
// Stacks of grey slices: NIfTI volumes and TIFF files of several pages, as sources and sinks.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/media.h"

namespace lull::io {

enum class StackKind { none, nifti, tiff };

/// What kind of stack a file is, by its content; by its name where that ends in .nii or .nii.gz, so
/// that a broken volume is not taken for a broken video. A TIFF file is a stack if it has several
/// pages or grey samples that are no 8- or 16-bit integers, nor half floats. `none` also for what
/// cannot be read, and where the options say what the file is.
StackKind stack_kind(const std::string& path, const SourceOptions& options);

/// Whether a name ends in .nii or .nii.gz, .tif or .tiff, in any case.
bool is_nifti_name(std::string_view path);
bool is_gzip_name(std::string_view path);
bool is_tiff_name(std::string_view path);

/// Samples that a slice may have; each side then fits an int, too.
std::uint64_t max_samples(const Limits& limits);
/// @throws BadData  more slices than allowed
void check_slices(const std::string& path, std::int64_t slices, const Limits& limits);
/// `advice`: what else could be done.
/// @throws OutOfMemory  the slices of a stack need more memory at a time than allowed
void check_memory(const std::string& path, std::int64_t bytes, std::int64_t most,
                  const std::string& advice = {});
/// Whether a stack may become a file of this name. @throws InvalidArgument
void check_stack_output(const std::string& path, const VideoInfo& stack);

/// @throws as open_source()
std::unique_ptr<MediaSource> open_nifti_source(const std::string& path,
                                               const SourceOptions& options);
std::unique_ptr<MediaSource> open_tiff_source(const std::string& path,
                                              const SourceOptions& options);

/// The sink for a source of open_nifti_source() or open_tiff_source(), null for another source.
/// @throws as open_sink()
std::unique_ptr<MediaSink> open_nifti_sink(const std::string& path, MediaSource& source,
                                           const SinkOptions& options);
std::unique_ptr<MediaSink> open_tiff_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options);

/// Refuses what only an encoder understands. @throws InvalidArgument
void refuse_encoder_options(const SinkOptions& options, const std::string& path);

/// Refuses a stack's name or options for what is none. @throws InvalidArgument
void refuse_stack(const std::string& path, const SinkOptions& options);

/// What the sources of stacks answer.
class StackSource : public MediaSource {
 public:
  const std::string& why_not_gpu() const noexcept override;
  /// The name of the file.
  virtual const std::string& path() const noexcept = 0;
};

/// What the sinks of stacks answer.
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
