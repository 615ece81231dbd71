#include "io/demux/input_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

namespace lull::io {
namespace {

namespace fs = std::filesystem;

void check_readable(const std::string& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    throw NoInput("cannot read '" + path + "' (no such file)");
  if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
  if (fs::is_directory(status)) throw NoInput("cannot read '" + path + "' (it is a directory)");
}

bool is_empty_file(const std::string& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && fs::file_size(path, code) == 0;
}

// Returns whether the file is a FIFO or a character device, which cannot seek.
bool is_pipe(const std::string& path) {
  std::error_code code;
  const auto type = fs::status(path, code).type();
  return type == fs::file_type::fifo || type == fs::file_type::character;
}

/// Returns the protocol of a URL, such as "https"; empty if `path` is not a URL.
std::string protocol_of(const std::string& path) {
  const std::size_t colon = path.find("://");
  if (colon == std::string::npos || colon == 0) return {};
  const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-'; };
  const std::string name = path.substr(0, colon);
  return std::ranges::all_of(name, is_part) ? name : std::string();
}

}  // namespace

bool is_address(const std::string& path) {
  std::error_code ignored;
  return !protocol_of(path).empty() && !fs::exists(path, ignored);
}

InputBytes::InputBytes(const std::string& path, const SourceOptions& options)
    : name_(path == "-" ? "standard input" : path),
      address_(is_address(path)),
      protocols_(options.protocols) {
  if (path == "-") {
    if (isatty(options.descriptor))
      throw InvalidArgument("standard input is a terminal (video is no text); redirect it");
    pipe_ = std::make_unique<InputPipe>(options.descriptor);
  } else if (address_) {
    open_address();
  } else {
    open_file();
  }
}

void InputBytes::open_file() {
  check_readable(name_);
  if (is_pipe(name_)) {
    pipe_ = std::make_unique<InputPipe>(name_);
    return;
  }
  AVIOContext* io = nullptr;
  lull::io::check<NoInput>(
      avio_open2(&io, ("file:" + name_).c_str(), AVIO_FLAG_READ, nullptr, nullptr),
      "cannot read '" + name_ + "'");
  io_.reset(io);
  make_url();
  if (is_empty_file(name_)) throw BadData("'" + name_ + "' is empty");
}

void InputBytes::open_address() {
  const std::string protocol = protocol_of(name_);
  if (std::ranges::find(protocols_, protocol) == protocols_.end())
    throw NoInput("cannot read '" + name_ + "' (the protocol " + protocol +
                  " is not allowed, and no file has that name); allow it with --allow-protocol " +
                  protocol);
  AVIOContext* io = nullptr;
  Dictionary wanted;
  wanted.set("protocol_whitelist", whitelist());
  const AVIOInterruptCB callback = interrupt_callback();
  lull::io::check<NoInput>(
      avio_open2(&io, name_.c_str(), AVIO_FLAG_READ, &callback, wanted.address()),
      "cannot read '" + name_ + "'");
  io_.reset(io);
  url_ = name_;
}

InputBytes::Folder::~Folder() {
  if (descriptor >= 0) ::close(descriptor);
}

// Sets the URL of the file for FFmpeg, which truncates the path of a URL at '?' or '#'. If the name
// of the folder contains '?' or '#', the function opens the folder and uses the path
// /proc/self/fd/N.
void InputBytes::make_url() {
  std::error_code ignored;
  const fs::path path = fs::absolute(name_, ignored);
  std::string folder = path.parent_path().string();
  if (folder.find_first_of("?#") != std::string::npos) {
    folder_.descriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_.descriptor >= 0) folder = "/proc/self/fd/" + std::to_string(folder_.descriptor);
  }
  url_ = "file:" + folder + "/" + path.filename().string();
}

// Returns the protocols that FFmpeg may use. Only a playlist in a local file may refer to local
// files.
std::string InputBytes::whitelist() const {
  std::string list = address_ ? "" : "file";
  const auto add = [&](const std::string& name) { list += (list.empty() ? "" : ",") + name; };
  for (const std::string& protocol : protocols_) {
    add(protocol);
    if (protocol == "http" || protocol == "https") add("tcp");  // the underlying protocol
    if (protocol == "https") add("tls");
  }
  return list;
}

std::int64_t InputBytes::size() const { return pipe_ ? pipe_->bytes() : avio_size(io_.get()); }

void InputBytes::check() const {
  if (io().error < 0 && io().error != AVERROR_EOF)
    throw IoError("cannot read '" + name_ + "' (" + error_text(io().error) + ")");
}

void InputBytes::interrupt() noexcept {
  interrupted_ = true;
  if (pipe_) pipe_->interrupt();
}

AVIOInterruptCB InputBytes::interrupt_callback() {
  return {[](void* self) -> int { return static_cast<InputBytes*>(self)->interrupted_; }, this};
}

}  // namespace lull::io
