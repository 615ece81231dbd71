// Checks the structure of AVI files, which consist of RIFF chunks. FFmpeg skips invalid chunks and
// reports no damage.

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

#include "io/containers/container_walk.h"

namespace lull::io {
namespace {

class AviWalk final : public ContainerWalk {
 public:
  AviWalk(const std::string& path, int video) : ContainerWalk(path), video_(video) {}
  std::optional<std::int64_t> video_packets() const override { return packets_; }

 private:
  struct Chunk {
    // `name` is the FourCC of the chunk. A RIFF or LIST chunk has a second FourCC, `list`, for its
    // type.
    std::string name, list;
    std::uint64_t size = 0;
  };

  void step() override;
  bool read(std::uint64_t at, Chunk& chunk);
  static int stream_of(const std::string& name);
  static bool is_packet(const std::string& name);
  bool is_of_movie(const std::string& name) const;
  bool has_usual_kind(const std::string& name);
  bool is_chunk_with_successor(std::uint64_t place, std::uint64_t end);
  void fail(const std::string& text);

  const int video_;
  std::uint64_t movie_end_ = 0;  // end of the list "movi"; 0: the position is outside the list
  int streams_ = 0;
  std::map<int, std::string> kinds_;  // for each stream, the kind of its first packet
  std::uint64_t last_ = 0;            // position of the last chunk of the movie
  std::int64_t packets_ = 0;
};

bool AviWalk::read(std::uint64_t at, Chunk& chunk) {
  std::array<char, 8> head;
  std::array<char, 4> list;
  if (!file().read(at, head.data(), head.size())) return false;
  chunk.name.assign(head.data(), 4);
  chunk.size = 0;
  for (std::size_t i = 8; i-- > 4;)
    chunk.size = chunk.size << 8 | static_cast<unsigned char>(head[i]);
  chunk.list.clear();
  const bool is_list = chunk.name == "RIFF" || chunk.name == "LIST";
  if (is_list && file().read(at + 8, list.data(), list.size())) chunk.list.assign(list.data(), 4);
  return true;
}

/// Returns the stream number in the FourCC of a chunk; -1 if there is none.
int AviWalk::stream_of(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = is_digit(name[0]) && is_digit(name[1]);
  return is_number ? 10 * (name[0] - '0') + (name[1] - '0') : -1;
}

/// Returns whether a chunk contains a packet of a stream. Chunks of palettes ("00pc") and indexes
/// ("ix00" or "00ix") contain no packets.
bool AviWalk::is_packet(const std::string& name) {
  return stream_of(name) >= 0 && !name.ends_with("pc") && !name.ends_with("ix");
}

/// Returns whether a chunk belongs to the list "movi": a chunk of a stream ("00dc", or "00__" for
/// DV with interleaved audio) or an index ("ix00").
bool AviWalk::is_of_movie(const std::string& name) const {
  if (name == "JUNK" || name == "idx1" || name.starts_with("ix")) return true;
  const auto is_kind = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const int stream = stream_of(name);
  return stream >= 0 && stream < streams_ && is_kind(name[2]) && is_kind(name[3]);
}

/// Returns whether the chunk type matches the first packet of the stream. "dc" and "db" both mean
/// video. Palettes and indexes are valid in each stream.
bool AviWalk::has_usual_kind(const std::string& name) {
  const int stream = stream_of(name);
  if (!is_packet(name)) return true;
  const std::string kind = name.ends_with("db") ? "dc" : name.substr(2);
  return kinds_.try_emplace(stream, kind).first->second == kind;
}

void AviWalk::step() {
  constexpr std::uint64_t head_bytes = 8, list_bytes = 12;
  if (movie_end_ > 0 && at() >= movie_end_) movie_end_ = 0;
  Chunk chunk;
  if (!read(at(), chunk)) return stop();
  const std::uint64_t end = at() + head_bytes + chunk.size;
  if (!chunk.list.empty()) {
    if (chunk.list == "movi") movie_end_ = chunk.size > 0 ? end : file().size();
    streams_ += chunk.list == "strl" ? 1 : 0;
    const bool is_open = chunk.name == "RIFF" || chunk.list == "movi" || chunk.list == "rec " ||
                         chunk.list == "hdrl";
    return go_to(is_open ? at() + list_bytes : end + chunk.size % 2);
  }
  // Outside the list "movi", any printable FourCC is valid.
  if (movie_end_ == 0 && !is_of_movie(chunk.name)) {
    const bool is_name =
        std::ranges::all_of(chunk.name, [](unsigned char c) { return std::isprint(c) != 0; });
    return is_name ? go_to(end + chunk.size % 2) : stop();
  }
  if (!is_of_movie(chunk.name) || !has_usual_kind(chunk.name)) return fail("an invalid chunk");
  if (movie_end_ > 0 && end > movie_end_) return fail("a chunk of a size that does not fit");
  last_ = at();
  // An empty chunk of a video stream repeats the previous frame and is not a packet.
  if (stream_of(chunk.name) == video_ && is_packet(chunk.name) && chunk.size > 0) ++packets_;
  // Some programs write no padding byte after a chunk of odd size.
  Chunk next;
  const bool is_padded = chunk.size % 2 == 0 || end + 1 >= movie_end_ || !read(end, next) ||
                         !(is_of_movie(next.name) || !next.list.empty());
  go_to(is_padded ? end + chunk.size % 2 : end);
}

/// Counts a fault and continues at the next valid chunk. The search begins in the data of the
/// previous chunk, because the size of that chunk may be wrong.
void AviWalk::fail(const std::string& text) {
  add_fault(text);
  const std::uint64_t end = movie_end_ > 0 ? std::min(movie_end_, file().size()) : file().size();
  std::uint64_t place = last_ > 0 ? last_ + 1 : at() + 1;
  while (place < end && (place == at() || !is_chunk_with_successor(place, end))) ++place;
  last_ = 0;
  go_to(place);
}

/// Returns whether a valid chunk of the list "movi" begins at the file offset `place`, and another
/// valid chunk or the end of the list follows this chunk.
bool AviWalk::is_chunk_with_successor(std::uint64_t place, std::uint64_t end) {
  constexpr std::uint64_t head_bytes = 8;
  Chunk chunk, next;
  if (!read(place, chunk) || !is_of_movie(chunk.name) || chunk.size > end - place) return false;
  const std::uint64_t after = place + head_bytes + chunk.size + chunk.size % 2;
  return after >= end || (read(after, next) && (is_of_movie(next.name) || !next.list.empty()));
}

}  // namespace

std::unique_ptr<ContainerWalk> open_avi_walk(const std::string& path, int video) {
  return std::make_unique<AviWalk>(path, video);
}

}  // namespace lull::io
