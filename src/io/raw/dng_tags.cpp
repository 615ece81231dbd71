#include "io/raw/dng_tags.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/metadata/exif.h"
#include "io/metadata/formats.h"
#include "io/raw/dng_preview.h"

namespace lull::io {
namespace {

namespace dng_tag {
constexpr std::uint16_t subfile_type = 254, width = 256, height = 257, bits = 258,
                        compression = 259, photometric = 262, make = 271, model = 272,
                        orientation = 274, samples_per_pixel = 277, planar = 284,
                        sub_directories = 330, xmp = 700, cfa_pattern = 33422,
                        image_resources = 34377, exif = 34665, iso = 34855, colour_space = 40961,
                        pixel_width = 40962, pixel_height = 40963, interoperability = 40965,
                        backward_version = 50707, camera_model = 50708, black_repeat = 50713,
                        black = 50714, white = 50717, colour_matrix = 50721, neutral = 50728,
                        illuminant = 50778, preview_space = 50970, opcodes_1 = 51008,
                        opcodes_2 = 51009;
}

constexpr std::uint16_t photometric_rgb = 2, photometric_mosaic = 32803, photometric_linear = 34892;

/// Tags that describe how a file stores samples. lull replaces their values.
constexpr std::array storage_tags = std::to_array<std::uint16_t>(
    {254, 255, 256, 257, 258, 259, 262, 263, 266, 277, 278, 280, 281, 284, 317, 320, 322,
     323, 330, 338, 339, 347, 512, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532});

/// Tags that are valid only for the input's samples: linearisation, levels, areas, identifiers and
/// digests, noise profile.
constexpr std::array sample_tags = std::to_array<std::uint16_t>(
    {50712, 50713, 50714, 50715, 50716, 50717, 50781, 50829, 50830, 50972, 51111, 51041});
constexpr std::array mosaic_tags =
    std::to_array<std::uint16_t>({33421, 33422, 50710, 50711, 50733, 50737});

/// Tags that belong to the directory of the raw picture. In some files, the same directory also
/// contains the tags of the camera.
constexpr std::array raw_tags =
    std::to_array<std::uint16_t>({33421, 33422, 50710, 50711, 50718, 50719, 50720, 50733, 50737,
                                  50738, 50780, 51008, 51009, 51022, 51125});

constexpr std::array preview_tags =
    std::to_array<std::uint16_t>({50966, 50967, 50968, 50969, 50970, 50971, 51114});

template <class Tags>
void remove_all(TiffDirectory& directory, const Tags& tags) {
  for (const std::uint16_t tag : tags) directory.remove(tag);
}

bool is_raw_picture(const TiffTree& tags, const TiffDirectory& directory) {
  const auto is = [&](std::uint16_t name, double value) {
    const TiffEntry* entry = directory.find(name);
    const std::vector<double> numbers = entry ? tags.numbers(*entry) : std::vector<double>();
    return !numbers.empty() && numbers.front() == value;
  };
  const bool is_main = !directory.find(dng_tag::subfile_type) || is(dng_tag::subfile_type, 0);
  return is_main && (is(dng_tag::photometric, photometric_mosaic) ||
                     is(dng_tag::photometric, photometric_linear));
}

void describe_picture(const TiffTree& tree, const FrameFormat& format, int bits,
                      std::uint16_t photometric, TiffDirectory& directory) {
  const auto planes = static_cast<std::uint16_t>(format.planes());
  directory.set(tree.longs(dng_tag::width, {static_cast<std::uint32_t>(format.width)}));
  directory.set(tree.longs(dng_tag::height, {static_cast<std::uint32_t>(format.height)}));
  directory.set(tree.shorts(dng_tag::bits,
                            std::vector<std::uint16_t>(planes, static_cast<std::uint16_t>(bits))));
  directory.set(tree.shorts(dng_tag::compression, {1}));
  directory.set(tree.shorts(dng_tag::photometric, {photometric}));
  directory.set(tree.shorts(dng_tag::samples_per_pixel, {planes}));
  directory.set(tree.shorts(dng_tag::planar, {1}));
}

/// Adds the tags of the camera that the DNG standard requires. An input in a raw format other than
/// DNG lacks these tags.
void describe_camera(const TiffTree& tree, const RawFacts& facts, TiffDirectory& directory) {
  constexpr std::array<std::uint8_t, 4> version{1, 4, 0, 0}, backward{1, 1, 0, 0};
  directory.set(tree.bytes(dng::version, version));
  directory.set(tree.bytes(dng_tag::backward_version, backward));
  directory.set(tree.text(dng_tag::make, facts.make));
  directory.set(tree.text(dng_tag::model, facts.model));
  directory.set(tree.text(dng_tag::camera_model, facts.make + " " + facts.model));
  directory.set(tree.shorts(dng_tag::orientation, {static_cast<std::uint16_t>(facts.orientation)}));
  std::vector<double> matrix, neutral;
  for (const auto& row : facts.camera_from_xyz) matrix.insert(matrix.end(), row.begin(), row.end());
  if (std::ranges::all_of(matrix, [](double v) { return v == 0; }))
    matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const float factor : facts.balance) neutral.push_back(1 / static_cast<double>(factor));
  constexpr std::uint16_t daylight = 21;  // D65
  directory.set(tree.rationals(dng_tag::colour_matrix, matrix, true));
  directory.set(tree.shorts(dng_tag::illuminant, {daylight}));
  directory.set(tree.rationals(dng_tag::neutral, neutral));
  if (directory.find(dng_tag::exif) || facts.iso == 0) return;
  TiffDirectory exif;
  exif.set(tree.shorts(dng_tag::iso,
                       {static_cast<std::uint16_t>(std::min<std::uint32_t>(facts.iso, 65535))}));
  directory.set({dng_tag::exif, 4, 1, {}, {exif}});
}

TiffDirectory raw_directory(const TiffTree& tree, const RawFacts& facts, const Frame& result,
                            const DngLevels& levels, const std::vector<double>& noise_profile) {
  TiffDirectory raw;
  if (const TiffDirectory* from = facts.is_dng ? raw_picture_directory(facts.tags) : nullptr) {
    raw = *from;
    if (from == &facts.tags.first)
      std::erase_if(raw.entries, [](const TiffEntry& entry) {
        return std::ranges::find(raw_tags, entry.tag) == raw_tags.end();
      });
  }
  remove_all(raw, storage_tags);
  remove_all(raw, sample_tags);
  raw.remove(dng_tag::opcodes_1);
  const bool is_mosaic = result.format.planes() == 1;
  raw.set(tree.longs(dng_tag::subfile_type, {0}));
  describe_picture(tree, result.format, 16, is_mosaic ? photometric_mosaic : photometric_linear,
                   raw);
  if (is_mosaic) {
    raw.set(tree.shorts(dng::cfa_repeat, {2, 2}));
    raw.set(tree.bytes(dng_tag::cfa_pattern, facts.colours));
    raw.set(tree.shorts(dng_tag::black_repeat, {2, 2}));
  } else {
    remove_all(raw, mosaic_tags);
    raw.remove(dng_tag::opcodes_2);
    raw.set(tree.shorts(dng_tag::black_repeat, {1, 1}));
  }
  raw.set(tree.rationals(dng_tag::black, levels.black));
  raw.set(tree.longs(dng_tag::white, std::vector<std::uint32_t>(
                                         result.format.planes(),
                                         static_cast<std::uint32_t>(std::lround(levels.white)))));
  if (!noise_profile.empty()) raw.set(tree.doubles(dng::noise_profile, noise_profile));
  return raw;
}

/// Changes the EXIF data and the XMP packet of the input so that they describe a developed picture,
/// which is upright and in sRGB. Removes the tag Interoperability, because its value may mean Adobe
/// RGB.
void describe_developed(const FrameFormat& format, TiffTree& tree) {
  const auto width = static_cast<std::uint32_t>(format.width),
             height = static_cast<std::uint32_t>(format.height);
  tree.first.set(tree.shorts(dng_tag::orientation, {1}));
  if (const TiffEntry* xmp = tree.first.find(dng_tag::xmp))
    tree.first.set(tree.bytes(
        dng_tag::xmp, change_xmp(xmp->bytes, {.width = format.width, .height = format.height})));
  for (TiffEntry& entry : tree.first.entries) {
    if (entry.tag != dng_tag::exif) continue;
    for (TiffDirectory& exif : entry.directories) {
      constexpr std::uint16_t srgb = 1;
      exif.set(tree.shorts(dng_tag::colour_space, {srgb}));
      exif.remove(dng_tag::interoperability);
      if (exif.find(dng_tag::pixel_width)) exif.set(tree.longs(dng_tag::pixel_width, {width}));
      if (exif.find(dng_tag::pixel_height)) exif.set(tree.longs(dng_tag::pixel_height, {height}));
    }
  }
}

std::vector<std::uint8_t> interleaved(const Frame& picture, bool is_big_endian) {
  const FrameFormat& format = picture.format;
  const int planes = format.planes();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(format.width) * format.height * planes *
                                  2);
  std::uint8_t* to = bytes.data();
  const int high = is_big_endian ? 0 : 1;
  std::array<const std::uint16_t*, 3> rows{};
  for (int y = 0; y < format.height; ++y) {
    for (int c = 0; c < planes; ++c) rows[c] = picture.plane<std::uint16_t>(c).row(y);
    for (int x = 0; x < format.width; ++x)
      for (int c = 0; c < planes; ++c, to += 2) {
        to[high] = static_cast<std::uint8_t>(rows[c][x] >> 8);
        to[1 - high] = static_cast<std::uint8_t>(rows[c][x] & 255);
      }
  }
  return bytes;
}

}  // namespace

const TiffDirectory* raw_picture_directory(const TiffTree& tags) {
  if (is_raw_picture(tags, tags.first)) return &tags.first;
  if (const TiffEntry* others = tags.first.find(dng_tag::sub_directories))
    for (const TiffDirectory& directory : others->directories)
      if (is_raw_picture(tags, directory)) return &directory;
  return nullptr;
}

std::vector<double> noise_profile_of(const TiffTree& tags) {
  const TiffDirectory* raw = raw_picture_directory(tags);
  const TiffEntry* entry = raw ? raw->find(dng::noise_profile) : nullptr;
  if (!entry) entry = tags.first.find(dng::noise_profile);
  if (!entry) return {};
  std::vector<double> values = tags.numbers(*entry);
  const bool is_valid = std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
  if ((values.size() != 2 && values.size() != 6) || !is_valid) return {};
  for (std::size_t i = 0; i < values.size(); i += 2)
    if (!(values[i] > 0) || values[i] > 1 || values[i + 1] < -1 || values[i + 1] > 1) return {};
  return values;
}

TiffTree tags_of_metadata(const PictureMetadata& metadata) {
  TiffTree tags = read_tiff_tree(metadata.exif);
  const ByteVector photoshop = without_thumbnails(metadata.photoshop);
  if (!metadata.xmp.empty()) tags.first.set(tags.bytes(dng_tag::xmp, metadata.xmp));
  if (!photoshop.empty()) tags.first.set(tags.bytes(dng_tag::image_resources, photoshop));
  return tags;
}

TiffTree make_dng(const RawFacts& facts, const Frame& result, const DngLevels& levels,
                  const std::vector<double>& noise_profile, DngSamples& samples) {
  TiffTree tree = facts.tags;
  const bool was_raw = facts.is_dng && raw_picture_directory(facts.tags) == &facts.tags.first;
  TiffDirectory raw = raw_directory(tree, facts, result, levels, noise_profile);
  remove_all(tree.first, storage_tags);
  remove_all(tree.first, sample_tags);
  remove_all(tree.first, preview_tags);
  if (was_raw) remove_all(tree.first, raw_tags);
  if (!facts.is_dng) describe_camera(tree, facts, tree.first);
  const DngPreview preview = make_preview(facts, result, levels);
  samples.preview = preview.samples;
  samples.main = interleaved(result, tree.is_big_endian);
  describe_picture(tree, preview.format, 8, photometric_rgb, tree.first);
  tree.first.set(tree.longs(dng_tag::subfile_type, {1}));
  constexpr std::uint32_t srgb = 2;
  tree.first.set(tree.longs(dng_tag::preview_space, {srgb}));
  tree.first.picture = samples.preview;
  raw.picture = samples.main;
  tree.first.set({dng_tag::sub_directories, 4, 1, {}, {std::move(raw)}});
  return tree;
}

TiffTree make_developed(const RawFacts& facts, const Frame& developed,
                        std::vector<std::uint8_t>* samples) {
  TiffTree tree = facts.tags;
  remove_all(tree.first, storage_tags);
  std::erase_if(tree.first.entries, [](const TiffEntry& entry) {
    return entry.tag == dng::cfa_repeat || entry.tag == dng_tag::cfa_pattern ||
           (entry.tag >= dng::version && entry.tag < 53000);
  });
  describe_developed(developed.format, tree);
  if (!samples) return tree;
  *samples = interleaved(developed, tree.is_big_endian);
  describe_picture(tree, developed.format, 16, photometric_rgb, tree.first);
  tree.first.picture = *samples;
  return tree;
}

std::vector<std::string> omitted_from_dng(const RawFacts& facts, bool keeps_mosaic) {
  std::vector<std::string> lines;
  const TiffDirectory* raw = facts.is_dng ? raw_picture_directory(facts.tags) : nullptr;
  if (!raw) return lines;
  if (raw->find(dng_tag::opcodes_1))
    lines.emplace_back("OpcodeList1 (it corrects the stored samples of the input)");
  if (raw->find(dng_tag::opcodes_2) && !keeps_mosaic)
    lines.emplace_back("OpcodeList2 (it corrects a mosaic; --raw mosaic keeps it)");
  return lines;
}

}  // namespace lull::io
