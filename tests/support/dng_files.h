#pragma once
// DNG files with a Bayer mosaic, made from the tags of the specification.

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/raw/tiff_tree.h"
#include "raw/sensor.h"

namespace lull::test_support {

/// Where the mosaic is stored: in the first directory (CinemaDNG), or in a directory below it, as
/// converters write it.
enum class MosaicPlace { first, below };

struct DngFixture {
  MosaicPlace place = MosaicPlace::below;
  bool is_big_endian = false;
  std::vector<double> noise_profile;  // empty: none
  /// Changes the directories before they are written: the first one, and that of the mosaic.
  std::function<void(io::TiffTree&, io::TiffDirectory& mosaic)> change = [](io::TiffTree&,
                                                                            io::TiffDirectory&) {};
};

inline std::vector<std::uint8_t> bytes_of_file(const io::TiffFileParts& parts) {
  std::vector<std::uint8_t> bytes = parts.head;
  for (const auto& picture : parts.pictures) {
    bytes.resize(picture.offset);
    bytes.insert(bytes.end(), picture.samples.begin(), picture.samples.end());
  }
  return bytes;
}

/// Returns the bytes of a DNG file with this mosaic (grey, 16 bits).
inline std::vector<std::uint8_t> make_dng_file(const raw::Sensor& sensor, const Frame& mosaic,
                                               const DngFixture& fixture = {}) {
  io::TiffTree tree;
  tree.is_big_endian = fixture.is_big_endian;
  const auto width = static_cast<std::uint32_t>(mosaic.format.width),
             height = static_cast<std::uint32_t>(mosaic.format.height);
  std::vector<std::uint8_t> samples;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::uint16_t v =
          mosaic.plane<std::uint16_t>(0)(static_cast<int>(x), static_cast<int>(y));
      const auto high = static_cast<std::uint8_t>(v >> 8), low = static_cast<std::uint8_t>(v & 255);
      samples.push_back(tree.is_big_endian ? high : low);
      samples.push_back(tree.is_big_endian ? low : high);
    }
  io::TiffDirectory raw;
  raw.set(tree.longs(254, {0}));
  raw.set(tree.longs(256, {width}));
  raw.set(tree.longs(257, {height}));
  raw.set(tree.shorts(258, {16}));
  raw.set(tree.shorts(259, {1}));
  raw.set(tree.shorts(262, {32803}));
  raw.set(tree.shorts(277, {1}));
  raw.set(tree.shorts(284, {1}));
  raw.set(tree.shorts(33421, {2, 2}));
  raw.set(tree.bytes(33422, sensor.pattern.colours));
  raw.set(tree.shorts(50713, {2, 2}));
  raw.set(tree.rationals(50714, {sensor.black.begin(), sensor.black.end()}));
  raw.set(tree.longs(50717, {static_cast<std::uint32_t>(sensor.white)}));
  if (!fixture.noise_profile.empty()) raw.set(tree.doubles(51041, fixture.noise_profile));
  raw.picture = samples;

  io::TiffDirectory exif, gps;
  const std::vector<std::uint8_t> note = {'L', 'U', 'L', 'L', 0, 1, 2, 3, 4, 5};
  exif.set(tree.rationals(33434, {0.01}));
  exif.set(tree.shorts(34855, {1600}));
  exif.set({37500, 7, static_cast<std::uint32_t>(note.size()), note, {}});
  exif.set(tree.text(42036, "TEST 35mm F2"));
  gps.set(tree.text(1, "N"));
  gps.set(tree.rationals(2, {52, 31, 12}));
  const std::vector<std::uint8_t> version{1, 4, 0, 0}, backward{1, 1, 0, 0};
  io::TiffDirectory& first = tree.first;
  first.set(tree.text(271, "Lull"));
  first.set(tree.text(272, "Test Camera"));
  first.set(tree.shorts(274, {1}));
  first.set({34665, 4, 1, {}, {exif}});
  first.set({34853, 4, 1, {}, {gps}});
  first.set(tree.bytes(50706, version));
  first.set(tree.bytes(50707, backward));
  first.set(tree.text(50708, "Lull Test Camera"));
  first.set(tree.rationals(50721, {0.9, -0.2, -0.1, -0.4, 1.3, 0.1, -0.1, 0.2, 0.7}, true));
  first.set(tree.rationals(50728, {1 / static_cast<double>(sensor.balance[0]), 1,
                                   1 / static_cast<double>(sensor.balance[2])}));
  first.set(tree.shorts(50778, {21}));
  first.set(tree.text(65000, "a private tag"));
  const std::vector<std::uint8_t> preview(8 * 6 * 3, 128);
  if (fixture.place == MosaicPlace::first) {
    for (io::TiffEntry& entry : raw.entries) first.set(std::move(entry));
    first.picture = samples;
    fixture.change(tree, first);
  } else {
    first.set(tree.longs(254, {1}));
    first.set(tree.longs(256, {8}));
    first.set(tree.longs(257, {6}));
    first.set(tree.shorts(258, {8, 8, 8}));
    first.set(tree.shorts(259, {1}));
    first.set(tree.shorts(262, {2}));
    first.set(tree.shorts(277, {3}));
    first.picture = preview;
    fixture.change(tree, raw);
    first.set({330, 4, 1, {}, {raw}});
  }
  return bytes_of_file(io::write_tiff_tree(tree));
}

inline void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lull::test_support
