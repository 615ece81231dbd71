// Writes a volume: the filtered samples, and the properties from the input's header.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "io/dicom/dicom_output.h"
#include "io/ffmpeg/side_data.h"
#include "io/stacks/nifti_source.h"
#include "io/text_file.h"
#include "io/volumes/volume_output.h"

namespace lull::io {
namespace {

/// Returns whether the output is a DICOM series: copies of the input's files with new samples.
bool makes_dicom(const std::string& path, const NiftiSource& source) {
  return source.info().codec == "dicom" && volume_format(path) == VolumeFormat::none &&
         is_dicom_output(path);
}

/// Returns the sample format of the output `path`.
/// @throws InvalidArgument  the output cannot store the samples
OutputSamples samples_for_output(const std::string& path, const NiftiSource& source,
                                 DataType type) {
  const VolumeFormat format = volume_format(path);
  if (makes_dicom(path, source)) {
    if (type == DataType::same) return {source.header().samples, source.header().scaled, {}};
    throw InvalidArgument("a data type for '" + path +
                          "' (DICOM files keep the type of the input); leave --datatype out");
  }
  const bool is_analyze = source.foreign() && source.foreign()->format == "analyze";
  const bool has_scale =
      format == VolumeFormat::nifti || (format == VolumeFormat::pair && !is_analyze);
  return output_samples(source.header(), {.path = source.path(),
                                          .output = format,
                                          .type = type,
                                          .has_scale = has_scale,
                                          .minimum = source.minimum(),
                                          .maximum = source.maximum()});
}

/// Writes a volume as one file, or as a pair of files (header and samples). The files have
/// temporary names until commit().
class VolumeFiles final : public VolumeWriter {
 public:
  /// Writes the head.
  VolumeFiles(const std::string& path, VolumeOutput output, const SinkOptions& options)
      : output_(std::move(output)), file_(path, file_options(options)) {
    if (!output_.data_path.empty()) samples_file_.emplace(output_.data_path, file_options(options));
    const bool is_one_stream = !samples_file_ && output_.is_head_gzip == output_.is_gzip;
    writer_ = std::make_unique<GzipWriter>(file_, output_.is_head_gzip);
    writer_->write(output_.head);
    if (is_one_stream) return;
    writer_->finish();
    writer_ = std::make_unique<GzipWriter>(samples_file_ ? *samples_file_ : file_, output_.is_gzip);
  }

  void write(std::span<const std::byte> samples) override { writer_->write(samples); }
  void finish_writing() override {
    writer_->write(output_.tail);
    writer_->finish();
    file_.finish_writing();
    if (samples_file_) samples_file_->finish_writing();
  }
  /// commit() renames the header last, so that the output never contains a header without samples.
  void commit() override {
    if (samples_file_) samples_file_->commit();
    file_.commit();
  }
  const std::string& temporary() const override {
    return samples_file_ ? samples_file_->temporary() : file_.temporary();
  }

 private:
  VolumeOutput output_;
  OutputFile file_;
  std::optional<OutputFile> samples_file_;
  std::unique_ptr<GzipWriter> writer_;
};

/// Sidecar files that contain the b-values and the gradient directions of a diffusion series, in
/// the form of FSL and dcm2niix.
class Sidecars {
 public:
  /// @throws CannotCreate  a sidecar file of the output exists with other content, and the options
  ///     do not allow its replacement
  Sidecars(const NiftiSource& source, const std::string& output, const SinkOptions& options)
      : overwrite_(options.overwrite), follow_links_(options.follow_links) {
    const bool is_folder = source.foreign() && source.foreign()->format == "dicom";
    if (source.header().volumes < 2 || is_folder) return;
    for (const char* ending : {".bval", ".bvec"}) {
      const std::string from = volume_stem(source.path()) + ending,
                        to = volume_stem(output) + ending;
      std::error_code code;
      if (!std::filesystem::exists(from, code) || same_file(from, to)) continue;
      std::string text = read_text(from, max_bytes);
      if (std::filesystem::is_regular_file(to, code)) {
        if (std::filesystem::file_size(to, code) == text.size() && read_text(to, max_bytes) == text)
          continue;
      }
      check_free(to, overwrite_);
      files_.push_back({to, std::move(text), options.access & access_of({from})});
    }
  }

  void write() const {
    for (const File& file : files_)
      write_text(file.path, file.text,
                 {.overwrite = overwrite_, .access = file.access, .follow_links = follow_links_});
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const File& file : files_) notes.push_back("copied: '" + file.path + "'");
    return notes;
  }

 private:
  static constexpr std::size_t max_bytes = std::size_t{1} << 26;
  struct File {
    std::string path, text;
    Access access;
  };

  bool overwrite_, follow_links_;
  std::vector<File> files_;
};

class NiftiSink final : public StackSink {
 public:
  /// @param container  name of the format
  /// @param losses     contents of the input that the output cannot store
  NiftiSink(const std::string& path, const NiftiSource& source, OutputSamples samples,
            std::unique_ptr<VolumeWriter> files, std::string container,
            std::vector<std::string> losses, const SinkOptions& options)
      : out_(std::move(samples)),
        in_(source.header().samples),
        range_(source.range()),
        grid_(source.grid()),
        frame_format_(source.format()),
        slices_(source.info().frames_estimate),
        sidecars_(source, path, options),
        notes_(sidecars_.notes()),
        files_(std::move(files)) {
    container_ = std::move(container);
    losses_ = std::move(losses);
    samples_ = name_of(out_.format.type);
    temporary_ = files_->temporary();
    block_.resize(grid_.block_samples() * size_of(out_.format.type));
    row_.resize(static_cast<std::size_t>(grid_.width) * size_of(out_.format.type));
  }

  void write(Frame frame) override {
    if (frame.format != frame_format_ || !frame.side_data || next_ == slices_)
      throw InternalError("the sink got a frame that is not a slice of the volume");
    const std::int64_t in_block = next_ % grid_.slices_of_block;
    const std::size_t in_bytes = static_cast<std::size_t>(grid_.width) * size_of(in_.type);
    const int bytes = size_of(out_.format.type);
    const PlaneView<float> samples = frame.plane<float>(0);
    for (int y = 0; y < grid_.height; ++y) {
      store_filtered({samples.row(y), static_cast<std::size_t>(samples.width)},
                     std::span(frame.side_data->stored).subspan(y * in_bytes, in_bytes), in_,
                     range_, out_.format, row_);
      zero_outside(frame, y, out_.format, row_);
      std::byte* to = &block_[(in_block * grid_.step_slice + y * grid_.step_y) * bytes];
      for (int x = 0; x < grid_.width; ++x, to += grid_.step_x * bytes)
        std::copy_n(&row_[static_cast<std::size_t>(x) * bytes], bytes, to);
    }
    ++next_;
    if (in_block + 1 == grid_.slices_of_block) files_->write(block_);
  }

  void finish() override {
    if (next_ != slices_) throw InternalError("the volume was finished before its last slice");
    // finish() renames the volume last, so that a volume never exists without its sidecar files.
    files_->finish_writing();
    sidecars_.write();
    files_->commit();
  }

  const std::vector<std::string>& notes() const noexcept override { return notes_; }

 private:
  OutputSamples out_;
  StoredFormat in_;
  ValueRange range_;
  SliceGrid grid_;
  FrameFormat frame_format_;
  std::int64_t slices_, next_ = 0;
  Sidecars sidecars_;
  std::vector<std::string> notes_;
  std::unique_ptr<VolumeWriter> files_;
  std::vector<std::byte> block_, row_;
};

}  // namespace

std::vector<std::string> losses_of_volume(const std::string& path, const MediaSource& source,
                                          const SinkOptions& options) {
  const auto* volume = dynamic_cast<const NiftiSource*>(&source);
  if (!volume || makes_dicom(path, *volume)) return {};
  const OutputSamples samples = samples_for_output(path, *volume, options.datatype);
  return make_volume_output(path, volume->input(), samples).losses;
}

std::unique_ptr<MediaSink> open_nifti_sink(const std::string& path, MediaSource& source,
                                           const SinkOptions& options) {
  const auto* volume = dynamic_cast<const NiftiSource*>(&source);
  if (!volume) return nullptr;
  check_stack_output(path, source.info());
  OutputSamples samples = samples_for_output(path, *volume, options.datatype);
  volume->check_memory(volume->grid().block_samples() *
                       static_cast<std::uint64_t>(size_of(samples.format.type)));
  refuse_encoder_options(options, path);
  const auto refuse_input = [&](const std::string& name) {
    for (const std::string& file : volume->files())
      if (same_file(name, file))
        throw InvalidArgument("'" + path + "' is both input and output; give another output");
  };
  refuse_input(path);
  if (makes_dicom(path, *volume))
    return std::make_unique<NiftiSink>(path, *volume, std::move(samples),
                                       open_dicom_output(path, *volume->foreign(), options),
                                       "dicom", std::vector<std::string>{}, options);
  // If the output is a pair of files (.hdr and .img), lull uses the name of the header file for the
  // pair.
  const bool is_pair = volume_format(path) == VolumeFormat::pair;
  const std::string target = is_pair ? pair_names(path).head : path;
  VolumeOutput output = make_volume_output(target, volume->input(), samples);
  refuse_input(target);
  if (!output.data_path.empty()) refuse_input(output.data_path);
  const std::string container = output.container;
  const std::vector<std::string> losses = output.losses;
  return std::make_unique<NiftiSink>(
      target, *volume, std::move(samples),
      std::make_unique<VolumeFiles>(target, std::move(output), options), container, losses,
      options);
}

}  // namespace lull::io
