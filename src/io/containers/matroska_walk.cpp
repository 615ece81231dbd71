// Checks the structure of Matroska and WebM files (RFC 9559). FFmpeg skips unknown elements and
// blocks of unknown tracks, and reports no damage.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "io/containers/container_walk.h"
#include "io/containers/ebml.h"

namespace lull::io {
namespace {

constexpr std::uint64_t ebml_head = 0x1a45dfa3, segment_id = 0x18538067, cluster_id = 0x1f43b675,
                        info_id = 0x1549a966, tracks_id = 0x1654ae6b, track_entry_id = 0xae,
                        track_number_id = 0xd7, crc_id = 0xbf, void_id = 0xec,
                        block_group_id = 0xa0, block_id = 0xa1, simple_block_id = 0xa3;

/// Element IDs in a segment: SeekHead, Info, Tracks, Cluster, Cues, Attachments, Chapters, Tags.
constexpr std::array<std::uint64_t, 8> segment_elements = {
    0x114d9b74, info_id, tracks_id, cluster_id, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367};

struct Kind {
  std::uint64_t id;
  std::uint64_t max_bytes;  // maximum size of the element's data
};
constexpr std::uint64_t number = 8, any = ~std::uint64_t{0};

/// Element IDs in a cluster: Timestamp, Position, PrevSize, SilentTracks, EncryptedBlock,
/// SimpleBlock, BlockGroup.
constexpr std::array<Kind, 7> cluster_elements = {{{0xe7, number},
                                                   {0xa7, number},
                                                   {0xab, number},
                                                   {0x5854, any},
                                                   {0xaf, any},
                                                   {simple_block_id, any},
                                                   {block_group_id, any}}};
/// Element IDs in a block group: Block, BlockVirtual, BlockAdditions, BlockDuration,
/// ReferencePriority, ReferenceBlock, ReferenceVirtual, CodecState, DiscardPadding, Slices,
/// ReferenceFrame.
constexpr std::array<Kind, 11> group_elements = {{{block_id, any},
                                                  {0xa2, any},
                                                  {0x75a1, any},
                                                  {0x9b, number},
                                                  {0xfa, number},
                                                  {0xfb, number},
                                                  {0xfd, number},
                                                  {0xa4, any},
                                                  {0x75a2, number},
                                                  {0x8e, any},
                                                  {0xc8, any}}};

template <std::size_t Count>
bool is_among(const EbmlElement& element, const std::array<Kind, Count>& kinds) {
  return std::ranges::any_of(kinds, [&](const Kind& kind) {
    return kind.id == element.id && element.size <= kind.max_bytes;
  });
}

bool is_segment_element(std::uint64_t id) {
  return std::ranges::find(segment_elements, id) != segment_elements.end();
}

class MatroskaWalk final : public ContainerWalk {
 public:
  MatroskaWalk(const std::string& path, int video) : ContainerWalk(path), video_(video) {}
  std::optional<std::int64_t> video_packets() const override {
    return tracks_.empty() ? std::nullopt : std::optional(packets_);
  }

 private:
  void step() override;
  void step_outside(const EbmlElement& element);
  void step_in_cluster(const EbmlElement& element);
  void enter_cluster(const EbmlElement& element);
  void read_tracks(const EbmlElement& tracks);
  void check_crc(const EbmlElement& element);
  std::int64_t frames_of_block(const EbmlElement& element);
  bool is_video(const EbmlElement& block);
  bool is_block_with_successor(std::uint64_t place, std::uint64_t end);
  void fail(const std::string& text);
  bool leave_ended();

  std::uint64_t segment_end_ = 0;  // 0: outside of a segment, or its size is unknown
  // Position of the end of the current cluster; 0 if its size is unknown; nullopt outside of
  // clusters.
  std::optional<std::uint64_t> cluster_end_;
  std::optional<std::uint64_t> group_end_;
  bool cluster_has_fault_ = false;     // several faults in a cluster count as one
  std::vector<std::uint64_t> tracks_;  // track numbers, in the order of FFmpeg's streams
  const int video_;                    // index of the main video in `tracks_`
  std::uint64_t last_block_ = 0;       // position of the last block; 0: none in this cluster
  std::int64_t packets_ = 0;
};

/// Resets the end positions of the block group and the cluster if the check has reached these
/// positions. Returns false if the check has reached the end of the segment.
bool MatroskaWalk::leave_ended() {
  if (group_end_ && at() >= *group_end_) group_end_.reset();
  if (cluster_end_ && *cluster_end_ > 0 && at() >= *cluster_end_) cluster_end_.reset();
  return segment_end_ == 0 || at() < segment_end_;
}

void MatroskaWalk::step() {
  if (!leave_ended()) return stop();
  EbmlElement element;
  if (!read_ebml_element(file(), at(), element)) return fail("an invalid element");
  std::uint64_t end = segment_end_ > 0 ? segment_end_ : file().size();
  if (cluster_end_ && *cluster_end_ > 0) end = *cluster_end_;
  if (group_end_) end = *group_end_;
  const bool is_outer = element.id == segment_id || element.id == ebml_head;
  if (!is_outer && element.end() > end) return fail("an element of a size that does not fit");
  if (element.id == void_id || element.id == crc_id) return go_to(element.end());
  // A cluster of unknown size ends where the next child element of the segment begins.
  if (cluster_end_ == 0U && is_segment_element(element.id)) cluster_end_.reset();
  if (cluster_end_)
    step_in_cluster(element);
  else
    step_outside(element);
}

void MatroskaWalk::step_outside(const EbmlElement& element) {
  if (element.id == segment_id) {
    segment_end_ = element.unknown_size ? 0 : element.end();
    return go_to(element.data);
  }
  if (element.id == cluster_id) return enter_cluster(element);
  if (element.id != ebml_head && !is_segment_element(element.id))
    return fail("an element of unknown kind");
  if (element.unknown_size) return fail("an element without a size");
  if (element.id == info_id || element.id == tracks_id) check_crc(element);
  if (element.id == tracks_id) read_tracks(element);
  go_to(element.end());
}

void MatroskaWalk::enter_cluster(const EbmlElement& element) {
  cluster_has_fault_ = false;
  last_block_ = 0;
  if (!element.unknown_size) check_crc(element);
  cluster_end_ = element.unknown_size ? 0 : element.end();
  go_to(element.data);
}

void MatroskaWalk::step_in_cluster(const EbmlElement& element) {
  if (element.unknown_size) return fail("an element without a size");
  if (!group_end_ && element.id == block_group_id) {
    group_end_ = element.end();
    return go_to(element.data);
  }
  const bool known =
      group_end_ ? is_among(element, group_elements) : is_among(element, cluster_elements);
  if (!known) return fail("an element of unknown kind");
  if (element.id == simple_block_id || element.id == block_id) {
    const std::int64_t frames = frames_of_block(element);
    if (frames == 0) return fail("a block without a track or without frames");
    if (is_video(element)) packets_ += frames;
    last_block_ = at();
  }
  go_to(element.end());
}

/// Returns the number of frames in a block; 0 if the block is invalid. With lacing, the byte after
/// the block header is the number of frames minus one.
std::int64_t MatroskaWalk::frames_of_block(const EbmlElement& element) {
  constexpr int laced = 6, equal_sizes = 4;
  EbmlNumber track;
  std::uint8_t raw[4];
  if (!read_ebml_number(file(), element.data, false, track)) return 0;
  const auto head = static_cast<std::uint64_t>(track.bytes) + 3;
  if (element.size < head || !file().read(element.data + head - 3, raw, 3)) return 0;
  if (!tracks_.empty() && std::ranges::find(tracks_, track.value) == tracks_.end()) return 0;
  const int lacing = raw[2] & laced;
  if (lacing == 0) return 1;
  if (element.size <= head || !file().read(element.data + head, raw, 1)) return 0;
  const std::uint64_t frames = std::uint64_t{raw[0]} + 1, left = element.size - head - 1;
  const bool fits = lacing == equal_sizes ? left % frames == 0 : left >= frames;
  return fits ? static_cast<std::int64_t>(frames) : 0;
}

bool MatroskaWalk::is_video(const EbmlElement& block) {
  EbmlNumber track;
  const auto index = static_cast<std::size_t>(video_);
  return index < tracks_.size() && read_ebml_number(file(), block.data, false, track) &&
         track.value == tracks_[index];
}

void MatroskaWalk::read_tracks(const EbmlElement& tracks) {
  tracks_.clear();
  EbmlElement entry, field;
  for (std::uint64_t at = tracks.data;
       at < tracks.end() && read_ebml_element(file(), at, entry) && !entry.unknown_size;
       at = entry.end()) {
    if (entry.id != track_entry_id) continue;
    for (std::uint64_t in = entry.data;
         in < entry.end() && read_ebml_element(file(), in, field) && !field.unknown_size;
         in = field.end()) {
      std::uint8_t raw[8];
      if (field.id != track_number_id || field.size > sizeof raw) continue;
      if (file().read(field.data, raw, field.size))
        tracks_.push_back(big_endian(raw, static_cast<int>(field.size)));
    }
  }
}

/// Verifies the CRC-32 in the first child of an element, if the element has one (RFC 8794, section
/// 11.3.1). The checksum is little-endian and protects all other children.
void MatroskaWalk::check_crc(const EbmlElement& element) {
  EbmlElement first;
  std::uint8_t raw[4];
  if (!read_ebml_element(file(), element.data, first) || first.id != crc_id || first.size != 4 ||
      element.end() > file().size() || !file().read(first.data, raw, 4))
    return;
  std::reverse(raw, raw + 4);
  std::vector<std::uint8_t> block(1 << 16);
  uLong sum = crc32(0, nullptr, 0);
  for (std::uint64_t at = first.end(); at < element.end(); at += block.size()) {
    block.resize(std::min<std::uint64_t>(block.size(), element.end() - at));
    if (!file().read(at, block.data(), block.size())) return;
    sum = crc32(sum, block.data(), static_cast<uInt>(block.size()));
  }
  if (sum == big_endian(raw, 4)) return;
  add_fault("a wrong checksum");
  cluster_has_fault_ = true;
}

/// Counts a fault and continues at the next block or cluster. The search begins in the data of the
/// previous block, because the size of that block may be wrong.
void MatroskaWalk::fail(const std::string& text) {
  if (!cluster_has_fault_) add_fault(text);
  cluster_has_fault_ = true;
  group_end_.reset();
  const std::uint64_t end = cluster_end_.value_or(0);
  EbmlElement next;
  const bool knows_end =
      end > at() && (end == file().size() || end == segment_end_ ||
                     (read_ebml_element(file(), end, next) && is_segment_element(next.id)));
  if (!knows_end) {
    cluster_end_.reset();
    return go_to(find("\x1f\x43\xb6\x75", at() + 1));
  }
  std::uint64_t place = std::exchange(last_block_, 0);
  place = place > 0 ? place + 1 : at() + 1;
  while (place < end && (place == at() || !is_block_with_successor(place, end))) ++place;
  go_to(place);
}

/// Returns whether a valid block begins at byte `place` and is followed by a valid element or the
/// end of the cluster.
bool MatroskaWalk::is_block_with_successor(std::uint64_t place, std::uint64_t end) {
  EbmlElement block, next;
  return read_ebml_element(file(), place, block) && block.id == simple_block_id &&
         block.end() <= end && frames_of_block(block) > 0 &&
         (block.end() == end || (read_ebml_element(file(), block.end(), next) &&
                                 next.end() <= end && is_among(next, cluster_elements)));
}

}  // namespace

std::unique_ptr<ContainerWalk> open_matroska_walk(const std::string& path, int video) {
  return std::make_unique<MatroskaWalk>(path, video);
}

}  // namespace lull::io
