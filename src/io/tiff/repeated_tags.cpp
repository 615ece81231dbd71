#include "io/tiff/repeated_tags.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "core/error.h"
#include "io/files/file_bytes.h"

namespace lull::io {
namespace {

constexpr std::uint64_t max_text_bytes = 1 << 20;

/// Edits the directories of a complete TIFF file, page by page.
class DirectoryEditor {
 public:
  DirectoryEditor(int descriptor, const DirectoryFormat& format)
      : descriptor_(descriptor), format_(format), pointer_(format.first_pointer()) {}

  /// Adds texts to the directory of the next page. The first call edits the first page.
  void edit_next(const std::vector<RepeatedText>& texts) {
    const std::uint64_t at = number_at(pointer_, format_.offset_bytes());
    const std::uint64_t count = number_at(at, format_.count_bytes());
    const std::uint64_t entries_at = at + format_.count_bytes();
    const std::uint64_t next_at = entries_at + count * format_.entry_bytes();
    if (texts.empty()) {
      pointer_ = next_at;
      return;
    }
    std::vector<std::uint8_t> entries = read(entries_at, next_at - entries_at);
    for (const RepeatedText& text : texts) insert(entries, text);
    std::vector<std::uint8_t> directory;
    format_.append(directory, entries.size() / format_.entry_bytes(), format_.count_bytes());
    directory.insert(directory.end(), entries.begin(), entries.end());
    format_.append(directory, number_at(next_at, format_.offset_bytes()), format_.offset_bytes());
    const std::uint64_t moved = append(directory);
    std::vector<std::uint8_t> pointer;
    format_.append(pointer, moved, format_.offset_bytes());
    write_to_tiff(descriptor_, pointer_, pointer);
    pointer_ = moved + directory.size() - format_.offset_bytes();
  }

 private:
  /// Inserts an entry with the text into the sorted entries of a directory.
  void insert(std::vector<std::uint8_t>& entries, const RepeatedText& text) {
    std::vector<std::uint8_t> entry;
    format_.append(entry, text.tag, 2);
    format_.append(entry, TIFF_ASCII, 2);
    format_.append(entry, text.bytes.size(), format_.offset_bytes());
    std::vector<std::uint8_t> value = text.bytes;
    if (value.size() > static_cast<std::size_t>(format_.offset_bytes())) {
      const std::uint64_t at = append(value);
      value.clear();
      format_.append(value, at, format_.offset_bytes());
    }
    value.resize(format_.offset_bytes());
    entry.insert(entry.end(), value.begin(), value.end());
    std::size_t place = 0;
    while (place < entries.size() && format_.number(&entries[place], 2) <= text.tag)
      place += format_.entry_bytes();
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(place), entry.begin(),
                   entry.end());
  }

  std::vector<std::uint8_t> read(std::uint64_t at, std::uint64_t bytes) const {
    std::vector<std::uint8_t> data(bytes);
    if (::pread(descriptor_, data.data(), bytes, static_cast<off_t>(at)) !=
        static_cast<ssize_t>(bytes))
      throw IoError("cannot read the directories of a TIFF file that was written");
    return data;
  }
  std::uint64_t number_at(std::uint64_t at, int bytes) const {
    return format_.number(read(at, bytes).data(), bytes);
  }
  std::uint64_t append(std::span<const std::uint8_t> data) const {
    return append_to_tiff(descriptor_, data);
  }

  int descriptor_;
  DirectoryFormat format_;
  std::uint64_t pointer_;  // position of the offset of the next directory
};

}  // namespace

std::vector<RepeatedText> read_repeated_texts(TIFF* page, const std::string& path) {
  const DirectoryFormat format{TIFFIsBigEndian(page) != 0, TIFFIsBigTIFF(page) != 0};
  std::error_code ignored;
  FileBytes file(path, std::filesystem::file_size(path, ignored));
  std::vector<RepeatedText> texts;
  std::set<std::uint64_t> known;
  std::uint8_t raw[20];
  std::uint64_t left = file.size();  // texts do not overlap
  std::uint64_t at = TIFFCurrentDirOffset(page);
  if (!file.read(at, raw, format.count_bytes())) return {};
  std::uint64_t count = format.number(raw, format.count_bytes());
  at += format.count_bytes();
  for (; count > 0 && file.read(at, raw, format.entry_bytes()); --count) {
    const std::uint64_t tag = format.number(raw, 2);
    const int offset_bytes = format.offset_bytes();
    const std::uint64_t bytes = format.number(raw + 4, offset_bytes);
    const std::uint8_t* value = raw + 4 + offset_bytes;
    at += format.entry_bytes();
    if (known.insert(tag).second || format.number(raw + 2, 2) != TIFF_ASCII ||
        bytes > std::min(max_text_bytes, left))
      continue;
    left -= bytes;
    RepeatedText text{static_cast<std::uint16_t>(tag), std::vector<std::uint8_t>(bytes)};
    if (bytes <= static_cast<std::uint64_t>(offset_bytes))
      std::copy_n(value, bytes, text.bytes.begin());
    else if (!file.read(format.number(value, offset_bytes), text.bytes.data(), bytes))
      continue;
    texts.push_back(std::move(text));
  }
  return texts;
}

void append_texts(int descriptor, const DirectoryFormat& format,
                  const std::vector<std::vector<RepeatedText>>& pages) {
  DirectoryEditor editor(descriptor, format);
  for (const auto& texts : pages) editor.edit_next(texts);
}

}  // namespace lull::io
