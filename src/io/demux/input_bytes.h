#pragma once
// Where an input's bytes come from: a file, a pipe, or an address of one of FFmpeg's protocols.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"
#include "io/media.h"

namespace lull::io {

/// Whether `path` is an address ("https://host/name"), and no file has that name.
bool is_address(const std::string& path);

class InputBytes {
 public:
  /// Opens `path`, `-` for options.descriptor. @throws NoInput, InvalidArgument, BadData (empty)
  InputBytes(const std::string& path, const SourceOptions& options);

  /// For messages, and for what opens files by itself.
  const std::string& name() const { return name_; }
  AVIOContext& io() const { return pipe_ ? pipe_->io() : *io_; }
  /// Null for what can be read again from its start.
  const InputPipe* pipe() const { return pipe_.get(); }
  /// What the names in a playlist are relative to; empty for a pipe.
  const std::string& url() const { return url_; }
  /// The protocols that FFmpeg may use for what the input refers to.
  std::string whitelist() const;
  /// Of all bytes, or those that came through a pipe.
  std::int64_t size() const;
  /// @throws IoError  reading has failed
  void check() const;

  /// Ends a read that waits, and those to come. From any thread.
  void interrupt() noexcept;
  bool interrupted() const { return interrupted_; }
  AVIOInterruptCB interrupt_callback();

 private:
  struct CloseIo {
    void operator()(AVIOContext* io) const noexcept { avio_close(io); }
  };
  void open_file();
  void open_address();
  void make_url();

  /// Open while it lives.
  struct Folder {
    int descriptor = -1;
    ~Folder();
  };

  std::string name_, url_;
  Folder folder_;  // behind the url
  const bool address_;
  const std::vector<std::string> protocols_;
  std::unique_ptr<AVIOContext, CloseIo> io_;
  std::unique_ptr<InputPipe> pipe_;  // instead of it
  std::atomic<bool> interrupted_ = false;
};

}  // namespace lull::io
