#include "io/stacks/imagej_pages.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/files/positioned_io.h"

namespace lull::io {
namespace {

std::uint64_t size_of_file(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  return code ? 0 : size;
}

void swap_samples(std::span<std::byte> samples, int sample_bytes) {
  for (std::size_t at = 0; at + sample_bytes <= samples.size(); at += sample_bytes)
    std::ranges::reverse(samples.subspan(at, sample_bytes));
}

/// Returns whether the strips of a page are contiguous in the file.
bool has_contiguous_strips(TIFF* page, std::uint64_t page_bytes) {
  if (TIFFIsTiled(page)) return false;
  std::uint64_t end = TIFFGetStrileOffset(page, 0), bytes = 0;
  for (std::uint32_t strip = 0; strip < TIFFNumberOfStrips(page); ++strip) {
    if (TIFFGetStrileOffset(page, strip) != end) return false;
    end += TIFFGetStrileByteCount(page, strip);
    bytes += TIFFGetStrileByteCount(page, strip);
  }
  // For a page with a single strip, some programs state the size of all pages as the size of the
  // strip.
  return bytes == page_bytes || TIFFNumberOfStrips(page) == 1;
}

}  // namespace

ImagejPages::ImagejPages(const TiffReader& file, const TiffLayout& layout, std::int64_t pages)
    : path_(file.path()),
      pages_(pages),
      sample_bytes_(size_of(type_of(layout))),
      is_swapped_(file.big_endian() != (std::endian::native == std::endian::big)),
      page_bytes_(static_cast<std::uint64_t>(layout.width) * layout.height * sample_bytes_),
      bytes_(path_, size_of_file(path_)) {
  const std::string stated = "' has one page, and its tags (of ImageJ or MetaMorph) state " +
                             std::to_string(pages) + " pictures after it";
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(file.handle(), TIFFTAG_COMPRESSION, &compression);
  if (compression != COMPRESSION_NONE || layout.bits != 8 * sample_bytes_ ||
      !has_contiguous_strips(file.handle(), page_bytes_))
    throw BadData("'" + path_ + stated +
                  " (this is only possible for uncompressed samples in one piece); save it as "
                  "BigTIFF with a directory for each");
  begin_ = TIFFGetStrileOffset(file.handle(), 0);
  // The pages lie between the first page and the directory. If the directory precedes the first
  // page, they lie between the first page and the end of the file. A copy of a single page of a
  // stack fails this check: its description still states the number of pages of the stack, but its
  // directory directly follows the first page.
  const std::uint64_t directory = TIFFCurrentDirOffset(file.handle());
  const std::uint64_t end = directory > begin_ ? directory : bytes_.size();
  if (begin_ > end || static_cast<std::uint64_t>(pages) > (end - begin_) / page_bytes_)
    throw BadData("'" + path_ + stated + ", but the file ends before them; check the file");
}

void ImagejPages::read(std::int64_t page, std::vector<std::byte>& samples) {
  samples.resize(page_bytes_);
  if (!bytes_.read(begin_ + static_cast<std::uint64_t>(page) * page_bytes_, samples.data(),
                   samples.size()))
    throw BadData("'" + path_ + "' cannot be read at page " + std::to_string(page + 1) + " of " +
                  std::to_string(pages_) + "; check the file");
  if (is_swapped_) swap_samples(samples, sample_bytes_);
}

ImagejWriter::ImagejWriter(int descriptor, std::string name, const std::string& input,
                           const ImagejPages& pages)
    : descriptor_(descriptor),
      name_(std::move(name)),
      input_(input),
      is_swapped_(pages.is_swapped()),
      sample_bytes_(pages.sample_bytes()),
      bytes_(input, size_of_file(input)) {
  copy(0, pages.begin());
}

void ImagejWriter::write(std::span<std::byte> samples) {
  if (is_swapped_) swap_samples(samples, sample_bytes_);
  append(samples.data(), samples.size());
}

void ImagejWriter::close() { copy(written_, bytes_.size()); }

void ImagejWriter::copy(std::uint64_t from, std::uint64_t to) {
  std::vector<char> part;
  while (from < to) {
    part.resize(std::min<std::uint64_t>(to - from, 1 << 16));
    if (!bytes_.read(from, part.data(), part.size()))
      throw BadData("'" + input_ + "' cannot be read at byte " + std::to_string(from) +
                    "; check the file");
    append(part.data(), part.size());
    from += part.size();
  }
}

void ImagejWriter::append(const void* data, std::size_t bytes) {
  if (!write_at(descriptor_, data, bytes, static_cast<off_t>(written_)))
    throw IoError("cannot write '" + name_ + "' (" + std::strerror(errno) +
                  "); check the space on the disk");
  written_ += bytes;
}

}  // namespace lull::io
