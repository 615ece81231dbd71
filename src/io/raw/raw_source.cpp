#include "core/error.h"
#include "io/raw/raw_stream.h"

namespace lull::io {

RawSource::RawSource(const std::string& path, std::int64_t max_pixels) : max_pixels_(max_pixels) {
  if (is_sequence(path))
    files_ = find_sequence(path);
  else
    files_ = {{.path = path, .match = {}}};
  first_ = read_raw(files_.front().path, max_pixels_);
}

void RawSource::select(std::int64_t first, std::int64_t last) {
  files_ = std::vector<SequenceFile>(files_.begin() + first, files_.begin() + last + 1);
  if (first > 0) first_ = read_raw(files_.front().path, max_pixels_);
}

void RawSource::check_same(const RawFacts& facts) const {
  const RawFacts& first = *first_.facts;
  if (facts.width == first.width && facts.height == first.height &&
      facts.colours == first.colours && facts.black == first.black && facts.white == first.white)
    return;
  throw BadData("'" + facts.path + "' (its size, mosaic or levels differ from those of '" +
                first.path + "'); denoise such files separately");
}

std::optional<Frame> RawSource::read() {
  if (next_ == files_.size()) return std::nullopt;
  const std::size_t index = next_++;
  const RawPicture picture = index == 0 ? first_ : read_raw(files_[index].path, max_pixels_);
  check_same(*picture.facts);
  Frame frame = picture.mosaic;
  frame.pts = static_cast<std::int64_t>(index);
  frame.duration = 1;
  frame.time_base = {1, 25};
  const std::lock_guard lock(mutex_);
  facts_[frame.pts] = picture.facts;
  return frame;
}

std::shared_ptr<const RawFacts> RawSource::take_facts(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = facts_.find(index);
  if (found == facts_.end()) throw InternalError("facts of a raw file that was not read");
  std::shared_ptr<const RawFacts> facts = std::move(found->second);
  facts_.erase(found);
  return facts;
}

}  // namespace lull::io
