#pragma once
// Base class of the sinks that write a single file with one encoded video stream and copies of
// other streams.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/encode/encoder.h"
#include "io/files/output_file.h"
#include "io/media.h"
#include "io/write/loss_notes.h"
#include "io/write/metadata_embedder.h"
#include "io/write/muxer.h"

namespace lull::io {

class EncodingSink : public MediaSink {
 public:
  void finish() final;
  std::string finish_if(const std::function<bool()>& accepts) override;
  Damage damage() const final { return muxer_ ? muxer_->damage() : Damage{}; }
  const std::string& encoder() const noexcept final { return encoder_name_; }
  const std::string& pixel_format() const noexcept final { return pixel_format_name_; }
  const std::string& container() const noexcept final { return container_name_; }
  const std::vector<std::string>& losses() const noexcept final { return losses_.list(); }
  const std::string& temporary() const noexcept final {
    static const std::string none;
    return file_ ? file_->temporary() : none;
  }
  const std::vector<std::string>& notes() const noexcept final { return notes_; }

 protected:
  EncodingSink(const std::string& path, const FileSource& source, const SinkOptions& options);

  /// Opens the encoder and the muxer. Adds to `losses_` the properties of the input that the output
  /// cannot store. The derived class must call this function once, before the first frame.
  void open(std::unique_ptr<Output> file, const std::vector<EncoderChoice>& choices,
            const FileSource& source, const SinkOptions& options);
  void check_frame(const Frame& frame) const;
  /// Adds to `losses_` the properties of `frame` that the output cannot store.
  void note_losses(const Frame& frame);
  /// Writes buffered frames and the end of the file. finish() calls this function.
  virtual void write_end() = 0;
  /// Renames the temporary file to its final name.
  virtual void commit() { file_->commit(); }

  Container container_;
  std::unique_ptr<Output> file_;
  std::unique_ptr<Encoder> encoder_;
  std::optional<Muxer> muxer_;
  std::optional<MetadataEmbedder> embedder_;  // only for still pictures
  LossList losses_;
  std::vector<std::string> notes_;

 private:
  void embed_metadata(const std::vector<EncoderChoice>& choices, const FileSource& source,
                      const SinkOptions& options);

  FrameFormat format_;
  std::string encoder_name_, pixel_format_name_, container_name_;
};

/// Opens the encoder and the muxer of an output, and closes them again, without an output file.
/// @throws any exception of open_sink()
void try_output(const std::string& path, const FileSource& source, const SinkOptions& options,
                const OutputFileOptions& file);

}  // namespace lull::io
