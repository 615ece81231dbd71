#pragma once
// Reads the bytes of an input for FFmpeg: a file, a pipe, or a URL of an FFmpeg protocol.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/byte_pipe.h"
#include "io/media.h"

namespace lull::io {

/// Returns whether `path` is a URL, such as "https://host/name", and not the name of a file.
bool is_address(const std::string& path);

class InputBytes {
 public:
  /// Opens `path`; for `-`, the file descriptor options.descriptor.
  /// @throws NoInput, InvalidArgument
  /// @throws BadData  the file is empty
  InputBytes(const std::string& path, const SourceOptions& options);

  /// Returns the name of the input, for messages and for libraries that open the file themselves.
  const std::string& name() const { return name_; }
  AVIOContext& io() const { return pipe_ ? pipe_->io() : *io_; }
  /// Returns the pipe of the input; null for a file or a URL.
  const InputPipe* pipe() const { return pipe_.get(); }
  /// Returns the URL of the input; empty for a pipe. Relative names in a playlist are relative to
  /// this URL.
  const std::string& url() const { return url_; }
  /// Returns the protocols that FFmpeg may use for files to which the input refers.
  std::string whitelist() const;
  /// Returns the size of the file, or the number of bytes that the pipe has delivered so far.
  std::int64_t size() const;
  /// Throws an error if an earlier read has failed.
  /// @throws IoError
  void check() const;

  /// Ends a read that is waiting for data. This read and all later reads fail. Any thread may call
  /// this function.
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

  /// Owns the descriptor of an open folder, and closes it.
  struct Folder {
    int descriptor = -1;
    ~Folder();
  };

  std::string name_, url_;
  Folder folder_;  // the folder that url_ refers to
  const bool address_;
  const std::vector<std::string> protocols_;
  std::unique_ptr<AVIOContext, CloseIo> io_;
  std::unique_ptr<InputPipe> pipe_;  // replaces io_ for pipes
  std::atomic<bool> interrupted_ = false;
};

}  // namespace lull::io
