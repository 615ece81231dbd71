#include "io/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "io/files/output_file.h"

namespace lull::io {

struct TextFile::File {
  OutputFile output;
};

TextFile::TextFile(const std::string& path, bool overwrite)
    : file_(new File{OutputFile(path, overwrite)}) {}

TextFile::~TextFile() = default;

void TextFile::write(const std::string& text) {
  avio_write(file_->output.io(), reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(text.size()));
  file_->output.finish_writing();
}

const std::string& TextFile::temporary() const { return file_->output.temporary(); }

void TextFile::commit() { file_->output.commit(); }

void write_text(const std::string& path, const std::string& text, bool overwrite) {
  TextFile file(path, overwrite);
  file.write(text);
  file.commit();
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NoInput("cannot read '" + path + "' (" + std::strerror(errno) + ")");
  std::string text(max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw NoInput("cannot read '" + path + "' (" + std::strerror(errno) + ")");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_bytes)
    throw BadData("'" + path + "' is too large (" + std::to_string(max_bytes) +
                  " bytes are the most); check the name");
  return text;
}

}  // namespace lull::io
