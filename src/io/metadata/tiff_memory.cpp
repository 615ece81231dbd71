#include "io/metadata/tiff_memory.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace lull::io {
namespace {

int close_memory(thandle_t) { return 0; }
int no_map(thandle_t, void**, toff_t*) { return 0; }
void no_unmap(thandle_t, void*, toff_t) {}

}  // namespace

void TiffMemory::copy_bytes() {
  written_.assign(bytes_.begin(), bytes_.end());
  bytes_ = written_;
}

TiffPtr TiffMemory::open(const char* mode, tmsize_t max_bytes) {
  return TiffPtr(TIFFClientOpenExt("memory", mode, this, read, write, seek, close_memory, size_of,
                                   no_map, no_unmap, tiff_options(message_, max_bytes).get()));
}

tmsize_t TiffMemory::read(thandle_t self, void* to, tmsize_t size) {
  auto& m = *static_cast<TiffMemory*>(self);
  const std::size_t left = m.at_ < m.bytes_.size() ? m.bytes_.size() - m.at_ : 0;
  const std::size_t count = std::min(left, static_cast<std::size_t>(size));
  if (count > 0) std::memcpy(to, m.bytes_.data() + m.at_, count);
  m.at_ += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t TiffMemory::write(thandle_t self, void* from, tmsize_t size) {
  auto& m = *static_cast<TiffMemory*>(self);
  const std::size_t end = m.at_ + static_cast<std::size_t>(size);
  try {
    if (end > m.written_.size()) m.written_.resize(end);
  } catch (const std::exception&) {
    return -1;
  }
  std::memcpy(m.written_.data() + m.at_, from, static_cast<std::size_t>(size));
  m.at_ = end;
  m.bytes_ = m.written_;
  return size;
}

toff_t TiffMemory::seek(thandle_t self, toff_t offset, int whence) {
  auto& m = *static_cast<TiffMemory*>(self);
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m.at_ : m.bytes_.size();
  return m.at_ = base + offset;
}

toff_t TiffMemory::size_of(thandle_t self) { return static_cast<TiffMemory*>(self)->bytes_.size(); }

}  // namespace lull::io
